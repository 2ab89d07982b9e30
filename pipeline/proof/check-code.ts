// Short codes that lead to what a release said of an entity, such as `21-4F9A-2C81-B7D3`: the number of the
// release, and twelve characters that hold the place of the entity in the tree of its kind and the beginning
// of the leaf's hash (docs/decisions/0058).
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'

/** Crockford's base 32 leaves out I, L, O and U, so that no character is taken for another one. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const CHARACTERS = 12

/** Sixty bits: the first of the hash, then the kind of the entity, then its place. */
const PLACE_BITS = 23n
const KIND_BITS = 1n
const HASH_BITS = 36n

export interface CheckCode {
  release: number
  entityType: EntityType
  /** The place among all entities of the kind in the release, from 0. */
  position: number
  /** The first 36 bits of the leaf's hash. */
  hashStart: bigint
}

export function hashStartOf(leaf: Uint8Array): bigint {
  return Buffer.from(leaf.buffer, leaf.byteOffset, leaf.byteLength).readBigUInt64BE() >> (64n - HASH_BITS)
}

/** Returns the code in its one form; undefined for a place that has no room in it. */
export function codeText({ release, entityType, position, hashStart }: CheckCode): string | undefined {
  if (position >= 1 << Number(PLACE_BITS)) return undefined
  const kind = BigInt(ENTITY_TYPES.indexOf(entityType))
  const value = (((hashStart << KIND_BITS) | kind) << PLACE_BITS) | BigInt(position)
  const characters = Array.from({ length: CHARACTERS }, (_, index) => {
    const shift = BigInt(5 * (CHARACTERS - 1 - index))
    return ALPHABET[Number((value >> shift) & 31n)]!
  }).join('')
  return [release, ...characters.match(/.{4}/g)!].join('-')
}

/**
 * Reads a code as people write it: in small or capital letters, with or without dashes and spaces, with O for
 * 0, and with I or L for 1. Returns undefined for all that is no code.
 */
export function parseCheckCode(text: string): CheckCode | undefined {
  const groups =
    text
      .toUpperCase()
      .replaceAll('O', '0')
      .replaceAll(/[IL]/g, '1')
      .match(/[^\s\p{Pd}]+/gu) ?? []
  const [first = '', ...others] = groups
  // Without a dash behind the release, the last twelve characters tell where it ends.
  const read = others.length === 0 ? first.replace(/(?=.{12}$)/, '-') : `${first}-${others.join('')}`
  const [, release, characters] =
    new RegExp(`^([1-9][0-9]{0,7})-([${ALPHABET}]{${CHARACTERS}})$`).exec(read) ?? []
  if (release === undefined || characters === undefined) return undefined
  let value = 0n
  for (const character of characters) value = value * 32n + BigInt(ALPHABET.indexOf(character))
  const bits = (shift: bigint, count: bigint) => (value >> shift) & ((1n << count) - 1n)
  return {
    release: Number(release),
    entityType: ENTITY_TYPES[Number(bits(PLACE_BITS, KIND_BITS))]!,
    position: Number(bits(0n, PLACE_BITS)),
    hashStart: bits(PLACE_BITS + KIND_BITS, HASH_BITS),
  }
}
