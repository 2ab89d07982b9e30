// What an audit can say of the files that retention has deleted: a file that was derived again is compared
// with the hash in the manifest, and so is what a snapshot has copied of it.
import type { ManifestFile } from '../../schemas/payloads.ts'
import { sha256Hex } from '../proof/canonical.ts'
import { isSigned, thinnedAt } from '../release/read.ts'
import { type OutputFile, entryOf } from '../release/shards.ts'
import { type SignPayload, resigned } from '../release/signatures.ts'
import { snapshotFile } from '../release/snapshot-file.ts'
import type { Store } from '../store/store.ts'

export class ThinnedFiles {
  readonly #store: Store
  readonly #release: number
  readonly #sign: SignPayload | undefined
  readonly #copies = new Map<string, string>()
  #at: string | undefined
  /** Files that are gone, and those of them that could not be compared. */
  gone = 0
  unchecked = 0

  /** `sign` signs as the release did; undefined: nobody knows the secret. */
  constructor(store: Store, release: number, sign: SignPayload | undefined) {
    this.#store = store
    this.#release = release
    this.#sign = sign
  }

  /** When retention began with the release; undefined if it has not, or not yet. */
  async at(): Promise<string | undefined> {
    this.#at ??= await thinnedAt(this.#store, this.#release)
    return this.#at
  }

  /**
   * Compares a file that is gone with its entry in the manifest. `bytes` are those that were derived, without
   * signatures. Returns what the manifest should say of it.
   */
  compare(
    { bytes, ...described }: Omit<OutputFile, 'bytes'> & { bytes?: Uint8Array },
    entry: ManifestFile,
    date: string,
  ): ManifestFile {
    this.gone += 1
    if (bytes) this.#rememberCopy(described.path, bytes, date)
    const published = bytes && this.#published(described.path, bytes)
    if (published) return entryOf({ ...described, bytes: published })
    this.unchecked += 1
    return entry
  }

  /** The SHA-256, without signatures, of the copy of a deleted shard; undefined if it was not derived. */
  copyHash(path: string): string | undefined {
    return this.#copies.get(path)
  }

  #published(path: string, bytes: Uint8Array): Uint8Array | undefined {
    if (!isSigned(path)) return bytes
    const sign = this.#sign
    return sign && resigned(bytes, ({ payload }) => sign(payload))
  }

  #rememberCopy(path: string, bytes: Uint8Array, date: string): void {
    const copy = snapshotFile({ path, bytes }, date)
    if (copy) this.#copies.set(path, sha256Hex(copy.bytes))
  }
}
