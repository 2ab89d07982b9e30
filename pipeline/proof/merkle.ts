// Merkle trees over SHA-256 (RFC 6962 §2.1): the hashes, a tree in memory that gives proofs, and a root that
// grows leaf by leaf.
import { hash } from 'node:crypto'
import { type Range, consistencyRanges, inclusionRanges } from './merkle-ranges.ts'

/** 32 bytes. */
export type Hash = Uint8Array

export const HASH_BYTES = 32

/** Each level of tiles covers this many levels of the tree. */
const TILE_HEIGHT = 8

/** The root of a tree without leaves: SHA-256 of nothing. */
export const EMPTY_ROOT: Hash = /* @__PURE__ */ hash('sha256', '', 'buffer')

/** SHA-256(0x00 ‖ leaf). */
export function leafHash(leaf: Uint8Array): Hash {
  const bytes = Buffer.allocUnsafe(1 + leaf.byteLength)
  bytes[0] = 0x00
  bytes.set(leaf, 1)
  return hash('sha256', bytes, 'buffer')
}

/** SHA-256(0x01 ‖ left ‖ right). */
export function nodeHash(left: Hash, right: Hash): Hash {
  const bytes = Buffer.allocUnsafe(1 + 2 * HASH_BYTES)
  bytes[0] = 0x01
  bytes.set(left, 1)
  bytes.set(right, 1 + HASH_BYTES)
  return hash('sha256', bytes, 'buffer')
}

/** Returns the hash of neighbouring full subtrees, given the largest first. */
export function foldedHash(subtrees: readonly Hash[]): Hash {
  const [last, ...others] = subtrees.toReversed()
  return last === undefined ? EMPTY_ROOT : others.reduce((right, left) => nodeHash(left, right), last)
}

/**
 * A tree in memory, made of the hashes of its leaves. Hashes of full subtrees may stand for leaves if all but
 * the last have the same power of two of leaves: then its proofs continue the proofs inside those subtrees.
 */
export class MerkleTree {
  /**
   * A node without a right sibling moves up as it is, so node i of level k is the subtree from leaf i · 2^k
   * on.
   */
  readonly #levels: (readonly Hash[])[]

  constructor(leaves: readonly Hash[]) {
    let level = leaves
    this.#levels = [level]
    while (level.length > 1) {
      const below = level
      level = Array.from({ length: Math.ceil(below.length / 2) }, (_, i) => {
        const right = below[2 * i + 1]
        return right === undefined ? below[2 * i]! : nodeHash(below[2 * i]!, right)
      })
      this.#levels.push(level)
    }
  }

  get size(): number {
    return this.#levels[0]!.length
  }

  get root(): Hash {
    return this.#levels.at(-1)![0] ?? EMPTY_ROOT
  }

  /**
   * Returns PATH(index, D[size]) of RFC 6962 §2.1.1. @throws ServiceError `invalid` for an index outside the
   * tree.
   */
  inclusionPath(index: number): Hash[] {
    return inclusionRanges(index, this.size).map((range) => this.#hashOf(range))
  }

  /**
   * Returns PROOF(oldSize, D[size]) of RFC 6962 §2.1.2. @throws ServiceError `invalid` for an old size that
   * is not in 1 … size.
   */
  consistencyPath(oldSize: number): Hash[] {
    return consistencyRanges(oldSize, this.size).map((range) => this.#hashOf(range))
  }

  #hashOf({ from, to }: Range): Hash {
    let level = 0
    let width = 1
    while (width < to - from) {
      level += 1
      width *= 2
    }
    return this.#levels[level]![from / width]!
  }
}

/** A tree that grows leaf by leaf, and gives its root. Of its hashes it keeps about one in 256. */
export class GrowingTree {
  #size = 0
  /** The full subtrees of the tree, the largest first. */
  readonly #subtrees: Hash[] = []
  readonly #tileLevels: Hash[][] = []

  get size(): number {
    return this.#size
  }

  get root(): Hash {
    return foldedHash(this.#subtrees)
  }

  /** The hashes of tile level 1, of level 2, …: those of all full subtrees of 256, 65,536, … leaves. */
  get tileLevels(): readonly (readonly Hash[])[] {
    return this.#tileLevels
  }

  /** Adds a leaf by its hash. */
  add(leaf: Hash): void {
    let subtree = leaf
    let height = 0
    for (let before = this.#size; before % 2 === 1; before = Math.floor(before / 2)) {
      subtree = nodeHash(this.#subtrees.pop()!, subtree)
      height += 1
      if (height % TILE_HEIGHT > 0) continue
      const tileLevel = (this.#tileLevels[height / TILE_HEIGHT - 1] ??= [])
      tileLevel.push(subtree)
    }
    this.#subtrees.push(subtree)
    this.#size += 1
  }
}
