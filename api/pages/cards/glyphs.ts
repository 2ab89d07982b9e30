// The characters that pictures of cards have, with their widths and outlines. assets/glyphs/make.py has
// written them.
import { readFileSync } from 'node:fs'

export type Weight = 'regular' | 'bold'

interface Glyph {
  /** In units of the font. */
  width: number
  /** A path of SVG with lines and quadratic curves, its y axis upwards. */
  outline: string
}

/** Units of the font in its size. */
export const UNITS = 2048

const FILES = {
  regular: new URL('../assets/glyphs/regular.txt', import.meta.url),
  bold: new URL('../assets/glyphs/bold.txt', import.meta.url),
}
const read = new Map<Weight, ReadonlyMap<string, Glyph>>()

function glyphsOf(weight: Weight): ReadonlyMap<string, Glyph> {
  const known =
    read.get(weight) ?? new Map(readFileSync(FILES[weight], 'utf8').trimEnd().split('\n').map(glyphIn))
  read.set(weight, known)
  return known
}

function glyphIn(line: string): [character: string, glyph: Glyph] {
  const [, point, width, outline] = /^([0-9a-f]+) (\d+) ?(.*)$/.exec(line)!
  return [String.fromCodePoint(parseInt(point!, 16)), { width: Number(width), outline: outline! }]
}

export function glyphOf(weight: Weight, character: string): Glyph | undefined {
  return glyphsOf(weight).get(character)
}

/** Whether pictures can show each character of a text. */
export function hasGlyphs(weight: Weight, text: string): boolean {
  return Array.from(text).every((character) => glyphOf(weight, character) !== undefined)
}

/** Returns the width of a text in pixels. A character that pictures lack counts as wide as it is high. */
export function textWidth(weight: Weight, size: number, text: string): number {
  const units = Array.from(text).reduce(
    (sum, character) => sum + (glyphOf(weight, character)?.width ?? UNITS),
    0,
  )
  return (units / UNITS) * size
}

/** Returns a text, cut off with an ellipsis if it is wider than a number of pixels. */
export function cutTo(width: number, weight: Weight, size: number, text: string): string {
  if (textWidth(weight, size, text) <= width) return text
  const room = width - textWidth(weight, size, '…')
  let kept = ''
  for (const { segment } of new Intl.Segmenter('en').segment(text)) {
    if (textWidth(weight, size, kept + segment) > room) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}
