// The reliability diagram.
import fc from 'fast-check'
import { expect, it, test } from 'vitest'
import {
  reliabilityDiagram,
  reliabilityResult,
  reliabilityTable,
  atLeast,
  atMost,
} from '../../../../api/pages/charts/reliability.ts'
import { html } from '../../../../api/pages/html.ts'
import { calibrationCurve, decompose } from '../../../../pipeline/scoring/calibration.ts'

const closings = fc
  .array(fc.record({ hundredths: fc.integer({ min: 0, max: 100 }), yes: fc.boolean() }), {
    minLength: 1,
    maxLength: 80,
  })
  .map((all) => ({
    ppm: all.map(({ hundredths }) => hundredths * 10_000),
    outcome: all.map(({ yes }) => (yes ? 1 : 0)),
  }))

type Closings = { ppm: number[]; outcome: number[] }

function drawn(closing: Closings) {
  const curve = calibrationCurve(closing, 10)
  const svg = reliabilityDiagram(curve, decompose(closing).corp!).text
  const numbersOf = (pattern: RegExp) => [...svg.matchAll(pattern)].map((match) => match.slice(1).map(Number))
  return { svg, curve, numbersOf }
}

// The plot is a square from (48, 320) to (344, 24): 296 units for a probability of 1.
const xOf = (share: number) => 48 + share * 296
const yOf = (share: number) => 320 - share * 296
const HALF_A_TENTH = 0.051

it('puts every dot at its mean forecast and its frequency, and its bar on the closed form of Wilson', () => {
  fc.assert(
    fc.property(closings, (closing) => {
      const { numbersOf } = drawn(closing)
      const dots = numbersOf(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)
      const bars = numbersOf(/<path d="M([\d.]+) ([\d.]+)V([\d.]+)"\/>/g)
      const bins = Map.groupBy(
        closing.ppm.map((ppm, index) => ({ p: ppm / 1e6, yes: closing.outcome[index]! })),
        ({ p }) => Math.min(9, Math.floor(p * 10 + 1e-9)),
      )
      const sorted = [...bins].sort(([a], [b]) => a - b)
      expect(dots).toHaveLength(sorted.length)
      sorted.forEach(([, group], index) => {
        const n = group.length
        const f = group.reduce((sum, { yes }) => sum + yes, 0) / n
        const mean = group.reduce((sum, { p }) => sum + p, 0) / n
        const z2 = 1.959963984540054 ** 2
        const spread = Math.sqrt(z2 * ((f * (1 - f)) / n + z2 / (4 * n * n)))
        const [lower, upper] = [-spread, spread].map((by) => (f + z2 / (2 * n) + by) / (1 + z2 / n))
        near(dots[index]!, [xOf(mean), yOf(f)])
        near(bars[index]!, [xOf(mean), yOf(Math.max(0, lower!)), yOf(Math.min(1, upper!))])
      })
    }),
  )
})

it('draws the recalibration curve through the isotonic regression at every forecast', () => {
  fc.assert(
    fc.property(closings, (closing) => {
      const path = /class="corp" d="([^"]+)"/.exec(drawn(closing).svg)![1]!
      const blocks = [...path.matchAll(/[ML]([\d.]+) ([\d.]+)H([\d.]+)/g)].map((match) =>
        match.slice(1).map(Number),
      )
      closing.ppm.forEach((ppm) => {
        const x = xOf(ppm / 1e6)
        const block = blocks.find(([from, , to]) => from! - HALF_A_TENTH <= x && x <= to! + HALF_A_TENTH)!
        near([block[1]!], [yOf(isotonicAt(closing, ppm))])
      })
    }),
  )
})

/** The minimum over b ≥ x of the maximum over a ≤ x of the mean outcome of forecasts from a to b. */
function isotonicAt({ ppm, outcome }: Closings, at: number): number {
  const meanOf = (from: number, to: number) => {
    const inside = outcome.filter((_, index) => from <= ppm[index]! && ppm[index]! <= to)
    return inside.reduce((sum, value) => sum + value, 0) / inside.length
  }
  const [below, above] = [ppm.filter((x) => x <= at), ppm.filter((x) => x >= at)]
  return Math.min(...above.map((to) => Math.max(...below.map((from) => meanOf(from, to)))))
}

