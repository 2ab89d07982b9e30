// How pages write numbers, times, names and titles.
import { expect, test } from 'vitest'
import { BADGES, CERTIFICATIONS } from '../../../schemas/payloads.ts'
import { awarded, shapeOf, titleInWords, titleOf } from '../../../api/pages/award.ts'
import { scrolling } from '../../../api/pages/table.ts'
import * as wording from '../../../api/pages/wording.ts'

const { claimed, counted, dayOf, endOf, interval, named, percent, plain, quantity, ranks, signed, time } =
  wording

const ID = '01a20012-a424-73ad-bf0a-2c0410e39446'

test('numbers keep their decimals, and a sign where they can be negative', () => {
  expect([0.2034, -0.0519, 0, -0.0001, null].map((value) => signed(value))).toEqual([
    '+0.203',
    '−0.052',
    '0.000',
    '0.000',
    '–',
  ])
  expect([plain(0.13), plain(-1.5, 1), plain(null)]).toEqual(['0.130', '−1.5', '–'])
  expect([999, 1000, 9999, 10_000, 1_234_567].map(counted)).toEqual([
    '999',
    '1000',
    '9999',
    '10\u202f000',
    '1\u202f234\u202f567',
  ])
  expect([percent(0.704), percent(0.704, 1), percent(null)]).toEqual(['70\u202f%', '70.4\u202f%', '–'])
  expect([quantity(1, 'question'), quantity(0, 'question'), quantity(2, 'person', 'people')]).toEqual([
    '1 question',
    '0 questions',
    '2 people',
  ])
})

test('intervals of skill and of ranks are written with both ends, and ranks as one where they are one', () => {
  expect(interval({ lower: -0.1, upper: 0.2 })).toBe('−0.100 to +0.200')
  expect(interval(null)).toBe('–')
  expect([ranks({ lower: 1, upper: 4 }), ranks({ lower: 3, upper: 3 }), ranks(null)]).toEqual([
    '1–4',
    '3',
    '–',
  ])
})

test('times are in UTC and readable by programs', () => {
  const at = '2026-11-21T21:46:09.887Z'
  expect(time(at).text).toBe('<time datetime="2026-11-21T21:46:09.887Z">2026-11-21 21:46&nbsp;UTC</time>')
  expect(time(new Date(at)).text).toBe(time(at).text)
  expect(dayOf(at).text).toBe('<time datetime="2026-11-21">2026-11-21</time>')
  expect(dayOf(new Date(at)).text).toBe(dayOf(at).text)
})

test('a name ends its own direction of writing and stands beside the end of its id', () => {
  expect(named('‮<b>').text).toBe('<bdi>‮&lt;b&gt;</bdi>')
  expect(claimed('Ann', ID).text).toBe(`<bdi>Ann</bdi> ${endOf(ID).text}`)
  expect(claimed(null, ID).text).toContain('without a name')
  expect(endOf(ID).text).toBe(`<code class="id" title="${ID}">…e39446</code>`)
})

test.each([...CERTIFICATIONS, ...BADGES])('the title %s has a shape and a word', (title) => {
  const isBadge = (BADGES as readonly string[]).includes(title)
  const award = (isBadge ? { badge: title } : { certification: title }) as Parameters<typeof awarded>[0]
  expect(titleOf(award)).toBe(title)
  expect(awarded(award).text).toContain(`${shapeOf(title).text} ${titleInWords(title)}`)
})

test('a wide table scrolls in a region with a name, by keyboard too', () => {
  expect(scrolling('Ranks', 'x').text).toBe(
    '<div class="scroll" tabindex="0" role="region" aria-label="Ranks">x</div>',
  )
})
