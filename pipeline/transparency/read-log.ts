// Reads the whole public log of a store that the reader does not trust: the checkpoint by the keys of the
// reader, and every entry by the checkpoint.
import { ServiceError } from '../../schemas/errors.ts'
import type { Statement } from '../../schemas/statement.ts'
import { base64Of } from '../proof/base64.ts'
import type { Checkpoint, SignedCheckpoint } from '../proof/checkpoint.ts'
import { GrowingTree, HASH_BYTES, type Hash, leafHash } from '../proof/merkle.ts'
import type { VerifierKey } from '../proof/note-keys.ts'
import { type ReadTile, TILE_WIDTH, bundlePath, rootFromTiles, tilePath, tilesOf } from '../proof/tiles.ts'
import { parseStatement } from '../proof/verify.ts'
import { logCheckpointPath, logTilePath } from '../store/paths.ts'
import type { ReadableStore } from '../store/store.ts'
import { continuationOf } from './continuation.ts'
import { lastCheckpoint, readBundle, tilesOnce } from './log-files.ts'
import { signedCheckpoint } from './log-reader.ts'

/** The most bytes of all entries, which are in memory: some 2,000,000 releases. */
const LOG_BYTES = 1024 * 1024 * 1024

export interface BelievedLog {
  checkpoint: Checkpoint
  /** One of each release, the first at the front. */
  statements: readonly Statement[]
}

/**
 * Reads the whole log. All of it must lead to the last checkpoint. A key of the reader must have signed that,
 * and it must continue the `known` one.
 *
 * @throws ServiceError `invalid` for another log and for missing signatures, `conflict` for another history
 *   than the known one, `corrupt` for tiles and entries that do not lead to the checkpoint, `unavailable` if
 *   there is none, and as the store.
 */
export async function readLog(
  store: ReadableStore,
  keys: readonly VerifierKey[],
  known: SignedCheckpoint | undefined,
): Promise<BelievedLog> {
  const readTile = tilesOnce(store)
  const { checkpoint } = await lastSigned(store, keys)
  const entries = await readEntries(store, checkpoint.size)
  const leaves = entries.map(leafHash)
  const tree = new GrowingTree()
  for (const leaf of leaves) tree.add(leaf)
  if (Buffer.compare(tree.root, checkpoint.root) !== 0) throw await wrongEntries(readTile, checkpoint, leaves)
  for (const tile of tilesOf(checkpoint.size)) {
    const first = tile.index * TILE_WIDTH
    const hashes = tile.level === 0 ? leaves : tree.tileLevels[tile.level - 1]!
    const expected = Buffer.concat(hashes.slice(first, first + tile.width))
    if (Buffer.compare(await readTile(tile), expected) === 0) continue
    throw new ServiceError('corrupt', `${logTilePath(tilePath(tile))}: is not the tile of the entries`)
  }
  if (known) await continuationOf(known.checkpoint, checkpoint, readTile)
  const statements = entries.map(statementIn)
  assertHistory(statements)
  return { checkpoint, statements }
}

async function lastSigned(store: ReadableStore, keys: readonly VerifierKey[]): Promise<SignedCheckpoint> {
  const last = await lastCheckpoint(store)
  const path = logCheckpointPath(last)
  const bytes = last === 0 ? undefined : await store.get(path)
  if (!bytes)
    throw new ServiceError('unavailable', `${store.url} shows no public log, or one without an entry`)
  const signed = await signedCheckpoint(bytes, path, keys)
  if (signed.checkpoint.size === last) return signed
  throw new ServiceError('corrupt', `${path} is a checkpoint of ${signed.checkpoint.size} entries`)
}

async function readEntries(store: ReadableStore, size: number): Promise<Uint8Array[]> {
  const entries: Uint8Array[] = []
  let sizeBytes = 0
  for (const tile of tilesOf(size)) {
    if (tile.level > 0) break
    for (const entry of await readBundle(store, tile)) {
      sizeBytes += entry.byteLength
      entries.push(entry)
    }
    if (sizeBytes > LOG_BYTES)
      throw new ServiceError('unavailable', `${store.url} shows entries of more than ${LOG_BYTES} bytes`)
  }
  return entries
}

/** Names the bundle that differs where the tiles lead to the checkpoint, and otherwise the checkpoint. */
async function wrongEntries(
  readTile: ReadTile,
  { size, root }: Checkpoint,
  leaves: readonly Hash[],
): Promise<ServiceError> {
  const message = `${logCheckpointPath(size)} commits to other entries: their root is not ${base64Of(root)}`
  if (Buffer.compare(await rootFromTiles(size, readTile), root) !== 0)
    return new ServiceError('corrupt', message)
  for (const tile of tilesOf(size)) {
    const hashes = await readTile(tile)
    for (let at = 0; at < tile.width; at++) {
      const entry = tile.index * TILE_WIDTH + at
      const committed = hashes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES)
      if (tile.level > 0 || Buffer.compare(leaves[entry]!, committed) === 0) continue
      return new ServiceError(
        'corrupt',
        `${logTilePath(bundlePath(tile))}: entry ${entry} is not the one that was logged`,
      )
    }
  }
  return new ServiceError('corrupt', message)
}

function statementIn(entry: Uint8Array, number: number): Statement {
  try {
    return parseStatement(entry)
  } catch (cause) {
    throw new ServiceError('corrupt', `log: entry ${number} is no statement of a release`, { cause })
  }
}

/** Entry n − 1 is of release n, and no release is of an earlier time than the one before. */
function assertHistory(statements: readonly Statement[]): void {
  for (const [index, { release, as_of, environment }] of statements.entries()) {
    const before = statements[index - 1] ?? { as_of, environment }
    if (release === index + 1 && environment === before.environment && as_of >= before.as_of) continue
    throw new ServiceError(
      'corrupt',
      `log: entry ${index} is of release ${release} of ${environment} as of ${as_of}, after one of ${before.environment} as of ${before.as_of}`,
    )
  }
}