function near(actual: number[], expected: number[]): void {
  expect(actual).toHaveLength(expected.length)
  actual.forEach((value, index) => {
    expect(Math.abs(value - expected[index]!)).toBeLessThanOrEqual(HALF_A_TENTH)
  })
}

const spaced = (text: string) => text.replaceAll('\u00a0', ' ')
const ppm = [50_000, 50_000, 150_000, 150_000, 850_000, 850_000]

it('says in its title whether more than luck is in it', () => {
  const { curve } = drawn({ ppm, outcome: [0, 0, 0, 1, 1, 1] })
  expect(reliabilityResult(curve)).toBe('6 forecasts: too few to tell.')
  const five = <T>(values: readonly T[]) => Array.from({ length: 5 }, () => values).flat()
  const right = drawn({ ppm: five(ppm), outcome: five([0, 0, 0, 0, 1, 1]) }).curve
  expect(spaced(reliabilityResult(right))).toBe(
    'What was said and how often it happened differ by no more than luck explains, in all 3 groups of forecasts.',
  )
  const wrong = drawn({ ppm: five(ppm), outcome: five([1, 1, 0, 0, 1, 1]) }).curve
  expect(spaced(reliabilityResult(wrong))).toBe(
    'In 1 of 3 groups of forecasts, what was said and how often it happened differ by more than luck explains: ' +
      'from 0 % to 10 % it happened more often than said. Luck alone brings that about in at most 5 % of cases.',
  )
})

it('has its numbers in a table, with a dash for a group without forecasts', () => {
  const { curve } = drawn({ ppm, outcome: [0, 0, 0, 1, 1, 1] })
  const table = spaced(html`${reliabilityTable(curve)}`.text)
  expect(table).toContain(
    '<th scope="row" class="n">10–20 %</th><td class="n">2</td><td class="n">50 %</td><td class="n">9–91 %</td>',
  )
  expect(table).toContain(
    '<th scope="row" class="n">20–30 %</th><td class="n">0</td><td class="n">–</td><td class="n">–</td>',
  )
})

it('says of at most one in twenty perfectly calibrated forecasters that they are off', () => {
  // A generator of its own, so that every run sees the same forecasters.
  let state = 1
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  const forecasters = 1_000
  let off = 0
  for (let n = 0; n < forecasters; n++) {
    const said = Array.from({ length: 200 }, () => Math.round(random() * 1e6))
    const outcome = said.map((each) => (random() < each / 1e6 ? 1 : 0))
    if (reliabilityResult(calibrationCurve({ ppm: said, outcome }, 10)).includes('by more than luck'))
      off += 1
  }
  expect(off).toBeLessThan(0.05 * forecasters)
  expect(off).toBeGreaterThan(0)
})

test('tails as worked out by hand: of 4 events of a half, at most 1 comes in 5 of 16 cases', () => {
  expect(atMost(1, 4, 0.5)).toBeCloseTo(5 / 16, 12)
  expect(atLeast(3, 4, 0.5)).toBeCloseTo(5 / 16, 12)
  expect(atMost(0, 3, 0.1)).toBeCloseTo(0.729, 12)
  expect([atMost(0, 9, 0), atMost(8, 9, 1), atLeast(0, 9, 0), atLeast(1, 9, 0)]).toEqual([1, 0, 1, 0])
})

test('both tails are the sums of the probabilities, and overlap in the count itself', () => {
  const choose = (n: number, k: number): number => (k === 0 ? 1 : (choose(n, k - 1) * (n - k + 1)) / k)
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }),
      fc.nat(60),
      fc.integer({ min: 0, max: 100 }),
      (n, k, hundredths) => {
        const [count, p] = [Math.min(k, n), hundredths / 100]
        const of = (each: number) => choose(n, each) * p ** each * (1 - p) ** (n - each)
        const sum = Array.from({ length: count + 1 }, (_, each) => of(each)).reduce(
          (total, each) => total + each,
          0,
        )
        expect(atMost(count, n, p)).toBeCloseTo(sum, 9)
        expect(atMost(count, n, p) + atLeast(count, n, p)).toBeCloseTo(1 + of(count), 9)
      },
    ),
  )
})

test('of many events the tails do not vanish before their time', () => {
  expect(atMost(50_000, 100_000, 0.5)).toBeCloseTo(0.501_261_6, 6)
})
