// The font of cards, DejaVu Sans: which characters it has, and how wide they are. It comes from a package, so
// that every machine draws the same.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

export type Weight = 'regular' | 'bold'

const require = createRequire(import.meta.url)
const FILES: Record<Weight, string> = {
  regular: require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'),
  bold: require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'),
}

export function fontFile(weight: Weight): Buffer {
  return readFileSync(FILES[weight])
}

/** The widths of characters as shares of the size of the font. */
type Widths = ReadonlyMap<string, number>

const known = new Map<Weight, Widths>()

function widthsOf(weight: Weight): Widths {
  const widths = known.get(weight) ?? widthsIn(fontFile(weight))
  known.set(weight, widths)
  return widths
}

/** Reads the tables of a TrueType font (https://learn.microsoft.com/typography/opentype/spec/otff). */
function widthsIn(file: Buffer): Widths {
  const tables = new Map(
    Array.from({ length: file.readUInt16BE(4) }, (_, nth) => {
      const record = 12 + 16 * nth
      return [file.toString('latin1', record, record + 4), file.readUInt32BE(record + 8)]
    }),
  )
  const [cmap, head, hhea, hmtx] = ['cmap', 'head', 'hhea', 'hmtx'].map((tag) => tables.get(tag)!)
  const size = file.readUInt16BE(head! + 18)
  const lastWidth = file.readUInt16BE(hhea! + 34) - 1
  const widths = new Map<string, number>()
  const places = Array.from({ length: file.readUInt16BE(cmap! + 2) }, (_, nth) => cmap! + 4 + 8 * nth)
  const groups = places
    .map((place) => cmap! + file.readUInt32BE(place + 4))
    .find((at) => file.readUInt16BE(at) === 12)!
  for (let nth = 0; nth < file.readUInt32BE(groups + 12); nth++) {
    const group = groups + 16 + 12 * nth
    const first = file.readUInt32BE(group)
    const count = file.readUInt32BE(group + 4) - first + 1
    for (let nthOfGroup = 0; nthOfGroup < count; nthOfGroup++) {
      const glyph = Math.min(file.readUInt32BE(group + 8) + nthOfGroup, lastWidth)
      widths.set(String.fromCodePoint(first + nthOfGroup), file.readUInt16BE(hmtx! + 4 * glyph) / size)
    }
  }
  return widths
}

/** Letters of other scripts join, change their form or stand above others, so that no widths add up. */
const IN_A_ROW =
  /^[[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}]--\p{Emoji_Presentation}]$/v

function measured(weight: Weight, character: string): number | undefined {
  return IN_A_ROW.test(character) ? widthsOf(weight).get(character) : undefined
}

function widthAtMost(weight: Weight, character: string): number {
  return measured(weight, character) ?? Math.max(1, widthsOf(weight).get(character) ?? 1)
}

/** Whether the font has each character of a text, and no heap of accents reaches out of its line. */
export function canDraw(weight: Weight, text: string): boolean {
  return Array.from(text).every((character) => widthsOf(weight).has(character)) && !/\p{M}{3}/u.test(text)
}

/** Whether `textWidth` is how wide a text is, and not how wide it is at most. */
export function isMeasured(weight: Weight, text: string): boolean {
  return Array.from(text).every((character) => measured(weight, character) !== undefined)
}

/** Returns the width of a text in pixels, or the most that it may be. */
export function textWidth(weight: Weight, size: number, text: string): number {
  return size * Array.from(text).reduce((sum, character) => sum + widthAtMost(weight, character), 0)
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
