// QR codes lead where they should: the picture is drawn again from its path, and read by another library.
import fc from 'fast-check'
import jsQr from 'jsqr'
import { expect, test } from 'vitest'
import { qrModules, qrPath, qrPicture } from '../../../../api/pages/charts/qr.ts'

/** Draws a path of runs, each `M<x> <y>h<width>v1h-<width>z`, with some pixels a module. */
function drawn(path: string, size: number, scale: number): Uint8ClampedArray {
  const width = size * scale
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255)
  for (const [, x, y, run] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
    for (let row = Number(y) * scale; row < (Number(y) + 1) * scale; row++) {
      const from = (row * width + Number(x) * scale) * 4
      for (let at = 0; at < Number(run) * scale * 4; at++) if (at % 4 !== 3) pixels[from + at] = 0
    }
  }
  return pixels
}

function readFrom(text: string): string | undefined {
  const modules = qrModules(text)
  const scale = 4
  const side = modules.length * scale
  // The library brings types for importers of CommonJS.
  const read = jsQr as unknown as typeof jsQr.default
  return read(drawn(qrPath(modules), modules.length, scale), side, side)?.data
}

test('every address is read from its picture', { tags: ['slow'] }, () => {
  fc.assert(
    fc.property(fc.webUrl(), (address) => {
      expect(readFrom(address)).toBe(address)
    }),
    { numRuns: 30 },
  )
})

test('worked: the address of a code, with the quiet zone that scanners need', () => {
  const address = 'https://forecasts.example.org/sandbox/view/agents/01a20012-a424-73ad-bf0a-2c0410e39446'
  expect(readFrom(address)).toBe(address)
  const modules = qrModules(address)
  expect(modules.slice(0, 4).flat()).not.toContain(true)
  const { text } = qrPicture(address, 'a & b')
  expect(text).toContain(`viewBox="0 0 ${modules.length} ${modules.length}"`)
  expect(text).toContain('aria-label="a &amp; b"')
})
