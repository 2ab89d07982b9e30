// The level and the width of intervals: what METHODOLOGY §3 says of them, and how near their logarithms come
// to a rounding boundary.
import { expect, test } from 'vitest'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { alphaOf, multiplier } from '../../pipeline/scoring/skill.ts'

test('the α/2 of any number of an owner’s agents add up to no more than 0.05', () => {
  expect(alphaOf(METHODOLOGY, null)).toBe(0.05)
  expect(alphaOf(METHODOLOGY, 1)).toBe(0.05)
  let sum = 0
  for (let attempt = 1; attempt <= 100_000; attempt++) sum += alphaOf(METHODOLOGY, attempt) / 2
  expect(sum).toBeLessThanOrEqual(0.05)
  expect(sum).toBeGreaterThan(0.0499)
})

test.each([
  { attempt: 1, clusters: 25, expected: 3.5 },
  { attempt: 1, clusters: 50, expected: 3.18 },
  { attempt: 1, clusters: 100, expected: 3.06 },
  { attempt: 1, clusters: 200, expected: 3.04 },
  { attempt: 10, clusters: 100, expected: 4.35 },
  { attempt: 100, clusters: 100, expected: 5.46 },
])(
  'METHODOLOGY §3: agent $attempt after $clusters clusters: $expected',
  ({ attempt, clusters, expected }) => {
    const found = multiplier(METHODOLOGY, clusters, alphaOf(METHODOLOGY, attempt))
    expect(Number(found.toFixed(2))).toBe(expected)
  },
)

test('three of 399,900 logarithms lie within a unit in the last place of a rounding boundary', () => {
  // There another correct library may round to the next 1e-9, which moves an interval by some 1e-10 of its
  // width.
  const near: [attempt: number, clusters: number][] = []
  for (let attempt = 1; attempt <= 100; attempt++) {
    const alpha = alphaOf(METHODOLOGY, attempt)
    for (let clusters = 2; clusters <= 4000; clusters++) {
      const logarithm = Math.log((clusters / 20 + 1) / (alpha * alpha))
      const nano = logarithm * 1e9
      const ulp = 2 ** (Math.floor(Math.log2(logarithm)) - 52)
      if (Math.abs(nano - Math.floor(nano) - 0.5) <= ulp * 1e9) near.push([attempt, clusters])
    }
  }
  expect(near).toEqual([
    [52, 397],
    [58, 1245],
    [97, 1388],
  ])
})
