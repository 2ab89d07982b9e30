// The files of the public log in the store (VERIFIABILITY §2): tiles, bundles of entries and checkpoints.
import { ServiceError } from '../../schemas/errors.ts'
import { decoded } from '../proof/canonical.ts'
import { type SignedCheckpoint, parseCheckpoint } from '../proof/checkpoint.ts'
import { bundleOf, entriesOf } from '../proof/entry-bundle.ts'
import { HASH_BYTES } from '../proof/merkle.ts'
import { type ReadTile, type Tile, bundlePath, tilePath } from '../proof/tiles.ts'
import { lastNumbered } from '../store/numbered.ts'
import { logCheckpointPath, logTilePath } from '../store/paths.ts'
import type { Store } from '../store/store.ts'

const ENTRIES_PER_BUNDLE = 256

/** How many entries the last checkpoint has; 0 before the first. */
export function lastCheckpoint(store: Store, known = 0): Promise<number> {
  return lastNumbered(store, logCheckpointPath, known)
}

/** @throws ServiceError `corrupt` for a checkpoint that is gone or no checkpoint. */
export async function readCheckpoint(store: Store, size: number): Promise<SignedCheckpoint> {
  const path = logCheckpointPath(size)
  const bytes = await store.get(path)
  if (!bytes) throw new ServiceError('corrupt', `${path} is gone, though there are later ones`)
  try {
    return parseCheckpoint(decoded(bytes))
  } catch (cause) {
    throw new ServiceError('corrupt', `${path} is no checkpoint: ${(cause as Error).message}`, { cause })
  }
}

/** Reads tiles; of a partial one whose object is gone the beginning of the full one. */
export function tileReader(store: Store): ReadTile {
  return (tile) => present(store, tile, tilePath, tile.width * HASH_BYTES)
}

/** The entries of a bundle. @throws ServiceError `corrupt` where there are fewer than its width. */
export async function readBundle(store: Store, bundle: Pick<Tile, 'index' | 'width'>): Promise<Uint8Array[]> {
  const entries = entriesOf(await present(store, { ...bundle, level: 0 }, bundlePath))
  if (entries.length >= bundle.width) return entries.slice(0, bundle.width)
  throw new ServiceError(
    'corrupt',
    `${logTilePath(bundlePath(bundle))} has ${entries.length} entries, not ${bundle.width}`,
  )
}

/** The bundle that an entry goes to, with the entries before it. The first entry is 0. */
export async function bundleWith(
  store: Store,
  entry: Uint8Array,
  index: number,
): Promise<{ path: string; bytes: Uint8Array }> {
  const bundle = { index: Math.floor(index / ENTRIES_PER_BUNDLE), width: index % ENTRIES_PER_BUNDLE }
  const before = bundle.width === 0 ? [] : await readBundle(store, bundle)
  const path = bundlePath({ ...bundle, width: bundle.width + 1 })
  return { path: logTilePath(path), bytes: bundleOf([...before, entry]) }
}

async function present(
  store: Store,
  tile: Tile,
  pathOf: (tile: Tile) => string,
  lengthBytes?: number,
): Promise<Uint8Array> {
  const path = logTilePath(pathOf(tile))
  const own = await store.get(path)
  if (own) return own
  const full = await store.get(logTilePath(pathOf({ ...tile, width: ENTRIES_PER_BUNDLE })))
  if (full) return full.slice(0, lengthBytes)
  throw new ServiceError('corrupt', `${path} is gone`)
}
