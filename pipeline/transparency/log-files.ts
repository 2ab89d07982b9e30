// Reads the files of the public log in the store (docs/data.md, Public log): tiles, bundles of entries and
// checkpoints.
import { ServiceError } from '../../schemas/errors.ts'
import { decoded } from '../proof/canonical.ts'
import { type SignedCheckpoint, parseCheckpoint } from '../proof/checkpoint.ts'
import { bundleOf, entriesOf } from '../proof/entry-bundle.ts'
import { HASH_BYTES } from '../proof/merkle.ts'
import { type ReadTile, TILE_WIDTH, type Tile, bundlePath, tilePath } from '../proof/tiles.ts'
import { lastNumbered } from '../store/numbered.ts'
import { logCheckpointPath, logTilePath } from '../store/paths.ts'
import type { ReadableStore } from '../store/store.ts'

/** A release each minute makes as many in 190 years. */
const MOST_ENTRIES = 100_000_000

const PARTIAL = /\.p\/(\d+)$/

/**
 * Returns the number of entries of the last checkpoint; 0 before the first. It finds it by its number,
 * because a folder of files has no page that names it.
 *
 * @throws ServiceError `corrupt` for more than a log can have.
 */
export function lastCheckpoint(store: ReadableStore, known = 0): Promise<number> {
  const pathOf = (size: number) => {
    if (size <= MOST_ENTRIES) return logCheckpointPath(size)
    throw new ServiceError('corrupt', `${store.url} shows more than ${MOST_ENTRIES} checkpoints`)
  }
  return lastNumbered(store, pathOf, known)
}

/** @throws ServiceError `corrupt` if the checkpoint is gone or malformed. */
export async function readCheckpoint(store: ReadableStore, size: number): Promise<SignedCheckpoint> {
  const path = logCheckpointPath(size)
  const bytes = await store.get(path)
  if (!bytes) throw new ServiceError('corrupt', `${path} is gone, though there are later ones`)
  try {
    return parseCheckpoint(decoded(bytes))
  } catch (cause) {
    throw new ServiceError('corrupt', `${path} is no checkpoint: ${(cause as Error).message}`, { cause })
  }
}

/**
 * Reads a tile or a bundle by its path in the log, which the caller has checked. If a partial one is gone,
 * returns the beginning of the full one. Returns undefined if the store has neither.
 */
export async function readTilePath(
  store: Pick<ReadableStore, 'get'>,
  path: string,
): Promise<Uint8Array | undefined> {
  const bytes = await store.get(logTilePath(path))
  const width = Number(PARTIAL.exec(path)?.[1] ?? TILE_WIDTH)
  if (bytes || width === TILE_WIDTH) return bytes
  const full = await store.get(logTilePath(path.replace(PARTIAL, '')))
  if (!full) return undefined
  if (!path.startsWith('tile/entries/')) return full.subarray(0, width * HASH_BYTES)
  return bundleOf(entriesOf(full).slice(0, width))
}

/** @throws ServiceError `corrupt` for a tile that the store does not have. */
export function tileReader(store: Pick<ReadableStore, 'get'>): ReadTile {
  return (tile) => present(store, tilePath(tile))
}

/** Reads each tile once. @throws ServiceError as `tileReader`. */
export function tilesOnce(store: Pick<ReadableStore, 'get'>): ReadTile {
  const read = tileReader(store)
  const tiles = new Map<string, Promise<Uint8Array>>()
  return (tile) => {
    const path = tilePath(tile)
    const found = tiles.get(path) ?? read(tile)
    tiles.set(path, found)
    return found
  }
}

/** Returns the entries of a bundle. @throws ServiceError `corrupt` if there are fewer than its width. */
export async function readBundle(
  store: Pick<ReadableStore, 'get'>,
  bundle: Pick<Tile, 'index' | 'width'>,
): Promise<Uint8Array[]> {
  const entries = entriesAt(bundlePath(bundle), await present(store, bundlePath(bundle)))
  if (entries.length >= bundle.width) return entries.slice(0, bundle.width)
  throw new ServiceError(
    'corrupt',
    `${logTilePath(bundlePath(bundle))} has ${entries.length} entries, not ${bundle.width}`,
  )
}

/**
 * Returns the path and the bytes of the bundle that ends with an entry, after the entries before it. The
 * first entry is 0.
 */
export async function bundleWith(
  store: ReadableStore,
  entry: Uint8Array,
  index: number,
): Promise<{ path: string; bytes: Uint8Array }> {
  const bundle = { index: Math.floor(index / TILE_WIDTH), width: index % TILE_WIDTH }
  const before = bundle.width === 0 ? [] : await readBundle(store, bundle)
  const path = bundlePath({ ...bundle, width: bundle.width + 1 })
  return { path: logTilePath(path), bytes: bundleOf([...before, entry]) }
}

function entriesAt(path: string, bundle: Uint8Array): Uint8Array[] {
  try {
    return entriesOf(bundle)
  } catch (cause) {
    throw new ServiceError('corrupt', `${logTilePath(path)}: ${(cause as Error).message}`, { cause })
  }
}

async function present(store: Pick<ReadableStore, 'get'>, path: string): Promise<Uint8Array> {
  const bytes = await readTilePath(store, path)
  if (bytes) return bytes
  throw new ServiceError('corrupt', `${logTilePath(path)} is gone`)
}
