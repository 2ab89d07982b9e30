// Reads pictures of eight bits of red, green, blue and opacity, as cards are, by the words of the standard
// (https://www.w3.org/TR/png-3/).
import { crc32, inflateSync } from 'node:zlib'

export interface Pixels {
  width: number
  height: number
  /** Of four bytes a pixel. */
  rgba: Uint8ClampedArray
}

const PIXEL = 4

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
    if (type === 'IHDR') {
      ;[width, height] = [content.readUInt32BE(4), content.readUInt32BE(8)]
      const form = [...content.subarray(12)].join()
      if (form !== '8,6,0,0,0') throw new Error(`this picture has another form: ${form}`)
    }
    if (type === 'IDAT') data.push(content.subarray(4))
    at += 12 + length
  }
  const rows = inflateSync(Buffer.concat(data))
  const line = PIXEL * width
  const rgba = new Uint8ClampedArray(line * height)
  for (let y = 0; y < height; y++) {
    const start = y * (line + 1)
    const filter = rows[start]!
    for (let x = 0; x < line; x++) {
      const at = y * line + x
      const left = x < PIXEL ? 0 : rgba[at - PIXEL]!
      const above = y === 0 ? 0 : rgba[at - line]!
      const aboveLeft = x < PIXEL || y === 0 ? 0 : rgba[at - line - PIXEL]!
      rgba[at] = (rows[start + 1 + x]! + predicted(filter, left, above, aboveLeft)) & 255
    }
  }
  return { width, height, rgba }
}

/** What a byte is the difference to (PNG, 9.2). */
function predicted(filter: number, left: number, above: number, aboveLeft: number): number {
  switch (filter) {
    case 0:
      return 0
    case 1:
      return left
    case 2:
      return above
    case 3:
      return Math.floor((left + above) / 2)
    case 4: {
      const sum = left + above - aboveLeft
      const [a, b, c] = [left, above, aboveLeft].map((one) => Math.abs(sum - one)) as [number, number, number]
      return a <= b && a <= c ? left : b <= c ? above : aboveLeft
    }
    default:
      throw new Error(`no filter is ${filter}`)
  }
}
