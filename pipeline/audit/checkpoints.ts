// Checks the checkpoints of the public log, and the cosignatures of witnesses, against its entries and the
// known keys.
import { decoded } from '../proof/canonical.ts'
import { type Checkpoint, checkpointText, parseCheckpoint } from '../proof/checkpoint.ts'
import { type Note, type NoteSignature, parseSignatureLine } from '../proof/note.ts'
import type { VerifierKey } from '../proof/note-keys.ts'
import { heldSignatures } from '../proof/note-signatures.ts'
import { cosignatureOf, logCheckpointPath } from '../store/paths.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { runsOf } from './findings.ts'
import type { LogObjects } from './tiles.ts'

export interface KnownKeys {
  /** The log's keys: at least one, all of one name. */
  keys: readonly VerifierKey[]
  witnesses: readonly VerifierKey[]
}

/** The sizes of checkpoints, by the unknown key that signed them. */
type ByKey = Map<string, number[]>

export class CheckpointChecks {
  readonly #objects: LogObjects
  readonly #known: KnownKeys
  readonly #cosignatures: ReadonlyMap<number, readonly string[]>
  readonly #unknown: ByKey = new Map()
  readonly #unknownWitnesses: ByKey = new Map()

  constructor(objects: LogObjects, known: KnownKeys) {
    this.#objects = objects
    this.#known = known
    const cosignatures = new Map<number, string[]>()
    for (const path of objects.listed) {
      const size = cosignatureOf(path)?.size
      if (size !== undefined) cosignatures.set(size, [...(cosignatures.get(size) ?? []), path])
    }
    this.#cosignatures = cosignatures
  }

  /** Checks the stored checkpoint of these entries, and its cosignatures. */
  async check(expected: Checkpoint, isLast: boolean): Promise<void> {
    const { store, findings, listed } = this.#objects
    const path = logCheckpointPath(expected.size)
    listed.delete(path)
    const text = checkpointText(expected)
    await this.#checkCosignatures(expected.size, text)
    const bytes = await store.get(path)
    if (!bytes) {
      findings.fault(path, `is missing, though there are later ones: expected ${JSON.stringify(text)}`)
      return
    }
    try {
      const { note } = parseCheckpoint(decoded(bytes))
      if (note.text !== text) {
        findings.fault(path, `expected ${JSON.stringify(text)}, found ${JSON.stringify(note.text)}`)
        return
      }
      await this.#checkSigners(path, expected.size, note, isLast)
    } catch (error) {
      findings.fault(path, reasonOf(error))
    }
  }

  async #checkSigners(path: string, size: number, note: Note, isLast: boolean): Promise<void> {
    const { findings } = this.#objects
    if ((await heldSignatures(note, this.#known.keys)).length > 0) {
      findings.counts.checkpoints_held += 1
      return
    }
    const signers = note.signatures.map(({ name, keyId }) => `${name}+${keyId}`).join(' and ')
    const isByLog = note.signatures.some(({ name }) => name === this.#known.keys[0]!.name)
    // An unknown key of the log's name may be one that was replaced at once, so it is only named. It is a
    // fault at the last checkpoint, because no known key vouches for that.
    if (isLast || !isByLog)
      findings.fault(path, `expected a signature by ${namesOf(this.#known.keys)}, found ${signers}`)
    else add(this.#unknown, signers, size)
  }

  async #checkCosignatures(size: number, text: string): Promise<void> {
    const { store, findings, listed } = this.#objects
    for (const path of this.#cosignatures.get(size) ?? []) {
      listed.delete(path)
      try {
        const signature = parseSignatureLine(
          decoded((await store.get(path)) ?? new Uint8Array()).replace(/\n$/, ''),
        )
        const { keyId } = cosignatureOf(path)!
        if (signature.keyId !== keyId) {
          findings.fault(path, `expected a cosignature by the key ${keyId}, found one by ${signature.keyId}`)
        } else if (await this.#isByWitness(text, signature)) {
          findings.cosignatures.held += 1
        } else if (this.#known.witnesses.some((witness) => witness.keyId === keyId)) {
          findings.fault(path, `expected a cosignature by the witness given, found one by ${signature.name}`)
        } else {
          findings.cosignatures.unchecked += 1
          add(this.#unknownWitnesses, `${signature.name}+${keyId}`, size)
        }
      } catch (error) {
        findings.fault(path, reasonOf(error))
      }
    }
  }

  async #isByWitness(text: string, signature: NoteSignature): Promise<boolean> {
    return (await heldSignatures({ text, signatures: [signature] }, this.#known.witnesses)).length > 0
  }

  /** Names the keys that were not given, once all checkpoints are checked. */
  finish(): void {
    const { notes } = this.#objects.findings
    for (const [signers, sizes] of this.#unknown) {
      notes.push(
        `checkpoints ${runsOf(sizes)} are signed by ${signers} alone, which is not among the keys given: their roots are right, ` +
          'and their signatures were not checked',
      )
    }
    for (const [witness, sizes] of this.#unknownWitnesses) {
      notes.push(
        `the cosignatures of ${witness} at ${runsOf(sizes)} were not checked: give its key with --vkey to check them`,
      )
    }
  }
}

function add(to: ByKey, key: string, size: number): void {
  const sizes = to.get(key)
  if (sizes) sizes.push(size)
  else to.set(key, [size])
}

function namesOf(keys: readonly VerifierKey[]): string {
  return keys.map(({ name, keyId }) => `${name}+${keyId}`).join(' or ')
}

function reasonOf(error: unknown): string {
  if (error instanceof ServiceError) return error.message
  throw error
}
