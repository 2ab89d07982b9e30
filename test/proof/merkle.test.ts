// Merkle trees against each other and against RFC 6962: worked roots, every proof of small trees, and
// whatever is changed in them.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ServiceError } from '../../schemas/errors.ts'
import { base64Of } from '../../pipeline/proof/base64.ts'
import {
  EMPTY_ROOT,
  GrowingTree,
  type Hash,
  MerkleTree,
  leafHash,
  nodeHash,
} from '../../pipeline/proof/merkle.ts'
import { verifyConsistency, verifyInclusion } from '../../pipeline/proof/merkle-proof.ts'

const MOST = 70

/** The leaves of Certificate Transparency's own test, in hex. */
const LEAVES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
].map((leaf) => leafHash(Buffer.from(leaf, 'hex')))

test('roots of google/certificate-transparency, merkle_tree_test.cc', () => {
  expect(hex(EMPTY_ROOT)).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  expect(LEAVES.map((_, i) => hex(new MerkleTree(LEAVES.slice(0, i + 1)).root))).toEqual([
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ])
})

test('the root is that of the definition in RFC 6962 §2.1, in memory and growing', () => {
  const growing = new GrowingTree()
  for (let size = 0; size <= MOST; size += 1) {
    const leaves = leavesOf(size)
    const expected = hex(definedRoot(leaves))
    expect(hex(new MerkleTree(leaves).root)).toBe(expected)
    expect([growing.size, hex(growing.root)]).toEqual([size, expected])
    growing.add(leafOf(size))
  }
})

test('a growing tree keeps the hashes of its full subtrees of 256 leaves', () => {
  const growing = new GrowingTree()
  const leaves = leavesOf(600)
  for (const leaf of leaves) growing.add(leaf)
  const full = [0, 256].map((from) => hex(new MerkleTree(leaves.slice(from, from + 256)).root))
  expect(growing.tileLevels.map((level) => level.map(hex))).toEqual([full])
})

test(
  `every leaf of every tree of up to ${MOST} has a proof, which holds for no other leaf, index or root`,
  { tags: ['slow'] },
  () => {
    for (let size = 1; size <= MOST; size += 1) {
      const tree = new MerkleTree(leavesOf(size))
      for (let index = 0; index < size; index += 1) {
        const path = tree.inclusionPath(index)
        verifyInclusion(leafOf(index), index, path, tree)
        expect(() => verifyInclusion(leafOf(index + 1), index, path, tree)).toThrow(/leads to the root/)
        expect(() => verifyInclusion(leafOf(index), (index + 1) % (size + 1), path, tree)).toThrow(
          ServiceError,
        )
        const root = leafOf(-1)
        expect(() => verifyInclusion(leafOf(index), index, path, { size, root })).toThrow(base64Of(root))
      }
    }
  },
)

test(
  'every two trees of up to 40 leaves have a proof, which holds for no other tree',
  { tags: ['slow'] },
  () => {
    for (let size = 1; size <= 40; size += 1) {
      const tree = new MerkleTree(leavesOf(size))
      for (let oldSize = 1; oldSize <= size; oldSize += 1) {
        const old = new MerkleTree(leavesOf(oldSize))
        const path = tree.consistencyPath(oldSize)
        verifyConsistency(old, tree, path)
        const other = { size: oldSize, root: leafOf(-1) }
        expect(() => verifyConsistency(other, tree, path)).toThrow(ServiceError)
        expect(() => verifyConsistency(old, { size, root: leafOf(-1) }, path)).toThrow(ServiceError)
        expect(() => verifyConsistency(old, tree, [...path, leafOf(0)])).toThrow(ServiceError)
        if (path.length > 0) expect(() => verifyConsistency(old, tree, path.slice(1))).toThrow(ServiceError)
      }
    }
  },
)

