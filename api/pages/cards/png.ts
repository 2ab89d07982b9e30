// Cards as PNG. Chats take no SVG, and no renderer of SVG has a licence like that of the service.
import { setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import { pngChunk } from '../../../pipeline/png-chunk.ts'
import { type Card, HEIGHT, type Mark, WIDTH } from './card.ts'
import { UNITS, glyphOf, textWidth } from './glyphs.ts'
import { Coverage } from './coverage.ts'

/** Bytes of a row: that of its filter, and three a pixel. */
const ROW = 1 + 3 * WIDTH
const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

/** Compresses on a thread of Node, so that other callers do not wait. */
const compressed = promisify(deflate)

export async function cardPng({ marks }: Card): Promise<Uint8Array> {
  const rows = Buffer.alloc(ROW * HEIGHT)
  for (const mark of marks) {
    draw(rows, mark)
    // Other callers are answered between two texts.
    if (mark.kind === 'text') await turn()
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(WIDTH, 0)
  head.writeUInt32BE(HEIGHT, 4)
  // Eight bits of red, green and blue.
  head.set([8, 2], 8)
  return Buffer.concat([
    SIGNATURE,
    pngChunk('IHDR', head),
    pngChunk('IDAT', await compressed(rows)),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

function draw(rows: Buffer, mark: Mark): void {
  switch (mark.kind) {
    case 'box':
      fill(rows, mark, rgbOf(mark.color))
      return
    case 'modules':
      drawModules(rows, mark)
      return
    case 'text':
      drawText(rows, mark)
  }
}

type Rgb = readonly [number, number, number]

function rgbOf(color: string): Rgb {
  const value = parseInt(color.slice(1), 16)
  return [value >> 16, (value >> 8) & 255, value & 255]
}

interface Area {
  x: number
  y: number
  width: number
  height: number
}

function fill(rows: Buffer, { x, y, width, height }: Area, rgb: Rgb): void {
  const line = Buffer.alloc(3 * width, Buffer.from(rgb))
  for (let row = y; row < y + height; row++) rows.set(line, row * ROW + 1 + 3 * x)
}

function drawModules(rows: Buffer, { x, y, scale, modules }: Extract<Mark, { kind: 'modules' }>): void {
  for (const [down, row] of modules.entries()) {
    for (const [along, isDark] of row.entries()) {
      const area = { x: x + along * scale, y: y + down * scale, width: scale, height: scale }
      if (isDark) fill(rows, area, [0, 0, 0])
    }
  }
}

function drawText(rows: Buffer, { x, y, size, weight, color, text }: Extract<Mark, { kind: 'text' }>): void {
  if (text === '') return
  const [ascent, descent] = [Math.ceil(size * 1.1), Math.ceil(size * 0.35)]
  const coverage = new Coverage(Math.ceil(textWidth(weight, size, text)) + 4, ascent + descent)
  let pen = 0
  for (const character of text) {
    const glyph = glyphOf(weight, character) ?? glyphOf(weight, '□')!
    coverage.add(glyph.outline, size / UNITS, pen + 1, ascent)
    pen += (glyph.width * size) / UNITS
  }
  const rgb = rgbOf(color)
  coverage.each((along, down, share) => {
    const [column, row] = [x - 1 + along, y - ascent + down]
    if (column < 0 || column >= WIDTH || row < 0 || row >= HEIGHT) return
    const at = row * ROW + 1 + 3 * column
    for (let channel = 0; channel < 3; channel++) {
      const below = rows[at + channel]!
      rows[at + channel] = Math.round(below + (rgb[channel]! - below) * share)
    }
  })
}
