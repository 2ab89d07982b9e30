// The public log as this node knows it: the last checkpoint, the tiles, and where the statement of a release
// is.
import { type Checkpoint, type SignedCheckpoint, withSignatures } from '../../pipeline/proof/checkpoint.ts'
import { leafHash } from '../../pipeline/proof/merkle.ts'
import type { NoteSignature } from '../../pipeline/proof/note.ts'
import type { VerifierKey } from '../../pipeline/proof/note-keys.ts'
import {
  type ReadTile,
  TILE_PATH,
  TILE_WIDTH,
  bundlePath,
  inclusionFromTiles,
  tilePath,
} from '../../pipeline/proof/tiles.ts'
import type { Path } from '../../pipeline/proof/tlog-proof.ts'
import { logCheckpointPath } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import {
  lastCheckpoint,
  readBundle,
  readCheckpoint,
  readTilePath,
  tileReader,
} from '../../pipeline/transparency/log-files.ts'
import { readCosignatures } from '../../pipeline/transparency/witnesses.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { type AnswerSource, Memo } from './memo.ts'
import { ShardCache } from './shard-cache.ts'

/** Some hundred full bundles, or two thousand full tiles. */
const CACHE_BYTES = 16 * 1024 * 1024
/** Of a statement, at a guess. */
const STATEMENT_BYTES = 600

/** A statement, and its path to the root of a checkpoint. */
export interface LoggedStatement extends Path {
  statement: Uint8Array
  /** A signed note, verbatim. */
  checkpoint: string
}

export interface SentCheckpoint extends AnswerSource {
  /** A signed note. */
  text: string
}

export class PublicLog {
  /** The keys in force, the one that signs first at the front. */
  readonly vkeys: readonly string[]
  readonly #store: Store
  readonly #tiles = new ShardCache<Uint8Array>(CACHE_BYTES)
  readonly #bundles = new ShardCache<Uint8Array[]>(CACHE_BYTES)
  readonly #witnesses: readonly VerifierKey[]
  #last: SignedCheckpoint | undefined
  /** Of the last checkpoint. */
  #cosignatures: readonly NoteSignature[] = []
  #sent: SentCheckpoint | undefined
  /** Refreshes since the last checkpoint was found. */
  #refreshes = 0
  #hasLooked = false
  #refreshing: Promise<void> | undefined

  /** @param witnesses those that are asked to cosign. */
  constructor(store: Store, vkeys: readonly string[], witnesses: readonly VerifierKey[]) {
    this.#store = store
    this.vkeys = vkeys
    this.#witnesses = witnesses
  }

  /** Whether there is a log: a node without keys may serve what others have signed. */
  get isThere(): boolean {
    return this.vkeys.length > 0 || this.#last !== undefined
  }

  /** The last checkpoint without its signatures; undefined before the first entry. */
  get head(): Checkpoint | undefined {
    return this.#last?.checkpoint
  }

  /**
   * The last checkpoint with the log's own signatures, verbatim, and the cosignatures after them; undefined
   * before the first entry. The same object as long as it stays the same.
   */
  get checkpoint(): SentCheckpoint | undefined {
    return this.#sent
  }

  /**
   * Looks for a later checkpoint, which costs one request where there is none, and for cosignatures that came
   * after theirs. A node without keys that found no log when it started looks for none. Calls made while one
   * is under way share it.
   */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#readLast().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  async #readLast(): Promise<void> {
    if (this.#hasLooked && !this.isThere) return
    await this.#readCheckpoint()
    await this.#readCosignatures()
  }

  async #readCheckpoint(): Promise<void> {
    const known = this.#last?.checkpoint.size ?? 0
    const size = await lastCheckpoint(this.#store, known)
    if (size === known) {
      this.#hasLooked = true
      return
    }
    const last = await readCheckpoint(this.#store, size)
    if (last.checkpoint.size !== size) {
      throw new ServiceError('corrupt', `${logCheckpointPath(size)} is of ${last.checkpoint.size} entries`)
    }
    this.#last = last
    this.#cosignatures = []
    this.#refreshes = 0
    this.#sent = { text: withSignatures(last.note, []), memo: new Memo() }
  }

  /**
   * Looks at once, and then after 1, 2, 4, 8, … refreshes, unless all witnesses that are asked have signed.
   * So a cosignature is found after at most twice the time that it took to come, and one that never comes
   * costs a dozen requests in a day.
   */
  async #readCosignatures(): Promise<void> {
    const last = this.#last
    if (!last) return
    if (isPowerOfTwo(this.#refreshes) && !this.#haveAllSigned()) {
      this.#cosignatures = await readCosignatures(this.#store, last, this.#witnesses)
    }
    this.#refreshes += 1
    const text = withSignatures(last.note, this.#cosignatures)
    if (text !== this.#sent?.text) this.#sent = { text, memo: new Memo() }
  }

  /** Without witnesses of its own a node cannot know. */
  #haveAllSigned(): boolean {
    const signed = new Set(this.#cosignatures.map(({ keyId }) => keyId))
    return this.#witnesses.length > 0 && this.#witnesses.every(({ keyId }) => signed.has(keyId))
  }

  /**
   * A tile or a bundle by its path in the log. One that is partial and gone is the beginning of the full one.
   * Undefined for a path of neither, and where the store has none.
   */
  async tile(path: string): Promise<Uint8Array | undefined> {
    return TILE_PATH.test(path) ? readTilePath(this.#store, path) : undefined
  }

  /** The statement of a release alone; undefined where it is not logged yet. */
  async entryOf(release: number): Promise<Uint8Array | undefined> {
    const size = this.#last?.checkpoint.size ?? 0
    return release > size ? undefined : this.#entry(release - 1, size)
  }

  /** The statement of a release with its path in the log; undefined where it is not logged yet. */
  async statementOf(release: number): Promise<LoggedStatement | undefined> {
    const last = this.#last
    if (!last || release > last.checkpoint.size) return undefined
    const { size } = last.checkpoint
    // Before the tiles are read, in which time there may be another checkpoint.
    const checkpoint = withSignatures(last.note, this.#cosignatures)
    const index = release - 1
    const [statement, hashes] = await Promise.all([
      this.#entry(index, size),
      inclusionFromTiles(index, size, this.#readTile),
    ])
    return { index, hashes, statement, checkpoint }
  }

  readonly #readTile: ReadTile = (tile) =>
    this.#tiles.get(tilePath(tile), async () => {
      const value = await tileReader(this.#store)(tile)
      return { value, sizeBytes: value.byteLength }
    })

  async #entry(entry: number, size: number): Promise<Uint8Array> {
    const index = Math.floor(entry / TILE_WIDTH)
    const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH)
    const entries = await this.#bundles.get(bundlePath({ index, width }), async () => {
      const [value, hashes] = await Promise.all([
        readBundle(this.#store, { index, width }),
        this.#readTile({ level: 0, index, width }),
      ])
      if (Buffer.compare(Buffer.concat(value.map(leafHash)), hashes) !== 0) {
        throw new ServiceError('corrupt', `${bundlePath({ index, width })} has other entries than its tile`)
      }
      return { value, sizeBytes: value.length * STATEMENT_BYTES }
    })
    return entries[entry - index * TILE_WIDTH]!
  }
}

/** Also true of 0. */
function isPowerOfTwo(count: number): boolean {
  return Number.isInteger(Math.log2(count)) || count === 0
}
