// How pages write intervals, times, names and titles.
import { expect, test } from 'vitest'
import { TITLES } from '../../../schemas/payloads.ts'
import { awarded, shapeOf, titleInWords, titleOf } from '../../../api/pages/award.ts'
import { scrolling } from '../../../api/pages/table.ts'
import { signed } from '../../../api/pages/numbers.ts'
import { claimed, dayOf, endOf, interval, named, orNone, places, time } from '../../../api/pages/wording.ts'

const ID = '01a20012-a424-73ad-bf0a-2c0410e39446'

test('what is not there is a dash', () => {
  expect([orNone(0.5, signed), orNone(0, signed), orNone(null, signed)]).toEqual(['+0.500', '0.000', '–'])
})

test('intervals of skill and of places are written with both ends, those of places only if wider than one place', () => {
  expect(interval({ lower: -0.1, upper: 0.2 })).toBe('−0.100 to +0.200')
  expect(interval(null)).toBe('–')
  expect(places({ lower: 1, upper: 4 })).toBe('1–4')
  expect(places({ lower: 3, upper: 3 })).toBe('3')
  expect(places({ lower: 999, upper: 1200 })).toBe('999–1,200')
})

test('times are in UTC and readable by programs', () => {
  const at = '2026-11-21T21:46:09.887Z'
  expect(time(at).text).toBe('<time datetime="2026-11-21T21:46:09.887Z">2026-11-21 21:46 UTC</time>')
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

test.each(TITLES)('the title %s has a shape and a word, of agents and of people', (title) => {
  for (const award of [{ certification: title }, { badge: title }]) {
    expect(titleOf(award)).toBe(title)
    expect(awarded(award).text).toContain(`${shapeOf(title).text} ${titleInWords(title)}`)
  }
})

test('a wide table scrolls in a region with a name, by keyboard too', () => {
  expect(scrolling('Ranks', 'x').text).toBe(
    '<div class="scroll" tabindex="0" role="region" aria-label="Ranks">x</div>',
  )
})
