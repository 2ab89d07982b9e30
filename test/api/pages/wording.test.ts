// How pages write numbers, intervals, times, names and titles.
import { expect, it, test } from 'vitest'
import { scrolling } from '../../../api/pages/html.ts'
import {
  counted,
  minuteOf,
  percent,
  plain,
  signed,
  awarded,
  shapeOf,
  titleInWords,
  titleOf,
  claimed,
  dayOf,
  endOf,
  interval,
  named,
  orNone,
  places,
  time,
} from '../../../api/pages/wording.ts'
import { TITLES } from '../../../schemas/payloads.ts'

it('writes signs where there is a zero to compare with', () => {
  expect([0.203056, -0.052, 0].map((value) => signed(value))).toEqual(['+0.203', '−0.052', '0.000'])
  expect([-0.0004, 0.0004, -0, -0.0006].map((value) => signed(value))).toEqual([
    '0.000',
    '0.000',
    '0.000',
    '−0.001',
  ])
  expect([-0.004, 0.004, -0.006].map((value) => plain(value, 2))).toEqual(['0.00', '0.00', '−0.01'])
  expect([0.13, -0.05].map((value) => plain(value, 2))).toEqual(['0.13', '−0.05'])
})

it('writes 0 % and 100 % only where nothing is missing', () => {
  const written = [0, 0.001, 0.7, 0.996, 1].map((share) => percent(share).replaceAll('\u00a0', ' '))
  expect(written).toEqual(['0 %', '< 1 %', '70 %', '> 99 %', '100 %'])
})

it('counts in words and groups thousands', () => {
  expect([1, 2, 1200].map((count) => counted(count, 'question'))).toEqual([
    '1 question',
    '2 questions',
    '1,200 questions',
  ])
})

it('writes instants to the minute, in UTC', () => {
  expect(minuteOf('2026-11-21T21:46:09.887Z')).toBe('2026-11-21 21:46 UTC')
})

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
