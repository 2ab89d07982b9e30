// The bars of skills: one scale, and no dot at the place of another skill.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  boardAxis,
  boardBar,
  intervalBar,
  reachOf,
  sparkline,
} from '../../../../api/pages/charts/interval-bar.ts'

const spanOf = (bar: string) =>
  /class="span" d="M([\d.]+) \d+H([\d.]+)"/.exec(bar)?.slice(1).map(Number) as [number, number] | undefined

describe('the axis of a page', () => {
  it('is the least that holds every bar', () => {
    const of = (skill: number | null, lower: number, upper: number) => ({ skill, bounds: { lower, upper } })
    expect(reachOf([of(0.1, -0.2, 0.2)])).toBe(0.2)
    expect(reachOf([of(0.1, -0.2, 0.2), of(0, -0.3, 0.3)])).toBe(0.5)
    expect(reachOf([of(0, -0.51, 0.3)])).toBe(1)
    expect(reachOf([of(-7, -9, -5)])).toBe(1)
    expect(reachOf([{ skill: null, bounds: null }])).toBe(0.2)
    expect(reachOf([])).toBe(0.2)
  })

  it('has a number at each line', () => {
    const numbers = (reach: number) =>
      [...boardAxis(reach).text.matchAll(/>([−+]?[\d.]+)</g)].map(([, said]) => said)
    expect(numbers(1)).toEqual(['−1.0', '−0.5', '0', '+0.5', '+1.0'])
    expect(numbers(0.5)).toEqual(['−0.50', '−0.25', '0', '+0.25', '+0.50'])
    expect(numbers(0.2)).toEqual(['−0.2', '−0.1', '0', '+0.1', '+0.2'])
  })
})

it('draws the interval, the dot, and the average of the others', () => {
  const bar = boardBar(0.25, { lower: -0.5, upper: 1 }, 1).text
  expect(bar).toContain('class="zero" d="M180 0V24"')
  expect(spanOf(bar)).toEqual([94, 352])
  expect(bar).toContain('cx="223"')
  expect(bar).not.toContain('beyond')
})

it('is for the eye alone, because its numbers stand beside it', () => {
  for (const bar of [intervalBar(0.1, null), boardBar(0.1, null, 1), boardAxis(1)]) {
    expect(bar.text).toMatch(/^<svg [^>]*aria-hidden="true">/)
    expect(bar.text).not.toMatch(/<title|<desc|role=/)
  }
})

it('ends in arrows where the interval goes on', () => {
  expect(boardBar(0, { lower: -1.2, upper: 1.3 }, 1).text.match(/class="beyond"/g)).toHaveLength(2)
})

it('has an arrow and a number for a dot that is out of reach, even where nothing of the bar is left', () => {
  const bar = boardBar(-1.4, { lower: -1.8, upper: -1 }, 1).text
  expect(bar).toContain('● −1.400')
  expect(bar).not.toMatch(/circle|span/)
  expect(bar.match(/class="beyond"/g)).toHaveLength(1)
  expect(intervalBar(1.2, null).text).toContain('class="most" x="110" y="6">● +1.200')
})

it('has only a dot without an interval', () => {
  const bar = intervalBar(0, null).text
  expect(bar).not.toContain('span')
  expect(bar).toContain('cx="60"')
})

describe('the line of a trend', () => {
  it('goes from the left to the right on the axis of its board, and is for the eye alone', () => {
    const line = sparkline([1, 0, -1, -3], 1)!.text
    expect(line).toMatch(/^<svg class="spark" aria-hidden="true">/)
    expect(line).toContain('d="M1 1l26 11 26 11 26 0"')
  })

  it('takes two points', () => {
    expect(sparkline([], 1)).toBeUndefined()
    expect(sparkline([0.1], 1)).toBeUndefined()
  })
})

const bounds = fc
  .tuple(fc.integer({ min: -3e6, max: 1e6 }), fc.integer({ min: 0, max: 3e6 }))
  .map(([lower, length]) => ({ lower: lower / 1e6, upper: (lower + length) / 1e6 }))

it('never draws two intervals apart that overlap, nor in another order', () => {
  fc.assert(
    fc.property(bounds, bounds, (a, b) => {
      const reach = reachOf([a, b].map((of) => ({ skill: of.lower, bounds: of })))
      const [one, other] = [a, b].map((of) => spanOf(boardBar(of.lower, of, reach).text))
      if (!one || !other) return
      if (a.lower <= b.upper && b.lower <= a.upper) {
        expect(one[0] <= other[1] && other[0] <= one[1]).toBe(true)
      }
      if (a.upper < b.lower) expect(one[1]).toBeLessThanOrEqual(other[0])
    }),
  )
})
