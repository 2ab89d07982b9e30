// Cards: the same bytes each time, the numbers on them, a QR code that another library reads, and names that
// stay text.
import fc from 'fast-check'
import jsQr from 'jsqr'
import { describe, expect, test } from 'vitest'
import { type CardSubject, cardOf, emptyCard, cardSvg } from '../../../../api/pages/cards/card.ts'
import { cardPng } from '../../../../api/published/card-picture.ts'
import type { Site } from '../../../../api/pages/site.ts'
import { sha256Hex } from '../../../../pipeline/proof/canonical.ts'
import { type Pixels, pixelsOf } from '../../../support/png.ts'
import { SUBJECT, profileIn } from '../../../support/worlds/profile-world.ts'
import { runs } from '../../../support/runs.ts'

const site: Site = { environment: 'production', publicUrl: 'https://forecasts.example.org' }
const certified = profileIn({ questions: 130, error: 0, peersKnow: 0 }).published.verification
const subject: CardSubject = {
  entityType: 'agent',
  entityId: SUBJECT,
  name: 'crow',
  verification: certified,
  place: { lower: 2, upper: 4, boardSize: 14 },
}
const early = profileIn({ questions: 12 }).published.verification
const svgOf = (over: Partial<CardSubject> = {}, where: Site = site) =>
  cardSvg(cardOf(where, { ...subject, ...over }, 25, false)).text
const pngOf = async (over: Partial<CardSubject> = {}, where: Site = site) =>
  Buffer.from(await cardPng(cardOf(where, { ...subject, ...over }, 25, true)))
const pixels = async (over: Partial<CardSubject> = {}, where: Site = site) =>
  pixelsOf(await pngOf(over, where))

test.for([
  ['certified', svgOf()],
  ['early', svgOf({ verification: early, place: undefined })],
  ['sandbox', svgOf({}, { ...site, environment: 'sandbox' })],
  ['unknown', cardSvg(emptyCard(site, 'agent', 'unknown')).text],
] as const)('the card of the state %s is as it was', async ([name, text]) => {
  await expect(text).toMatchFileSnapshot(`../../../cases/pages/card-${name}.svg`)
})

describe('a picture', () => {
  test(
    'has the size that chats want, dark letters in its head, and the color of the title',
    { tags: ['slow'] },
    async () => {
      const { width, height, rgba } = await pixels()
      expect([width, height]).toEqual([1200, 630])
      const at = (x: number, y: number) => [...rgba.subarray((y * width + x) * 4, (y * width + x) * 4 + 3)]
      expect(at(2, 2)).toEqual([0x24, 0x29, 0x2f])
      expect(at(2, 120)).toEqual([255, 255, 255])
      // The bar of the interval, beside its middle.
      const bar = Array.from({ length: 740 }, (_, index) => at(64 + index, 406).join())
      expect(bar).toContain('26,127,55')
    },
  )

  // Another version of the font or of the renderer may make others.
  test('has the same bytes each time, on every machine', { tags: ['slow'] }, async () => {
    const [one, two] = await Promise.all([pngOf(), pngOf()])
    expect(one.equals(two)).toBe(true)
    expect(sha256Hex(one)).toMatchInlineSnapshot(
      `"0ee6c3acebbfaf309482e3e0c86a09caf0f84f6d70244deccd7dc9af1cee2052"`,
    )
  })

  test('changes with the name alone', { tags: ['slow'] }, async () => {
    const [one, two] = await Promise.all([pixels(), pixels({ name: 'raven' })])
    const rows = Array.from({ length: one.height }, (_, y) => y).filter((y) => {
      const row = ({ rgba, width }: Pixels) => Buffer.from(rgba.subarray(y * width * 4, (y + 1) * width * 4))
      return !row(one).equals(row(two))
    })
    expect(rows.length).toBeGreaterThan(20)
    expect([rows[0]! > 92, rows.at(-1)! < 230]).toEqual([true, true])
  })

  test.for(['production', 'sandbox'] as const)(
    'of %s has a QR code of the address of its page',
    async (environment) => {
      const { width, height, rgba } = await pixels({}, { ...site, environment })
      const read = jsQr as unknown as typeof jsQr.default
      const mount = environment === 'sandbox' ? '/sandbox' : ''
      expect(read(rgba, width, height)?.data).toBe(
        `https://forecasts.example.org${mount}/view/agents/${SUBJECT}`,
      )
    },
  )

  test('has neither a QR code nor an address where the service does not know its own', async () => {
    const nowhere = { ...site, publicUrl: undefined }
    const { width, height, rgba } = await pixels({}, nowhere)
    const read = jsQr as unknown as typeof jsQr.default
    expect(read(rgba, width, height)).toBeNull()
    expect(svgOf({}, nowhere)).not.toContain('Check:')
  })
})

