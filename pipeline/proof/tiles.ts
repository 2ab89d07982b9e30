// A Merkle tree as tiles (https://c2sp.org/tlog-tiles): their paths, those that a leaf adds, and proofs from
// those that exist.
import { ServiceError } from '../../schemas/errors.ts'
import { type Hash, HASH_BYTES, MerkleTree, foldedHash } from './merkle.ts'
import { type TreeHead, verifyConsistency } from './merkle-proof.ts'
import { type Range, consistencyRanges, fullSubtrees, inclusionRanges } from './merkle-ranges.ts'

/** Hashes of a full tile, and entries of a full bundle. */
export const TILE_WIDTH = 256
const TILE_HEIGHT = 8

/**
 * A run of hashes. At level l they are of the full subtrees of 256^l leaves, and tile n has those from 256 ·
 * n on. A tile of fewer than 256 hashes is partial.
 */
export interface Tile {
  level: number
  index: number
  width: number
}

/**
 * Returns the `width` hashes of 32 bytes of a tile. A reader that finds a wider tile returns its beginning.
 */
export type ReadTile = (tile: Tile) => Promise<Uint8Array>

/** The paths below `/log/` that can name a tile or a bundle of entries. */
export const TILE_PATH =
  /^tile\/(entries|\d|[1-5]\d|6[0-3])\/(x\d{3}\/)*\d{3}(\.p\/([1-9]\d?|1\d\d|2[0-4]\d|25[0-5]))?$/

/** Returns `tile/<level>/<index>`, with `.p/<width>` if the tile is partial. */
export function tilePath({ level, index, width }: Tile): string {
  return `tile/${level}/${indexPath(index)}${partialSuffix(width)}`
}

/**
 * Returns the path of the bundle of entries whose hashes are the tile of level 0 with this index and width.
 */
export function bundlePath({ index, width }: Pick<Tile, 'index' | 'width'>): string {
  return `tile/entries/${indexPath(index)}${partialSuffix(width)}`
}

/** Yields all tiles of a tree of this size, the lower levels first. */
export function* tilesOf(size: number): Iterable<Tile> {
  for (let level = 0, hashes = size; hashes > 0; level += 1, hashes = Math.floor(hashes / TILE_WIDTH)) {
    for (let index = 0; index * TILE_WIDTH < hashes; index += 1) {
      yield { level, index, width: Math.min(TILE_WIDTH, hashes - index * TILE_WIDTH) }
    }
  }
}

/**
 * Returns the tiles, with their bytes, that a tree of this size gains when it grows by one leaf: one of each
 * level that changes.
 */
export async function tilesOfAppend(
  leaf: Hash,
  size: number,
  read: ReadTile,
): Promise<{ tile: Tile; bytes: Uint8Array }[]> {
  const added: { tile: Tile; bytes: Uint8Array }[] = []
  let hash = leaf
  for (let level = 0, before = size; ; level += 1, before = Math.floor(before / TILE_WIDTH)) {
    const index = Math.floor(before / TILE_WIDTH)
    const width = before % TILE_WIDTH
    const present = width === 0 ? new Uint8Array() : await checkedRead(read, { level, index, width })
    const bytes = Buffer.concat([present, hash])
    added.push({ tile: { level, index, width: width + 1 }, bytes })
    if (width + 1 < TILE_WIDTH) return added
    hash = new MerkleTree(hashesOf(bytes)).root
  }
}

/**
 * Returns the root of the first `size` leaves. @throws ServiceError `corrupt` for a tile of a wrong length.
 */
export async function rootFromTiles(size: number, read: ReadTile): Promise<Hash> {
  const [root] = await hashesFromTiles([{ from: 0, to: size }], size, read)
  return root!
}

/**
 * Returns PATH(index, D[size]) of RFC 6962 §2.1.1. @throws ServiceError as `inclusionRanges` and for a tile
 * of a wrong length.
 */
