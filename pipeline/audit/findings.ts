// What an audit of the public log finds: faults, each with the path of its object, and what could not be
// checked.
import { ServiceError } from '../../schemas/errors.ts'
import { sha256Hex } from '../proof/canonical.ts'

export interface LogAuditReport {
  ok: boolean
  /** Of the log: the name of its keys. */
  origin: string
  /** The keys that signatures were checked with, as `<name>+<key id>`. */
  keys: string[]
  /** Entries of the log. */
  entries: number
  /** Releases that are published; those after the last entry are not checked. */
  releases: number
  /** Checkpoints with a signature that holds by one of the keys. */
  checkpoints_held: number
  tiles_compared: number
  cosignatures: { held: number; unchecked: number }
  /** Files of releases whose bytes have the hashes of the manifests. */
  files_checked: number
  /** Files of releases that retention has deleted. */
  files_unchecked: number
  snapshots_checked: number
  data_files_checked: number
  /** Forecasts in the trees that were derived again from the data files. */
  forecasts_derived: number
  faults: string[]
  /** What was not checked, and why; no fault of the log. */
  notes: string[]
}

type Count = {
  [Name in keyof LogAuditReport]: LogAuditReport[Name] extends number ? Name : never
}[keyof LogAuditReport]

/** What is found while the audit goes on. */
export class Findings {
  readonly #faults = new Set<string>()
  readonly notes: string[] = []
  readonly counts: Record<Exclude<Count, 'entries' | 'releases'>, number> = {
    checkpoints_held: 0,
    tiles_compared: 0,
    files_checked: 0,
    files_unchecked: 0,
    snapshots_checked: 0,
    data_files_checked: 0,
    forecasts_derived: 0,
  }
  readonly cosignatures = { held: 0, unchecked: 0 }

  /** In the order in which they were found, each once. */
  get faults(): string[] {
    return [...this.#faults]
  }

  fault(path: string, what: string): void {
    this.#faults.add(`${path}: ${what}`)
  }

  /** What was read; undefined, with a fault, if it is corrupt. Its message names the object. */
  async read<T>(reading: Promise<T>): Promise<T | undefined> {
    try {
      return await reading
    } catch (error) {
      if (!(error instanceof ServiceError && error.kind === 'corrupt')) throw error
      this.#faults.add(error.message)
      return undefined
    }
  }
}

/** How bytes are named that should be others. */
export function named(bytes: Uint8Array): string {
  return `${bytes.byteLength} bytes with the SHA-256 ${sha256Hex(bytes)}`
}

/** Numbers in ascending order, as people write them: `1–3, 7`. */
export function runsOf(numbers: readonly number[]): string {
  const runs: [first: number, last: number][] = []
  for (const number of numbers) {
    const run = runs.at(-1)
    if (run && run[1] === number - 1) run[1] = number
    else runs.push([number, number])
  }
  return runs.map(([first, last]) => (first === last ? String(first) : `${first}–${last}`)).join(', ')
}
