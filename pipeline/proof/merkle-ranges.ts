// Finds the subtrees that a proof of a Merkle tree is made of (RFC 6962 §2.1): numbers alone, no hashes.
import { ServiceError } from '../../schemas/errors.ts'

/** The subtree over the leaves from `from` up to, but without, `to`. */
export interface Range {
  from: number
  to: number
}

/**
 * Returns the subtrees whose hashes are PATH(index, D[size]), from the leaf's sibling up (RFC 6962 §2.1.1).
 *
 * @throws ServiceError `invalid` for an index outside the tree.
 */
export function inclusionRanges(index: number, size: number): Range[] {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) {
    throw new ServiceError('invalid', `a tree of ${size} leaves has no leaf ${index}`)
  }
  const path: Range[] = []
  let from = 0
  let to = size
  while (to - from > 1) {
    const middle = from + largestPowerBelow(to - from)
    if (index < middle) {
      path.push({ from: middle, to })
      to = middle
    } else {
      path.push({ from, to: middle })
      from = middle
    }
  }
  return path.toReversed()
}

/**
 * Returns the subtrees whose hashes are PROOF(oldSize, D[size]) (RFC 6962 §2.1.2); none if the sizes are
 * equal.
 *
 * @throws ServiceError `invalid` for an old size that is not between 1 and the size.
 */
export function consistencyRanges(oldSize: number, size: number): Range[] {
  if (!Number.isSafeInteger(oldSize) || !Number.isSafeInteger(size) || oldSize < 1 || oldSize > size) {
    throw new ServiceError('invalid', `no proof leads from a tree of ${oldSize} leaves to one of ${size}`)
  }
  const path: Range[] = []
  let from = 0
  let to = size
  while (to !== oldSize) {
    const middle = from + largestPowerBelow(to - from)
    if (oldSize <= middle) {
      path.push({ from: middle, to })
      to = middle
    } else {
      path.push({ from, to: middle })
      from = middle
    }
  }
  // The verifier has the old root, so the proof leaves it out if the old tree is one of the subtrees.
  if (from > 0) path.push({ from, to })
  return path.toReversed()
}

/**
 * Returns the full subtrees that a range is made of, the largest first. Their hashes, folded from the right,
 * give the hash of the range.
 */
export function fullSubtrees({ from, to }: Range): { from: number; height: number }[] {
  const subtrees: { from: number; height: number }[] = []
  for (let start = from; start < to;) {
    let width = 1
    let height = 0
    while (width * 2 <= to - start) {
      width *= 2
      height += 1
    }
    subtrees.push({ from: start, height })
    start += width
  }
  return subtrees
}

/** The largest power of two below a number of at least 2. */
function largestPowerBelow(count: number): number {
  let power = 1
  while (power * 2 < count) power *= 2
  return power
}
