// Cards: the same bytes each time, the numbers on them, a QR code that another library reads, and names that
// stay text.
import jsQr from 'jsqr'
import { describe, expect, test } from 'vitest'
import { type CardSubject, cardOf, emptyCard } from '../../../../api/pages/cards/card.ts'
import { cardPng } from '../../../../api/pages/cards/png.ts'
import { cardSvg } from '../../../../api/pages/cards/svg.ts'
import type { Site } from '../../../../api/pages/site.ts'
import { pixelsOf } from '../../../support/png.ts'
import { SUBJECT, profileIn } from '../../../support/worlds/profile-world.ts'

const site: Site = { environment: 'production', publicUrl: 'https://forecasts.example.org' }
const certified = profileIn({ questions: 130, error: 0, peersKnow: 0 }).published.verification
const subject: CardSubject = {
  entityType: 'agent',
  entityId: SUBJECT,
  name: 'crow',
  verification: certified,
  place: { lower: 2, upper: 4, of: 14 },
}
const early = profileIn({ questions: 12 }).published.verification
const svgOf = (over: Partial<CardSubject> = {}, where: Site = site) =>
  cardSvg(cardOf(where, { ...subject, ...over }, 25, false)).text
const pixels = async (over: Partial<CardSubject> = {}, where: Site = site) =>
  pixelsOf(Buffer.from(await cardPng(cardOf(where, { ...subject, ...over }, 25, true))))

test.for([
  ['certified', svgOf()],
  ['early', svgOf({ verification: early, place: undefined })],
  ['sandbox', svgOf({}, { ...site, environment: 'sandbox' })],
  ['unknown', cardSvg(emptyCard(site, 'agent', 'unknown')).text],
] as const)('the card of the state %s is as it was', async ([name, text]) => {
  await expect(text).toMatchFileSnapshot(`../../../cases/pages/card-${name}.svg`)
})

describe('a picture', () => {
  test('has the size that chats want, dark letters in its head, and the color of the title', async () => {
    const { width, height, rgba } = await pixels()
    expect([width, height]).toEqual([1200, 630])
    const at = (x: number, y: number) => [...rgba.subarray((y * width + x) * 4, (y * width + x) * 4 + 3)]
    expect(at(2, 2)).toEqual([0x24, 0x29, 0x2f])
    expect(at(2, 120)).toEqual([255, 255, 255])
    // The bar of the interval, beside its middle.
    const bar = Array.from({ length: 740 }, (_, index) => at(64 + index, 406).join())
    expect(bar).toContain('26,127,55')
  })

  test('is the same each time', async () => {
    const card = cardOf(site, subject, 25, true)
    const [one, two] = await Promise.all([cardPng(card), cardPng(card)])
    expect(Buffer.from(one).equals(Buffer.from(two))).toBe(true)
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

  test.each(['אבג', '漢字', 'crow 😀', 'سلام', 'e\u0301\u0323'])(
    '%s, which pictures lack, is the end of the id there, and says so',
    (name) => {
      const words = (isPicture: boolean) =>
        cardOf(site, { ...subject, name }, 25, isPicture).marks.flatMap((mark) =>
          mark.kind === 'text' ? [mark.text] : [],
        )
      expect(words(true)).toContain('Agent …e39446')
      expect(words(true)).toContain('Their name has characters that this picture lacks.')
      expect(words(false)).toContain(name)
    },
  )

  test('that the operator hides is nowhere', () => {
    expect(svgOf({ name: null })).toContain('Agent …e39446')
    expect(svgOf({ name: null })).not.toContain('lacks')
  })
})
