// Reads pictures of eight bits of red, green and blue without filters, as cards are, by the words of the
// standard.
import { crc32, inflateSync } from 'node:zlib'

export interface Pixels {
  width: number
  height: number
  /** Of four bytes a pixel. */
  rgba: Uint8ClampedArray
}

/** @throws Error for a picture of another form, or with a wrong sum. */
export function pixelsOf(png: Buffer): Pixels {
  if (png.subarray(0, 8).toString('hex') !== '89504e470d0a1a0a') throw new Error('this is no PNG')
  const data: Buffer[] = []
  let [width, height] = [0, 0]
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at)
    const content = png.subarray(at + 4, at + 8 + length)
    if (crc32(content) !== png.readUInt32BE(at + 8 + length)) throw new Error('a sum is wrong')
    const type = content.subarray(0, 4).toString('latin1')
    if (type === 'IHDR') [width, height] = [content.readUInt32BE(4), content.readUInt32BE(8)]
    if (type === 'IDAT') data.push(content.subarray(4))
    at += 12 + length
  }
  const rows = inflateSync(Buffer.concat(data))
  const rgba = new Uint8ClampedArray(width * height * 4).fill(255)
  for (let y = 0; y < height; y++) {
    if (rows[y * (3 * width + 1)] !== 0) throw new Error('a row has a filter')
    for (let x = 0; x < width; x++) {
      const at = y * (3 * width + 1) + 1 + 3 * x
      rgba.set(rows.subarray(at, at + 3), (y * width + x) * 4)
    }
  }
  return { width, height, rgba }
}
