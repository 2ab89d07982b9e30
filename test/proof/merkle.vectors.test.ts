// Merkle trees against the worked values of transparency-dev/merkle and of golang.org/x/mod/sumdb/tlog.
import { describe, expect, test } from 'vitest'
import { base64Of } from '../../pipeline/proof/base64.ts'
import { GrowingTree, type Hash, MerkleTree, leafHash } from '../../pipeline/proof/merkle.ts'
import { verifyConsistency, verifyInclusion } from '../../pipeline/proof/merkle-proof.ts'
import { vectors } from '../support/transparency-vectors.ts'

/** Two equal roots of 12 bytes: accepted there, refused here because no hash has 12 bytes. */
const POLICY = 'additional/sizes-are-equal-one-and-proof-is-empty'

describe('transparency-dev/merkle', () => {
  test('decides all proofs of inclusion in the same way', () => {
    const { inclusion } = vectors('merkle')
    const decided = inclusion.map(([name, index, size, leaf, root, path]) => [
      name,
      isRefused(() => verifyInclusion(bytes(leaf), index, path.map(bytes), { size, root: bytes(root) })),
    ])
    expect(decided).toEqual(inclusion.map((vector) => [vector[0], vector[6]]))
    expect(inclusion).toHaveLength(98)
  })

  test('decides all proofs of consistency in the same way, but for hashes that are not 32 bytes', () => {
    const { consistency } = vectors('merkle')
    const decided = consistency.map(([name, size1, size2, root1, root2, path]) => [
      name,
      isRefused(() =>
        verifyConsistency(
          { size: size1, root: bytes(root1) },
          { size: size2, root: bytes(root2) },
          path.map(bytes),
        ),
      ),
    ])
    expect(decided).toEqual(
      consistency.map(([name, , , , , , refused]) => [name, refused || name === POLICY]),
    )
    expect(consistency).toHaveLength(98)
  })
})

describe('golang.org/x/mod/sumdb/tlog', () => {
  test('has the same roots', { tags: ['slow'] }, () => {
    const { roots } = vectors('trees')
    const growing = new GrowingTree()
    const found: Record<string, string> = {}
    const largest = Math.max(...Object.keys(roots).map(Number))
    while (growing.size < largest) {
      growing.add(entryHash(growing.size))
      if (String(growing.size) in roots) found[growing.size] = base64Of(growing.root)
    }
    expect(found).toEqual(roots)
  })

  test('has the same paths', { tags: ['slow'] }, () => {
    const { inclusion, consistency } = vectors('trees')
    const sizes = new Set([...inclusion, ...consistency].map(([size]) => size))
    const trees = new Map([...sizes].map((size) => [size, treeOf(size)]))
    const paths = inclusion.map(([size, index]) => trees.get(size)!.inclusionPath(index).map(base64Of))
    expect(paths).toEqual(inclusion.map(([, , path]) => path))
    const steps = consistency.map(([size, old]) => trees.get(size)!.consistencyPath(old).map(base64Of))
    expect(steps).toEqual(consistency.map(([, , path]) => path))
  })
})

function treeOf(size: number): MerkleTree {
  return new MerkleTree(Array.from({ length: size }, (_, i) => entryHash(i)))
}

function entryHash(index: number): Hash {
  return leafHash(Buffer.from(`entry ${index}`))
}

function bytes(base64: string | null): Uint8Array {
  return Buffer.from(base64 ?? '', 'base64')
}

function isRefused(check: () => void): boolean {
  try {
    check()
    return false
  } catch {
    return true
  }
}
