// Checks the public log that is served under an address: the checkpoint by the keys of the reader, and every
// entry by the checkpoint.
import { ServiceError } from '../../schemas/errors.ts'
import { type Statement, statement } from '../../schemas/statement.ts'
import { base64Of } from '../proof/base64.ts'
import { canonical, decoded } from '../proof/canonical.ts'
import type { Checkpoint, SignedCheckpoint } from '../proof/checkpoint.ts'
import { entriesOf } from '../proof/entry-bundle.ts'
import { GrowingTree, HASH_BYTES, type Hash, leafHash } from '../proof/merkle.ts'
import { TILE_WIDTH, bundlePath, rootFromTiles, tilePath, tilesOf } from '../proof/tiles.ts'
import { lastNumbered } from '../store/numbered.ts'
import { logCheckpointPath, logCheckpointSize, logTilePath } from '../store/paths.ts'
import { continuationOf } from '../transparency/continuation.ts'
import { readTilePath } from '../transparency/log-files.ts'
import { type RemoteLog, signedCheckpoint } from '../transparency/remote-log.ts'

/** A release each minute makes as many in 190 years. */
const MOST_ENTRIES = 100_000_000
/** The most bytes of a bundle: 256 entries of less than 2 KiB. */
const BUNDLE_BYTES = 512 * 1024
/** The most bytes of all entries, which are in memory: some 2,000,000 releases. */
const LOG_BYTES = 1024 * 1024 * 1024

export interface ServedLog {
  checkpoint: Checkpoint
  /** One of each release, the first at the front. */
  statements: readonly Statement[]
}

/**
 * Reads the whole log. All that is served of it must lead to the last checkpoint, which a key of the reader
 * must have signed, and which must continue the `known` one.
 *
 * @throws ServiceError `invalid` for another log and for missing signatures, `conflict` for another history
 *   than the known one, `corrupt` for tiles and entries that do not lead to the checkpoint, `unavailable`
 *   as `RemoteLog` says.
 */
export async function readServedLog(log: RemoteLog, known: SignedCheckpoint | undefined): Promise<ServedLog> {
  const { checkpoint } = await lastCheckpoint(log)
  const entries = await readEntries(log, checkpoint.size)
  const leaves = entries.map(leafHash)
  const tree = new GrowingTree()
  for (const leaf of leaves) tree.add(leaf)
  if (Buffer.compare(tree.root, checkpoint.root) !== 0) throw await wrongEntries(log, checkpoint, leaves)
  for (const tile of tilesOf(checkpoint.size)) {
    const first = tile.index * TILE_WIDTH
    const hashes = tile.level === 0 ? leaves : tree.tileLevels[tile.level - 1]!
    const expected = Buffer.concat(hashes.slice(first, first + tile.width))
    if (Buffer.compare(await log.readTile(tile), expected) === 0) continue
    throw new ServiceError('corrupt', `${logTilePath(tilePath(tile))}: is not the tile of the entries`)
  }
  if (known) await continuationOf(known.checkpoint, checkpoint, log.readTile)
  const statements = entries.map(statementIn)
  assertHistory(statements)
  return { checkpoint, statements }
}

async function readEntries(log: RemoteLog, size: number): Promise<Uint8Array[]> {
  const entries: Uint8Array[] = []
  let sizeBytes = 0
  for (const tile of tilesOf(size)) {
    if (tile.level > 0) break
    const path = bundlePath(tile)
    const bytes = await readTilePath({ get: (each) => log.get(each, BUNDLE_BYTES) }, path)
    sizeBytes += bytes?.byteLength ?? 0
    if (sizeBytes > LOG_BYTES)
      throw new ServiceError('unavailable', `${log.url} shows entries of more than ${LOG_BYTES} bytes`)
    if (!bytes) throw new ServiceError('corrupt', `${logTilePath(path)} is gone`)
    const bundle = entriesIn(bytes, logTilePath(path)).slice(0, tile.width)
    if (bundle.length < tile.width) {
      throw new ServiceError(
        'corrupt',
        `${logTilePath(path)} has ${bundle.length} entries, not ${tile.width}`,
      )
    }
    entries.push(...bundle)
  }
  return entries
}

function entriesIn(bytes: Uint8Array, path: string): Uint8Array[] {
  try {
    return entriesOf(bytes)
  } catch (cause) {
    throw new ServiceError('corrupt', `${path}: ${(cause as Error).message}`, { cause })
  }
}

/** Names the bundle that differs where the tiles lead to the checkpoint, and otherwise the checkpoint. */
async function wrongEntries(
  { readTile }: RemoteLog,
  { size, root }: Checkpoint,
  leaves: readonly Hash[],
): Promise<ServiceError> {
  const place = logCheckpointPath(size)
  const said = `${place} commits to other entries: their root is not ${base64Of(root)}`
  if (Buffer.compare(await rootFromTiles(size, readTile), root) !== 0)
    return new ServiceError('corrupt', said)
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
  return new ServiceError('corrupt', said)
}

/** Finds it by its number, as in the store, because a folder of files has no page that names the last one. */
async function lastCheckpoint({ url, keys, get }: RemoteLog): Promise<SignedCheckpoint> {
  const range = async (path: string) => {
    const size = logCheckpointSize(path)
    if (size === undefined || size > MOST_ENTRIES) {
      throw new ServiceError('corrupt', `${url} shows more than ${MOST_ENTRIES} checkpoints`)
    }
    return get(path)
  }
  const last = await lastNumbered({ range }, logCheckpointPath)
  const path = logCheckpointPath(last)
  const bytes = last === 0 ? undefined : await get(path)
  if (!bytes) throw new ServiceError('unavailable', `${url} shows no public log, or one without an entry`)
  const signed = signedCheckpoint(bytes, path, keys)
  if (signed.checkpoint.size === last) return signed
  throw new ServiceError('corrupt', `${path} is a checkpoint of ${signed.checkpoint.size} entries`)
}

function statementIn(entry: Uint8Array, number: number): Statement {
  const said = statementOf(entry)
  if (said && Buffer.compare(canonical(said), entry) === 0) return said
  throw new ServiceError('corrupt', `log: entry ${number} is no statement of a release`)
}

function statementOf(entry: Uint8Array): Statement | undefined {
  try {
    return statement.parse(JSON.parse(decoded(entry)))
  } catch {
    return undefined
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