describe('a name', () => {
  test.each([
    ['markup', '<script>alert(1)</script>'],
    ['an attribute', '" onload="alert(1)'],
  ])('with %s stays text', (_words, name) => {
    const text = svgOf({ name })
    expect(text).not.toContain('<script')
    expect(text).not.toContain('onload="')
  })

  test('that is wide is cut off inside of the card, in any script', () => {
    for (const name of ['W'.repeat(200), '漢'.repeat(200), 'é'.repeat(200)]) {
      const shown = cardOf(site, { ...subject, name }, 25, false).marks.find(
        (mark) => mark.kind === 'text' && mark.text.endsWith('…'),
      )
      expect(shown?.kind === 'text' && Array.from(shown.text).length, name).toBeLessThan(80)
    }
  })

  const wordsOf = (name: string, isPicture: boolean) =>
    cardOf(site, { ...subject, name }, 25, isPicture).marks.flatMap((mark) =>
      mark.kind === 'text' ? [mark.text] : [],
    )

  test.each(['Nguyễn', 'Ἀλέξανδρος', 'Прогнозист', 'Հայկ', 'אבג', 'سلام', 'ẹ\u0301', 'crow 😀'])(
    '%s is in a picture',
    { tags: ['slow'] },
    async (name) => {
      expect(wordsOf(name, true)).toContain(name)
      expect((await pngOf({ name })).equals(await pngOf())).toBe(false)
    },
  )

  test.each(['漢字', 'สวัสดี', 'नमस्ते', '👨‍👩‍👧 crow', `a${'\u0302\u0301'.repeat(9)}`])(
    '%s, which pictures cannot show, is the end of the id there, and says so',
    (name) => {
      expect(wordsOf(name, true)).toContain('Agent …e39446')
      expect(wordsOf(name, true)).toContain('Their name has characters that this picture cannot show.')
      expect(wordsOf(name, false)).toContain(name)
    },
  )

  test('of any characters makes a picture, and stays inside of it', { tags: ['slow'] }, async () => {
    const character = fc.oneof(
      fc.constantFrom('\u202e', '\u200d', '\u0301', '﷽', '&', '<'),
      fc.string({ unit: 'binary' }),
    )
    const name = fc.string({ unit: character, minLength: 1, maxLength: 200 })
    const long = ['W', 'é', 'س', 'ش א', '😴'].map((text) => [text.repeat(200)] as [string])
    await fc.assert(
      fc.asyncProperty(name, async (text) => {
        const { width, height, rgba } = await pixels({ name: text })
        expect([width, height]).toEqual([1200, 630])
        const beside = Array.from({ length: 120 }, (_, y) => rgba[((100 + y) * width + 1150) * 4])
        expect(new Set(beside)).toEqual(new Set([255]))
      }),
      { numRuns: runs(20), examples: long },
    )
  })

  test('that the operator hides is nowhere', () => {
    expect(svgOf({ name: null })).toContain('Agent …e39446')
    expect(svgOf({ name: null })).not.toContain('cannot show')
  })
})
