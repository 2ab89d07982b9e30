// Compares the tiles and bundles of the public log with the entries that they must be made of, byte by byte.
import { base64Of } from '../proof/base64.ts'
import { bundleOf } from '../proof/entry-bundle.ts'
import { HASH_BYTES, type Hash } from '../proof/merkle.ts'
import { TILE_WIDTH, bundlePath, tilePath } from '../proof/tiles.ts'
import { firstDifference } from './report.ts'
import { logTilePath } from '../store/paths.ts'
import type { Store } from '../store/store.ts'
import { type Findings, named } from './findings.ts'

export interface LogObjects {
  store: Store
  findings: Findings
  /** The paths below `log/` that no check has asked for yet. */
  listed: Set<string>
}

/**
 * Checks the tile with these hashes, at every width. A checkpoint covers the first `logged` hashes. A run
 * that was cut off may have written wider tiles: these must be right, but may be missing.
 */
export function checkTiles(
  objects: LogObjects,
  place: { level: number; index: number },
  hashes: readonly Hash[],
  logged: number,
): Promise<void> {
  const bytes = Buffer.concat(hashes)
  return checkWidths(objects, hashes.length, logged, (width) => ({
    path: logTilePath(tilePath({ ...place, width })),
    expected: bytes.subarray(0, width * HASH_BYTES),
    difference: hashDifference,
  }))
}

/**
 * Checks the bundles of a number, as `checkTiles` does. An entry is undefined if it is not known; bundles
 * that would hold it must be there, but are not compared.
 */
export function checkBundles(
  objects: LogObjects,
  index: number,
  entries: readonly (Uint8Array | undefined)[],
  logged: number,
): Promise<void> {
  const unknown = entries.indexOf(undefined)
  const known = entries.slice(0, unknown < 0 ? entries.length : unknown) as Uint8Array[]
  return checkWidths(objects, entries.length, logged, (width) => ({
    path: logTilePath(bundlePath({ index, width })),
    expected: width > known.length ? undefined : bundleOf(known.slice(0, width)),
    difference: firstDifference,
  }))
}

interface Expected {
  path: string
  /** Undefined if the object must be there, but its bytes are not known. */
  expected: Uint8Array | undefined
  difference: (found: Uint8Array, expected: Uint8Array) => string
}

async function checkWidths(
  { store, findings, listed }: LogObjects,
  most: number,
  logged: number,
  expectedOf: (width: number) => Expected,
): Promise<void> {
  for (let width = 1; width <= most; width++) {
    const { path, expected, difference } = expectedOf(width)
    // The log deletes the partial tiles when a tile is full.
    const isNeeded = width === TILE_WIDTH ? logged === TILE_WIDTH : width <= logged && logged < TILE_WIDTH
    if (!isNeeded && !listed.has(path)) continue
    listed.delete(path)
    const found = await store.get(path)
    if (!found) {
      if (isNeeded) findings.fault(path, `is missing${expected ? `: expected ${named(expected)}` : ''}`)
    } else if (expected) {
      findings.counts.tiles_compared += 1
      if (Buffer.compare(found, expected) === 0) continue
      findings.fault(
        path,
        `${difference(found, expected)}; expected ${named(expected)}, found ${named(found)}`,
      )
    }
  }
}

function hashDifference(found: Uint8Array, expected: Uint8Array): string {
  for (let at = 0; at < expected.byteLength; at += HASH_BYTES) {
    const [stored, derived] = [found, expected].map((bytes) => bytes.subarray(at, at + HASH_BYTES))
    if (Buffer.compare(stored!, derived!) === 0) continue
    return `hash ${at / HASH_BYTES} is ${base64Of(stored!)}, and the entries give ${base64Of(derived!)}`
  }
  return 'has more hashes than entries'
}
