// Decides which entries the public log must have: compares the entries in its bundles, and the hashes in its
// tiles, with the statements of the releases.
import { entriesOf } from '../proof/entry-bundle.ts'
import { HASH_BYTES, type Hash, leafHash } from '../proof/merkle.ts'
import { TILE_WIDTH, bundlePath, tilePath } from '../proof/tiles.ts'
import { decoded } from '../proof/canonical.ts'
import { logTilePath, manifestPath } from '../store/paths.ts'
import type { LogObjects } from './tiles.ts'

/** The stored entries of one bundle, and their hashes. */
export interface StoredEntries {
  entries: readonly Uint8Array[]
  hashes: readonly Hash[]
  /** The path of the bundle. */
  bundle: string
}

/**
 * Reads the widest bundle of a number, and the widest tile of its hashes. An unreadable bundle gives no
 * entries.
 */
export async function storedEntries({ store, listed }: LogObjects, index: number): Promise<StoredEntries> {
  const widest = (pathOf: (width: number) => string): string => {
    for (let width = TILE_WIDTH; width > 1; width--) {
      const path = logTilePath(pathOf(width))
      if (listed.has(path)) return path
    }
    return logTilePath(pathOf(1))
  }
  const bundle = widest((width) => bundlePath({ index, width }))
  const tile = (await store.get(widest((width) => tilePath({ level: 0, index, width })))) ?? new Uint8Array()
  const hashes = Array.from({ length: Math.floor(tile.byteLength / HASH_BYTES) }, (_, i) =>
    tile.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES),
  )
  return { entries: readableEntries((await store.get(bundle)) ?? new Uint8Array()), hashes, bundle }
}

function readableEntries(bundle: Uint8Array): Uint8Array[] {
  try {
    return entriesOf(bundle)
  } catch {
    // `checkBundles` compares its bytes with those that the entries give.
    return []
  }
}

export interface Entry {
  /** Undefined if neither the bundle nor the release can be read. */
  bytes: Uint8Array | undefined
  leaf: Hash
}

/**
 * Returns the entry of a release. If its statement differs from the entry in the bundle, the hash in the tile
 * tells which of the two was changed: the manifest, which is a fault here, or the bundle, which
 * `checkBundles` compares with the entries afterwards.
 *
 * @param statement undefined if the manifest cannot be read.
 */
export function entryOfRelease(
  { findings }: LogObjects,
  { entries, hashes, bundle }: StoredEntries,
  release: number,
  statement: Uint8Array | undefined,
): Entry {
  const place = (release - 1) % TILE_WIDTH
  const [stored, hash] = [entries[place], hashes[place]]
  if (!statement && !stored) {
    findings.fault(bundle, `entry ${release - 1} cannot be read, nor can the manifest that it is made of`)
    return { bytes: undefined, leaf: hash ?? leafHash(new Uint8Array()) }
  }
  if (!statement) {
    const { manifest_sha256: expected } = membersOf(stored!)
    findings.fault(
      manifestPath(release),
      `cannot be read; entry ${release - 1} in ${bundle} has its SHA-256 as ${textOf(expected)}`,
    )
    return { bytes: stored, leaf: leafHash(stored!) }
  }
  const isLogged = stored !== undefined && hash !== undefined && Buffer.compare(leafHash(stored), hash) === 0
  if (!isLogged || Buffer.compare(stored, statement) === 0)
    return { bytes: statement, leaf: leafHash(statement) }
  findings.fault(
    manifestPath(release),
    `is not what was logged: entry ${release - 1} in ${bundle} has ${differences(stored, statement)}`,
  )
  return { bytes: stored, leaf: hash }
}

/** Names the members in which a logged entry differs from a statement. */
function differences(logged: Uint8Array, statement: Uint8Array): string {
  const [members, found] = [membersOf(logged), membersOf(statement)]
  return Object.keys({ ...found, ...members })
    .filter((name) => textOf(members[name]) !== textOf(found[name]))
    .map((name) => `${name} ${textOf(members[name])}, the release has ${textOf(found[name])}`)
    .join('; ')
}

/** Returns the members of a statement; none for bytes that are not JSON. */
function membersOf(entry: Uint8Array): Record<string, unknown> {
  try {
    return JSON.parse(decoded(entry)) as Record<string, unknown>
  } catch {
    return {}
  }
}

function textOf(member: unknown): string {
  return JSON.stringify(member) ?? 'nothing'
}
