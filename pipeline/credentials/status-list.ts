// A Bitstring Status List (https://www.w3.org/TR/vc-bitstring-status-list/): one bit for each credential,
// which is set once it is revoked.
import { crc32 } from 'node:zlib'

/**
 * The bits of a list: the least number that the standard allows, so that asking for a list does not reveal
 * the holder.
 */
export const ENTRIES_PER_LIST = 131_072
const LIST_BYTES = ENTRIES_PER_LIST / 8

/** GZIP: the method deflate, no flags, no time, no system (RFC 1952 §2.3). */
const GZIP_HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])

/**
 * Returns the list with the bits of these indices set, in GZIP and multibase. Every machine must make the
 * same text, because the list is signed and an audit makes it again. The output of zlib differs between its
 * versions, so it is not used.
 */
export function encodedList(set: Iterable<number>): string {
  const bits = Buffer.alloc(LIST_BYTES)
  // The first bit is the highest of the first byte.
  for (const index of set) bits[index >> 3]! |= 0x80 >> (index & 7)
  const tail = Buffer.alloc(8)
  tail.writeUInt32LE(crc32(bits), 0)
  tail.writeUInt32LE(LIST_BYTES, 4)
  return `u${Buffer.concat([GZIP_HEAD, deflatedRuns(bits), tail]).toString('base64url')}`
}

const SHORTEST_RUN = 3
const LONGEST_RUN = 258
const END_OF_BLOCK = 256

/** Returns one block of deflate with fixed codes (RFC 1951). Compresses only runs of the same byte. */
function deflatedRuns(bytes: Uint8Array): Uint8Array {
  const written = new BitWriter()
  // The last block, and the type 1.
  written.add(0b011, 3)
  for (let at = 0; at < bytes.length;) {
    let end = at
    while (at > 0 && end < bytes.length && end - at < LONGEST_RUN && bytes[end] === bytes[at - 1]) end++
    if (end - at < SHORTEST_RUN) addSymbol(written, bytes[at++]!)
    else {
      addRun(written, end - at)
      at = end
    }
  }
  addSymbol(written, END_OF_BLOCK)
  return written.bytes()
}

/** Repeats the byte before this many times (§3.2.5). */
function addRun(written: BitWriter, length: number): void {
  const beyond = length - SHORTEST_RUN
  if (length === LONGEST_RUN) addSymbol(written, 285)
  else if (beyond < 8) addSymbol(written, 257 + beyond)
  else {
    const extraBits = 29 - Math.clz32(beyond)
    addSymbol(written, 261 + 4 * extraBits + ((beyond >> extraBits) & 3))
    written.add(beyond & ((1 << extraBits) - 1), extraBits)
  }
  // The code of the distance 1.
  written.add(0, 5)
}

/** Adds the fixed code of a byte, of the end or of a length (§3.2.6). */
function addSymbol(written: BitWriter, symbol: number): void {
  if (symbol < 144) written.addCode(0x30 + symbol, 8)
  else if (symbol < 256) written.addCode(0x190 + symbol - 144, 9)
  else if (symbol < 280) written.addCode(symbol - 256, 7)
  else written.addCode(0xc0 + symbol - 280, 8)
}

/** Fills bytes from the lowest bit on. */
class BitWriter {
  readonly #bytes: number[] = []
  #free = 0

  /** Adds a number from its lowest bit on. */
  add(value: number, bits: number): void {
    for (let bit = 0; bit < bits; bit++) this.#addBit((value >> bit) & 1)
  }

  /** Adds a code of Huffman's, which begins with its highest bit. */
  addCode(code: number, bits: number): void {
    for (let bit = bits - 1; bit >= 0; bit--) this.#addBit((code >> bit) & 1)
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.#bytes)
  }

  #addBit(bit: number): void {
    if (this.#free === 0) this.#bytes.push(0)
    this.#bytes[this.#bytes.length - 1]! |= bit << ((8 - this.#free) & 7)
    this.#free = (this.#free + 7) & 7
  }
}
