// Checks proofs of Merkle trees (RFC 6962 §2.1.1 and §2.1.2, by the algorithms of RFC 9162 §2.1.3.2 and
// §2.1.4.2).
import { ServiceError } from '../../schemas/errors.ts'
import { base64Of } from './base64.ts'
import { areSame, sha256 } from './digest.ts'
import { type Hash, HASH_BYTES, nodeHash } from './merkle.ts'

/** A root and the number of its leaves. */
export interface TreeHead {
  root: Hash
  size: number
}

/**
 * Checks that a leaf, given by its hash, is the one at this index of the tree. The root alone does not fix
 * the size: anyone who vouches for the root must vouch for the size too.
 *
 * @throws ServiceError `invalid` with the root that the path leads to.
 */
export function verifyInclusion(leaf: Hash, index: number, path: readonly Hash[], tree: TreeHead): void {
  assertHashes([leaf, tree.root, ...path])
  const sides = sidesOf(index, path, tree.size)
  const hash = path.reduce((below, sibling, at) => {
    return sides[at] === 'left' ? nodeHash(sibling, below) : nodeHash(below, sibling)
  }, leaf)
  assertRoot(hash, index, tree)
}

/** As `verifyInclusion`, by WebCrypto. */
export async function proveInclusion(
  leaf: Hash,
  { index, hashes }: { index: number; hashes: readonly Hash[] },
  tree: TreeHead,
): Promise<void> {
  assertHashes([leaf, tree.root, ...hashes])
  const sides = sidesOf(index, hashes, tree.size)
  let hash = leaf
  for (const [at, sibling] of hashes.entries()) {
    const [left, right] = sides[at] === 'left' ? [sibling, hash] : [hash, sibling]
    hash = await sha256(Uint8Array.of(0x01), left, right)
  }
  assertRoot(hash, index, tree)
}

/** Returns for each hash of a path the side on which it stands. */
function sidesOf(index: number, path: readonly Hash[], size: number): ('left' | 'right')[] {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) {
    throw new ServiceError('invalid', `a tree of ${size} leaves has no leaf ${index}`)
  }
  let node = index
  let last = size - 1
  const sides = path.map(() => {
    if (last === 0) throw wrongLength(path, `leaf ${index} of ${size}`)
    const isLeft = node % 2 === 1 || node === last
    while (isLeft && node % 2 === 0 && node > 0) {
      node /= 2
      last = half(last)
    }
    node = half(node)
    last = half(last)
    return isLeft ? 'left' : 'right'
  })
  if (last !== 0) throw wrongLength(path, `leaf ${index} of ${size}`)
  return sides
}

function assertRoot(found: Hash, index: number, { root }: TreeHead): void {
  if (areSame(found, root)) return
  throw new ServiceError(
    'invalid',
    `the path of leaf ${index} leads to the root ${base64Of(found)}, not to ${base64Of(root)}`,
  )
}

/**
 * Checks that the first leaves of a tree are those of an older one. An empty tree proves nothing, so an old
 * size of 0 is refused.
 *
 * @throws ServiceError `invalid` with the root that the path leads to.
 */
export function verifyConsistency(old: TreeHead, tree: TreeHead, path: readonly Hash[]): void {
  assertHashes([old.root, tree.root, ...path])
  const between = `a tree of ${old.size} leaves and one of ${tree.size}`
  if (!Number.isSafeInteger(old.size) || !Number.isSafeInteger(tree.size)) throw notConsistent(between)
  if (old.size < 1 || old.size > tree.size) throw notConsistent(between)
  if (old.size === tree.size) {
    if (path.length > 0) throw wrongLength(path, between)
    if (!areSame(old.root, tree.root)) throw notConsistent(between, old.root, tree.root)
    return
  }
  const steps = isPowerOfTwo(old.size) ? [old.root, ...path] : [...path]
  const first = steps.shift()
  if (first === undefined) throw wrongLength(path, between)
  let node = old.size - 1
  let last = tree.size - 1
  while (node % 2 === 1) {
    node = half(node)
    last = half(last)
  }
  let oldHash = first
  let hash = first
  for (const step of steps) {
    if (last === 0) throw wrongLength(path, between)
    if (node % 2 === 1 || node === last) {
      oldHash = nodeHash(step, oldHash)
      hash = nodeHash(step, hash)
      while (node % 2 === 0 && node > 0) {
        node /= 2
        last = half(last)
      }
    } else {
      hash = nodeHash(hash, step)
    }
    node = half(node)
    last = half(last)
  }
  if (last !== 0) throw wrongLength(path, between)
  if (!areSame(oldHash, old.root)) throw notConsistent(between, oldHash, old.root)
  if (!areSame(hash, tree.root)) throw notConsistent(between, hash, tree.root)
}

function assertHashes(hashes: readonly Hash[]): void {
  const wrong = hashes.find((hash) => hash.byteLength !== HASH_BYTES)
  if (wrong !== undefined) {
    throw new ServiceError('invalid', `a hash has ${HASH_BYTES} bytes, not ${wrong.byteLength}`)
  }
}

function half(count: number): number {
  return Math.floor(count / 2)
}

function isPowerOfTwo(count: number): boolean {
  let power = 1
  while (power < count) power *= 2
  return power === count
}

function wrongLength(path: readonly Hash[], what: string): ServiceError {
  return new ServiceError('invalid', `a path of ${path.length} hashes does not fit ${what}`)
}

function notConsistent(between: string, found?: Hash, expected?: Hash): ServiceError {
  if (found === undefined || expected === undefined) {
    return new ServiceError('invalid', `no proof leads from one to the other: ${between}`)
  }
  return new ServiceError(
    'invalid',
    `the path between ${between} leads to the root ${base64Of(found)}, not to ${base64Of(expected)}`,
  )
}
