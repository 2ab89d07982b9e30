// A Bitstring Status List (https://www.w3.org/TR/vc-bitstring-status-list/): one bit for each credential,
// which is set once it is revoked.
import { crc32 } from 'node:zlib'

/** The bits of a list: the least that the standard allows, so that a list does not tell whom it is about. */
export const ENTRIES_PER_LIST = 131_072
const LIST_BYTES = ENTRIES_PER_LIST / 8

/** GZIP: the method deflate, no flags, no time, no system (RFC 1952 §2.3). */
const GZIP_HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])

/**
 * Returns the list in which the bits of these indices are set, in GZIP and multibase. The bits are stored and
 * not compressed, so that every machine and every version of zlib makes the same text.
 */
export function encodedList(set: Iterable<number>): string {
  const bits = Buffer.alloc(LIST_BYTES)
  // The first bit is the highest of the first byte.
  for (const index of set) bits[index >> 3]! |= 0x80 >> (index & 7)
  // One last stored block: its length and the complement of it (RFC 1951 §3.2.4).
  const block = Buffer.alloc(5)
  block[0] = 1
  block.writeUInt16LE(LIST_BYTES, 1)
  block.writeUInt16LE(~LIST_BYTES & 0xffff, 3)
  const tail = Buffer.alloc(8)
  tail.writeUInt32LE(crc32(bits), 0)
  tail.writeUInt32LE(LIST_BYTES, 4)
  return `u${Buffer.concat([GZIP_HEAD, block, bits, tail]).toString('base64url')}`
}
