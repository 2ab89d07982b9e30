// Lets an audit check the files that retention has deleted: it compares a file that it derived again with the
// hash in the manifest, and with the copy in the snapshot.
import type { ManifestFile } from '../../schemas/manifests.ts'
import { sha256Hex } from '../proof/canonical.ts'
import { isSigned } from '../release/files/kinds.ts'
import { thinnedAt } from '../release/read.ts'
import { type OutputFile, entryOf } from '../release/output.ts'
import { type SignPayload, resigned } from '../release/signatures.ts'
import { snapshotFile } from '../release/snapshot-file.ts'
import type { Store } from '../store/store.ts'

export class ThinnedFiles {
  readonly #store: Store
  readonly #release: number
  readonly #sign: SignPayload | undefined
  readonly #copies = new Map<string, string>()
  #at: string | undefined
  /** Counts of the files that are gone, and of those that could not be compared. */
  gone = 0
  unchecked = 0

  /** `sign` signs as the release did; undefined if the secret is not known. */
  constructor(store: Store, release: number, sign: SignPayload | undefined) {
    this.#store = store
    this.#release = release
    this.#sign = sign
  }

  /** Returns when retention began with the release; undefined if it has not yet. */
  async at(): Promise<string | undefined> {
    this.#at ??= await thinnedAt(this.#store, this.#release)
    return this.#at
  }

  /**
   * Counts a file that is gone, and returns the entry that the manifest should have for it. `bytes` are the
   * derived ones, without signatures. Without them, or without the secret of a signed file, it returns
   * `entry`.
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

  /**
   * Returns the SHA-256, without signatures, of the copy of a deleted shard; undefined if it was not derived.
   */
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
