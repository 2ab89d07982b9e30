// Finds the path of a forecast in the tree of a release, and reads as little of `forecasts.tree` as possible.
import { createHash } from 'node:crypto'
import { ServiceError } from '../../schemas/errors.ts'
import type { ManifestFile } from '../../schemas/manifests.ts'
import { HASH_BYTES } from '../proof/merkle.ts'
import { type TreeHead, verifyInclusion } from '../proof/merkle-proof.ts'
import { type ReadTile, TILE_WIDTH, inclusionFromTiles } from '../proof/tiles.ts'
import type { Path } from '../proof/tlog-proof.ts'
import { releasePrefix } from '../store/paths.ts'
import { FORECASTS_TREE_PATH } from './files/forecasts-tree.ts'
import type { Store } from '../store/store.ts'
import { ID_BYTES, RECORD_BYTES } from './files/forecasts-tree.ts'
import { missingFile } from './read.ts'

/** The transfer may damage one read. If two reads are damaged, the object is. */
const READS = 2
/** The bytes of one read, so that memory never holds a file of some million forecasts. */
const PIECE_BYTES = 4 * 1024 * 1024

/**
 * Returns the path of a forecast, checked against the root; undefined if the file lacks the id. Reads one id
 * for each halving of the runs of 256 records, then the run, and then each other tile on the path.
 *
 * @throws ServiceError `notFound` if retention has deleted the file, `corrupt` if it is lost or damaged.
 */
export async function forecastPath(
  store: Store,
  release: number,
  tree: TreeHead,
  forecastId: string,
): Promise<Path | undefined> {
  const id = Buffer.from(forecastId.replaceAll('-', ''), 'hex')
  for (let read = 1; ; read++) {
    try {
      return await new TreeFile(store, release, tree).pathOf(id)
    } catch (error) {
      if (read === READS || !(error instanceof ServiceError && error.kind === 'corrupt')) throw error
    }
  }
}

/**
 * Reads a whole file, a piece at a time, and compares its hash. The hashes of the tree do not cover ids, so
 * nothing else shows that one is missing.
 *
 * @throws ServiceError as `forecastPath` does.
 */
export async function assertTreeIsWhole(store: Store, release: number, file: ManifestFile): Promise<void> {
  const path = releasePrefix(release) + file.path
  let found: string | undefined
  for (let read = 1; read <= READS; read++) {
    const hash = createHash('sha256')
    for (let at = 0; at < file.size_bytes; at += PIECE_BYTES) {
      const piece = await store.range(path, at, Math.min(PIECE_BYTES, file.size_bytes - at))
      if (!piece) throw await missingFile(store, release, file)
      hash.update(piece)
    }
    found = hash.digest('hex')
    if (found === file.sha256) return
  }
  throw new ServiceError('corrupt', `${path} must have the SHA-256 ${file.sha256}, and has ${found}`)
}

class TreeFile {
  readonly #store: Store
  readonly #release: number
  readonly #tree: TreeHead
  /** Runs of records already read, by number. */
  readonly #runs = new Map<number, Uint8Array>()

  constructor(store: Store, release: number, tree: TreeHead) {
    this.#store = store
    this.#release = release
    this.#tree = tree
  }

  async pathOf(id: Uint8Array): Promise<Path | undefined> {
    const number = await this.#runOf(id)
    const run = await this.#run(number)
    const count = run.byteLength / RECORD_BYTES
    const idAt = (record: number) => run.subarray(record * RECORD_BYTES, record * RECORD_BYTES + ID_BYTES)
    let place = 0
    while (place < count && Buffer.compare(idAt(place), id) < 0) place += 1
    if (place === count || Buffer.compare(idAt(place), id) !== 0) return undefined
    const leaf = run.subarray(place * RECORD_BYTES + ID_BYTES, (place + 1) * RECORD_BYTES)
    const index = number * TILE_WIDTH + place
    const hashes = await inclusionFromTiles(index, this.#tree.size, this.#readTile)
    try {
      verifyInclusion(leaf, index, hashes, this.#tree)
    } catch (cause) {
      throw new ServiceError('corrupt', `${this.#path} is damaged: ${(cause as Error).message}`, { cause })
    }
    return { index, hashes }
  }

  get #path(): string {
    return releasePrefix(this.#release) + FORECASTS_TREE_PATH
  }

  /** Finds the last run of 256 records that begins at or before an id, or the first if none does. */
  async #runOf(id: Uint8Array): Promise<number> {
    let low = 0
    let high = Math.ceil(this.#tree.size / TILE_WIDTH) - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      const first = await this.#read(middle * TILE_WIDTH * RECORD_BYTES, ID_BYTES)
      if (Buffer.compare(first, id) <= 0) low = middle
      else high = middle - 1
    }
    return low
  }

  async #run(number: number): Promise<Uint8Array> {
    const known = this.#runs.get(number)
    if (known) return known
    const count = Math.min(TILE_WIDTH, this.#tree.size - number * TILE_WIDTH)
    const run = await this.#read(number * TILE_WIDTH * RECORD_BYTES, count * RECORD_BYTES)
    this.#runs.set(number, run)
    return run
  }

  /** Level 0 is in the records; the hashes of each other level follow those of the level below. */
  readonly #readTile: ReadTile = async ({ level, index, width }) => {
    if (level === 0) {
      const run = await this.#run(index)
      const hashes = Array.from({ length: width }, (_, record) =>
        run.subarray(record * RECORD_BYTES + ID_BYTES, (record + 1) * RECORD_BYTES),
      )
      return Buffer.concat(hashes)
    }
    let offset = this.#tree.size * RECORD_BYTES
    let count = Math.floor(this.#tree.size / TILE_WIDTH)
    for (let below = 1; below < level; below += 1) {
      offset += count * HASH_BYTES
      count = Math.floor(count / TILE_WIDTH)
    }
    return this.#read(offset + index * TILE_WIDTH * HASH_BYTES, width * HASH_BYTES)
  }

  async #read(offset: number, length: number): Promise<Uint8Array> {
    const bytes = await this.#store.range(this.#path, offset, length)
    if (!bytes) throw await missingFile(this.#store, this.#release, { path: FORECASTS_TREE_PATH })
    if (bytes.byteLength === length) return bytes
    throw new ServiceError('corrupt', `${this.#path} ends before byte ${offset + length}`)
  }
}
