// The two charts of a comparison: bars where their gains are, and curves that can be told apart.
import { describe, expect, test } from 'vitest'
import { calibrationTogether, differenceBars } from '../../../../api/pages/charts/comparison.ts'
import { type HtmlPart, html } from '../../../../api/pages/html.ts'

const text = (part: HtmlPart) => html`${part}`.text

describe('bars of differences', () => {
  const pathsOf = (gains: readonly number[]) =>
    Array.from(
      text(differenceBars(gains, ['one', 'other'])).matchAll(/class="gains[^>]* d="([^"]*)"/g),
      ([, d]) =>
        (d!.match(/M[^M]+/g) ?? []).map((bar) => /M(\S+) (\S+)V(\S+)/.exec(bar)!.slice(1).map(Number)),
    )

  test('go up where the first was closer and down where the other was, as long as the gain', () => {
    const [up, down] = pathsOf([0.4, 0.1, 0, -0.2])
    expect(up!.map(([, zero, end]) => zero! - end!)).toEqual([80, 20])
    expect(down!.map(([, zero, end]) => end! - zero!)).toEqual([40])
    expect(up![0]![0]).toBeLessThan(up![1]![0]!)
  })

  test('are one at least, even of nothing and of one question', () => {
    expect(pathsOf([0])).toEqual([[], []])
    expect(pathsOf([1e-9])[0]).toHaveLength(1)
    expect(text(differenceBars([0], ['<b>', 'x'.repeat(200)]))).not.toMatch(/<b>|x{28}|NaN|Infinity/)
  })

  test('are 400 at most, those that differ most', () => {
    const gains = Array.from({ length: 1000 }, (_, index) => (499.5 - index) / 500)
    const [up, down] = pathsOf(gains)
    expect([up!.length, down!.length]).toEqual([200, 200])
  })
})

describe('curves together', () => {
  const bin = (lower: number, count: number) => ({
    lower,
    upper: lower + 0.1,
    count,
    mean_probability: count === 0 ? null : lower + 0.05,
    observed_frequency: count === 0 ? null : lower,
    wilson_lower: null,
    wilson_upper: null,
  })
  const of = (name: string, ...curve: ReturnType<typeof bin>[]) => ({
    curve,
    name: html`${name}`,
    plainName: name,
  })

  test('have a mark and a line of their own each, and leave out groups of fewer than five', () => {
    const made = text(calibrationTogether([of('A', bin(0, 5), bin(0.5, 4)), of('B', bin(0.2, 9)), of('C')]))
    const [chart, legend] = made.split('</figure>')
    expect(chart!.match(/<g class="who who-\d">/g)).toEqual([
      '<g class="who who-1">',
      '<g class="who who-2">',
    ])
    expect(chart).toContain('A: said 5\u00a0%, happened 0\u00a0% of 5; B: said 25\u00a0%')
    expect(legend!.match(/ d="M[^"]*z"/g)).toHaveLength(3)
    expect(new Set(legend!.match(/ d="M[^"]*z"/g)).size).toBe(3)
    expect(chart).not.toContain('C:')
  })

  test('are nothing where nobody has a group that is large enough', () => {
    expect(calibrationTogether([of('A', bin(0, 4)), of('B')])).toBeUndefined()
  })
})