test('a changed byte, a hash more or less is found in every proof', () => {
  const worlds = fc.integer({ min: 2, max: MOST }).chain((size) =>
    fc.record({
      size: fc.constant(size),
      index: fc.nat({ max: size - 1 }),
      oldSize: fc.integer({ min: 1, max: size - 1 }),
      at: fc.nat(),
      mask: fc.integer({ min: 1, max: 255 }),
    }),
  )
  fc.assert(
    fc.property(worlds, ({ size, index, oldSize, at, mask }) => {
      const tree = new MerkleTree(leavesOf(size))
      const old = new MerkleTree(leavesOf(oldSize))
      const inclusion = tree.inclusionPath(index)
      const leaf = leafOf(index)
      expect(() => verifyInclusion(leaf, index, changed(inclusion, at, mask), tree)).toThrow(ServiceError)
      expect(() => verifyInclusion(changed([leaf], at, mask)[0]!, index, inclusion, tree)).toThrow(
        ServiceError,
      )
      expect(() => verifyInclusion(leaf, index, inclusion.slice(1), tree)).toThrow(ServiceError)
      expect(() => verifyInclusion(leaf, index, [...inclusion, leaf], tree)).toThrow(ServiceError)
      const consistency = tree.consistencyPath(oldSize)
      expect(() => verifyConsistency(old, tree, changed(consistency, at, mask))).toThrow(ServiceError)
    }),
  )
})

test('roots of full subtrees stand for their leaves: a path inside one and a path over them are a path', () => {
  const width = 16
  const leaves = leavesOf(3 * width + 5)
  const tree = new MerkleTree(leaves)
  const parts = [0, 1, 2, 3].map((part) => new MerkleTree(leaves.slice(part * width, (part + 1) * width)))
  const over = new MerkleTree(parts.map(({ root }) => root))
  expect(hex(over.root)).toBe(hex(tree.root))
  for (let index = 0; index < leaves.length; index += 1) {
    const part = Math.floor(index / width)
    const path = [...parts[part]!.inclusionPath(index % width), ...over.inclusionPath(part)]
    expect(path.map(hex)).toEqual(tree.inclusionPath(index).map(hex))
  }
})

test('refuses what no tree has', () => {
  const tree = new MerkleTree(leavesOf(5))
  for (const index of [-1, 5, 0.5, NaN, 2 ** 53]) {
    expect(() => tree.inclusionPath(index)).toThrow(`no leaf ${index}`)
    expect(() => verifyInclusion(leafOf(0), index, [], tree)).toThrow(`no leaf ${index}`)
  }
  for (const size of [-1, 0, 6, 1.5, NaN]) {
    expect(() => tree.consistencyPath(size)).toThrow(ServiceError)
    expect(() => verifyConsistency({ size, root: leafOf(0) }, tree, [])).toThrow(ServiceError)
  }
  const short = leafOf(0).subarray(1)
  expect(() => verifyInclusion(short, 0, [], { size: 1, root: short })).toThrow('32 bytes, not 31')
  expect(() => verifyConsistency({ size: 1, root: short }, { size: 1, root: short }, [])).toThrow('not 31')
})

/** MTH as RFC 6962 §2.1 defines it. */
function definedRoot(leaves: readonly Hash[]): Hash {
  if (leaves.length === 0) return EMPTY_ROOT
  if (leaves.length === 1) return leaves[0]!
  let k = 1
  while (k * 2 < leaves.length) k *= 2
  return nodeHash(definedRoot(leaves.slice(0, k)), definedRoot(leaves.slice(k)))
}

function leavesOf(size: number): Hash[] {
  return Array.from({ length: size }, (_, i) => leafOf(i))
}

function leafOf(index: number): Hash {
  return leafHash(Buffer.from(`leaf ${index}`))
}

function hex(hash: Hash): string {
  return Buffer.from(hash).toString('hex')
}

/** The hashes with one byte changed. */
function changed(hashes: readonly Hash[], at: number, mask: number): Hash[] {
  const bytes = Buffer.concat(hashes)
  bytes[at % bytes.length]! ^= mask
  return hashes.map((_, i) => bytes.subarray(i * 32, (i + 1) * 32))
}
