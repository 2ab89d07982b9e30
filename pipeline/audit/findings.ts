// The findings of an audit of the public log: faults, each with the path of its object, and notes on the
// checks left out.
import { ServiceError } from '../../schemas/errors.ts'
import { sha256Hex } from '../proof/canonical.ts'

export interface LogAuditReport {
  ok: boolean
  /** The log's origin, which is the name of its keys. */
  origin: string
  /** The keys that signatures were checked with, as `<name>+<key id>`. */
  keys: string[]
  /** Entries of the log. */
  entries: number
  /** Published releases. The audit does not check those after the last entry. */
  releases: number
  /** Checkpoints with a valid signature by one of the keys. */
  checkpoints_held: number
  tiles_compared: number
  cosignatures: { held: number; unchecked: number }
  /** Files of releases whose bytes have the hashes of the manifests. */
  files_checked: number
  /** Files of releases that retention has deleted. */
  files_unchecked: number
  snapshots_checked: number
  data_files_checked: number
  /** Forecasts in the trees derived again from the data files. */
  forecasts_derived: number
  faults: string[]
  /** Remarks that are no faults of the log, such as a check left out and why. */
  notes: string[]
}

type Count = {
  [Name in keyof LogAuditReport]: LogAuditReport[Name] extends number ? Name : never
}[keyof LogAuditReport]

/** Collects the findings while the audit goes on. */
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

  /** Faults in the order in which the audit found them, each once. */
  get faults(): string[] {
    return [...this.#faults]
  }

  fault(path: string, what: string): void {
    this.#faults.add(`${path}: ${what}`)
  }

  /**
   * Returns the result of a read. If that is `corrupt`, adds its message, which names the object, as a fault,
   * and returns undefined.
   */
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

/** Describes bytes by their number and hash. */
export function named(bytes: Uint8Array): string {
  return `${bytes.byteLength} bytes with the SHA-256 ${sha256Hex(bytes)}`
}

/** Writes numbers, given in ascending order, as runs: `1–3, 7`. */
export function runsOf(numbers: readonly number[]): string {
  const runs: [first: number, last: number][] = []
  for (const number of numbers) {
    const run = runs.at(-1)
    if (run && run[1] === number - 1) run[1] = number
    else runs.push([number, number])
  }
  return runs.map(([first, last]) => (first === last ? String(first) : `${first}–${last}`)).join(', ')
}
