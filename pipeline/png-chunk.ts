// The parts of a PNG picture (PNG, 5.3): length, type, data, and a sum over the type and the data.
import { crc32 } from 'node:zlib'

/** @param type four letters. */
export function pngChunk(type: string, data: Uint8Array): Buffer {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.byteLength)
  sum.writeUInt32BE(crc32(content))
  return Buffer.concat([length, content, sum])
}