export async function inclusionFromTiles(index: number, size: number, read: ReadTile): Promise<Hash[]> {
  return hashesFromTiles(inclusionRanges(index, size), size, read)
}

/**
 * Returns PROOF(oldSize, D[size]) of RFC 6962 §2.1.2. @throws ServiceError as `consistencyRanges` and for a
 * tile of a wrong length.
 */
export async function consistencyFromTiles(oldSize: number, size: number, read: ReadTile): Promise<Hash[]> {
  return hashesFromTiles(consistencyRanges(oldSize, size), size, read)
}

/**
 * Returns the root of the first leaves of a tree, proven by its tiles: given the root of the tree, nobody can
 * make them prove another one.
 *
 * @throws ServiceError `corrupt` for tiles that do not lead to the root of the tree, and as
 *   `consistencyRanges`.
 */
export async function prefixFromTiles(prefixSize: number, tree: TreeHead, read: ReadTile): Promise<Hash> {
  const ranges = [{ from: 0, to: prefixSize }, ...consistencyRanges(prefixSize, tree.size)]
  const [root, ...path] = await hashesFromTiles(ranges, tree.size, read)
  try {
    verifyConsistency({ size: prefixSize, root: root! }, tree, path)
  } catch (cause) {
    const reason = (cause as Error).message
    throw new ServiceError(
      'corrupt',
      `the tiles of ${tree.size} leaves are not those of their root: ${reason}`,
      {
        cause,
      },
    )
  }
  return root!
}

/** Returns the hashes of subtrees of a tree of this size. It reads each tile once, all at the same time. */
async function hashesFromTiles(ranges: readonly Range[], size: number, read: ReadTile): Promise<Hash[]> {
  const parts = ranges.map((range) => fullSubtrees(range).map((subtree) => partOf(subtree, size)))
  const tiles = new Map(parts.flat().map(({ tile }) => [tilePath(tile), tile]))
  const bytes = new Map(
    await Promise.all([...tiles].map(async ([path, tile]) => [path, await checkedRead(read, tile)] as const)),
  )
  return parts.map((subtrees) =>
    foldedHash(
      subtrees.map(({ tile, from, count }) => {
        const run = bytes.get(tilePath(tile))!.subarray(from * HASH_BYTES, (from + count) * HASH_BYTES)
        return new MerkleTree(hashesOf(run)).root
      }),
    ),
  )
}

/**
 * Returns the run of hashes in a tile that a full subtree is the root of: at most 128, because 256 are one
 * hash of the next level.
 */
function partOf({ from, height }: { from: number; height: number }, size: number) {
  const level = Math.floor(height / TILE_HEIGHT)
  const leavesOfHash = TILE_WIDTH ** level
  const first = from / leavesOfHash
  const index = Math.floor(first / TILE_WIDTH)
  const width = Math.min(TILE_WIDTH, Math.floor(size / leavesOfHash) - index * TILE_WIDTH)
  return { tile: { level, index, width }, from: first % TILE_WIDTH, count: 2 ** (height % TILE_HEIGHT) }
}

async function checkedRead(read: ReadTile, tile: Tile): Promise<Uint8Array> {
  const bytes = await read(tile)
  if (bytes.byteLength === tile.width * HASH_BYTES) return bytes
  throw new ServiceError(
    'corrupt',
    `${tilePath(tile)} has ${bytes.byteLength} bytes, not ${tile.width} hashes of ${HASH_BYTES}`,
  )
}

function hashesOf(bytes: Uint8Array): Hash[] {
  return Array.from({ length: bytes.byteLength / HASH_BYTES }, (_, i) =>
    bytes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES),
  )
}

/** 1234067 is `x001/x234/067`. */
function indexPath(index: number): string {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g)!
  return groups.map((group, i) => (i === groups.length - 1 ? group : `x${group}`)).join('/')
}

function partialSuffix(width: number): string {
  return width === TILE_WIDTH ? '' : `.p/${width}`
}
