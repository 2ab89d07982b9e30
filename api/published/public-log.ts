// The public log as this node knows it: the last checkpoint, the tiles, and the statement of each release.
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
import { ShardCache } from './shard-cache.ts'

/** Some hundred full bundles, or two thousand full tiles. */
const CACHE_BYTES = 16 * 1024 * 1024
/** The estimated memory of a statement. */
const STATEMENT_BYTES = 600

/** A statement, and its path to the root of a checkpoint. */
export interface LoggedStatement extends Path {
  statement: Uint8Array
  /** A signed note, verbatim. */
  checkpoint: string
}

export class PublicLog {
  /** The keys in force, beginning with the one that signs first. */
  readonly vkeys: readonly string[]
  readonly #store: Store
  readonly #tiles = new ShardCache<Uint8Array>(CACHE_BYTES)
  readonly #bundles = new ShardCache<Uint8Array[]>(CACHE_BYTES)
  readonly #witnesses: readonly VerifierKey[]
  #last: SignedCheckpoint | undefined
  /** The cosignatures of the last checkpoint. */
  #cosignatures: readonly NoteSignature[] = []
  /** A signed note. */
  #sent: string | undefined
  /** Refreshes since the last checkpoint was found. */
  #refreshes = 0
  #hasLooked = false
  #refreshing: Promise<void> | undefined

  /** @param witnesses the keys of the witnesses that are asked to cosign. */
  constructor(store: Store, vkeys: readonly string[], witnesses: readonly VerifierKey[]) {
    this.#store = store
    this.vkeys = vkeys
    this.#witnesses = witnesses
  }

  /** Whether there is a log. A node without keys may serve a log that others have signed. */
  get isThere(): boolean {
    return this.vkeys.length > 0 || this.#last !== undefined
  }

  /** The last checkpoint without its signatures; undefined before the first entry. */
  get head(): Checkpoint | undefined {
    return this.#last?.checkpoint
  }

  /**
   * The last checkpoint with the log's own signatures, verbatim, and the cosignatures after them; undefined
   * before the first entry. It is the same object as long as its text stays the same.
   */
  get checkpoint(): string | undefined {
    return this.#sent
  }

  /**
   * Looks for a later checkpoint, which costs one request if there is none, and for late cosignatures of the
   * last one. A node without keys that found no log at its start does not look again. Calls made during a
   * refresh share it.
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
    this.#sent = withSignatures(last.note, [])
  }

  /**
   * Looks at once, and then after 1, 2, 4, 8, … refreshes, until all witnesses that are asked have signed. So
   * the node finds a cosignature after at most twice the time that it took to come, and one that never comes
   * costs a dozen requests a day.
   */
  async #readCosignatures(): Promise<void> {
    const last = this.#last
    if (!last) return
    if (isPowerOfTwo(this.#refreshes) && !this.#haveAllSigned()) {
      this.#cosignatures = await readCosignatures(this.#store, last, this.#witnesses)
    }
    this.#refreshes += 1
    this.#sent = withSignatures(last.note, this.#cosignatures)
  }

  /** Whether all witnesses have signed. False on a node without witnesses, because it cannot know. */
  #haveAllSigned(): boolean {
    const signed = new Set(this.#cosignatures.map(({ keyId }) => keyId))
    return this.#witnesses.length > 0 && this.#witnesses.every(({ keyId }) => signed.has(keyId))
  }

  /**
   * Returns a tile or a bundle by its path in the log. For a partial one that is gone, it returns the
   * beginning of the full one. Returns undefined for any other path, and if the store has neither.
   */
  async tile(path: string): Promise<Uint8Array | undefined> {
    return TILE_PATH.test(path) ? readTilePath(this.#store, path) : undefined
  }

  /** Returns the statement of a release alone; undefined if it is not logged yet. */
  async entryOf(release: number): Promise<Uint8Array | undefined> {
    const size = this.#last?.checkpoint.size ?? 0
    return release > size ? undefined : this.#entry(release - 1, size)
  }

  /** Returns the statement of a release with its path in the log; undefined if it is not logged yet. */
  async statementOf(release: number): Promise<LoggedStatement | undefined> {
    const last = this.#last
    if (!last || release > last.checkpoint.size) return undefined
    const { size } = last.checkpoint
    // The text is made before the tiles are read, because another checkpoint may come during the read.
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

/** Returns true for 0 as well. */
function isPowerOfTwo(count: number): boolean {
  return Number.isInteger(Math.log2(count)) || count === 0
}
