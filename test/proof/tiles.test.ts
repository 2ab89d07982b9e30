// Tiles: their names, what an append adds, and that they give the roots and proofs of plain trees.
import { describe, expect, test } from 'vitest'
import { GrowingTree, type Hash, MerkleTree, leafHash } from '../../pipeline/proof/merkle.ts'
import {
  type ReadTile,
  TILE_PATH,
  type Tile,
  bundlePath,
  consistencyFromTiles,
  inclusionFromTiles,
  rootFromTiles,
  tilePath,
  tilesOf,
  tilesOfAppend,
} from '../../pipeline/proof/tiles.ts'
import { vectors } from '../support/transparency-vectors.ts'

const LARGEST = 65_540
const LEAVES = Array.from({ length: LARGEST }, (_, i) => leafHash(Buffer.from(`entry ${i}`)))

test('names of tiles (tlog-tiles, "Merkle Tree")', () => {
  expect(tilePath({ level: 0, index: 1_234_067, width: 256 })).toBe('tile/0/x001/x234/067')
  expect(tilePath({ level: 1, index: 0, width: 17 })).toBe('tile/1/000.p/17')
  expect(bundlePath({ index: 1067, width: 256 })).toBe('tile/entries/x001/067')
  expect(bundlePath({ index: 0, width: 255 })).toBe('tile/entries/000.p/255')
})

test('knows the paths of tiles from others', () => {
  const good = ['tile/0/000', 'tile/63/x001/067.p/255', 'tile/entries/x001/x234/067.p/1', 'tile/10/255.p/10']
  const bad = [
    'tile/64/000',
    'tile/00/000',
    'tile/0/00',
    'tile/0/1000',
    'tile/0/001/067',
    'tile/0/x001',
    'tile/0/000.p/0',
    'tile/0/000.p/256',
    'tile/0/000.p/01',
    'tile/0/000/',
    'tile/0/000\n',
    'tile/0/../000',
    'tile/entries',
    'tile/-1/000',
  ]
  expect(good.filter((path) => !TILE_PATH.test(path))).toEqual([])
  expect(bad.filter((path) => TILE_PATH.test(path))).toEqual([])
})

describe('tlog-tiles', () => {
  test('has the same names', () => {
    const { tile_paths: paths } = vectors('c2sp')
    expect(paths.map(({ index }) => tilePath({ level: 0, index, width: 256 }))).toEqual(
      paths.map(({ path }) => `tile/0/${path}`),
    )
  })

  test('has the same tiles for the sizes that it works out', () => {
    const sizes = vectors('c2sp').tiles_of_size
    for (const [size, expected] of Object.entries(sizes)) {
      const tiles = [...tilesOf(Number(size))]
      const found = expected.map(({ level }) => {
        const ofLevel = tiles.filter((tile) => tile.level === level)
        const full = ofLevel.filter(({ width }) => width === 256).length
        const partial = ofLevel.filter(({ width }) => width < 256)
        return { level, full, partial_width: partial[0]?.width ?? 0 }
      })
      expect(found).toEqual(expected)
      expect(tiles).toHaveLength(
        expected.reduce((sum, { full, partial_width: width }) => sum + full + (width > 0 ? 1 : 0), 0),
      )
    }
  })
})

test('appending leaf by leaf makes the tiles of each size, and they give its root', async () => {
  const written = new Map<string, Uint8Array>()
  const read: ReadTile = (tile) => Promise.resolve(written.get(tilePath(tile))!)
  for (let size = 0; size < 520; size += 1) {
    for (const { tile, bytes } of await tilesOfAppend(LEAVES[size]!, size, read)) {
      expect(written.has(tilePath(tile))).toBe(false)
      written.set(tilePath(tile), bytes)
    }
    for (const tile of tilesOf(size + 1)) {
      expect(written.get(tilePath(tile))?.byteLength).toBe(tile.width * 32)
    }
  }
  for (const size of [1, 2, 255, 256, 257, 511, 512, 513, 520]) {
    expect(hex(await rootFromTiles(size, read))).toBe(hex(new MerkleTree(LEAVES.slice(0, size)).root))
  }
})

test('the append that fills two levels adds a tile to each', { tags: ['slow'] }, async () => {
  const read = tilesOfTree(65_535)
  const added = await tilesOfAppend(LEAVES[65_535]!, 65_535, read)
  expect(added.map(({ tile }) => tilePath(tile))).toEqual(['tile/0/255', 'tile/1/000', 'tile/2/000.p/1'])
  expect(hex(added[2]!.bytes)).toBe(hex(new MerkleTree(LEAVES.slice(0, 65_536)).root))
})

test.each([1, 2, 255, 256, 257, 600, 65_535, 65_536, 65_537, LARGEST])(
  'the tiles of %i leaves give the root and the proofs of the plain tree',
  { tags: ['slow'] },
  async (size) => {
    const plain = new MerkleTree(LEAVES.slice(0, size))
    const read = tilesOfTree(size)
    expect(hex(await rootFromTiles(size, read))).toBe(hex(plain.root))
    const places = [0, 1, 254, 255, 256, 511, 65_279, 65_535, 65_536, size - 1]
    for (const index of places.filter((place) => place < size)) {
      expect((await inclusionFromTiles(index, size, read)).map(hex)).toEqual(
        plain.inclusionPath(index).map(hex),
      )
    }
    for (const old of [...places, size].filter((place) => place > 0 && place <= size)) {
      const path = await consistencyFromTiles(old, size, read)
      expect(path.map(hex)).toEqual(plain.consistencyPath(old).map(hex))
    }
  },
)

test('reads each tile once, and no more of them than the proof needs', async () => {
  const asked: string[] = []
  const read = tilesOfTree(LARGEST)
  await inclusionFromTiles(700, LARGEST, (tile) => {
    asked.push(tilePath(tile))
    return read(tile)
  })
  expect(asked.toSorted()).toEqual(['tile/0/002', 'tile/0/256.p/4', 'tile/1/000'])
})

test('an empty log has the root of an empty tree, and needs no tile', async () => {
  const root = await rootFromTiles(0, () => Promise.reject(new Error('there is no tile')))
  expect(hex(root)).toBe(hex(new MerkleTree([]).root))
})

test('a tile of another length is corrupt', async () => {
  const short: ReadTile = (tile) => Promise.resolve(new Uint8Array(tile.width * 32 - 1))
  const corrupt = { kind: 'corrupt', message: 'tile/0/000.p/3 has 95 bytes, not 3 hashes of 32' }
  await expect(rootFromTiles(3, short)).rejects.toMatchObject(corrupt)
  await expect(tilesOfAppend(LEAVES[3]!, 3, short)).rejects.toMatchObject(corrupt)
})

/** A reader of the tiles of the first leaves, cut from the hashes of each level. */
function tilesOfTree(size: number): ReadTile {
  const growing = new GrowingTree()
  for (const leaf of LEAVES.slice(0, size)) growing.add(leaf)
  const levels: (readonly Hash[])[] = [LEAVES.slice(0, size), ...growing.tileLevels]
  return ({ level, index, width }: Tile) => {
    const hashes = levels[level]!.slice(index * 256, (index + 1) * 256)
    expect(hashes).toHaveLength(width)
    return Promise.resolve(Buffer.concat(hashes))
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
