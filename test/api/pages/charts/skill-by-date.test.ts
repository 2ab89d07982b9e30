import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  type QuestionDot,
  type SkillOfDay,
  skillByDateChart,
} from '../../../../api/pages/charts/skill-by-date.ts'

const DAY_MS = 86_400_000
const START = Date.UTC(2026, 0, 1)
const dayAt = (day: number) => new Date(START + day * DAY_MS)

const days = (skills: readonly number[], every = 1): SkillOfDay[] =>
  skills.map((skill, index) => ({
    date: dayAt(index * every)
      .toISOString()
      .slice(0, 10),
    skill,
    interval: index === 0 ? null : { lower: skill - 0.1, upper: skill + 0.1 },
  }))
const dot = (day: number, gain: number): QuestionDot => ({
  at: dayAt(day),
  gain,
  words: `dot ${day}`,
  href: '/q',
})
const drawn = (skills: readonly SkillOfDay[], dots: readonly QuestionDot[]) =>
  skillByDateChart(skills, dots, 'T').text

const circles = (svg: string) =>
  Array.from(svg.matchAll(/<circle cx="([\d.-]+)" cy="([\d.-]+)"/g), ([, x, y]) => ({
    x: Number(x),
    y: Number(y),
  }))
const lineOf = (svg: string) =>
  /class="line" d="M([^"]+)"/
    .exec(svg)?.[1]!
    .split('L')
    .map((point) => point.split(' ').map(Number)) ?? []

it('puts the line and the dots on the same dates', () => {
  const svg = drawn(days([0.1, 0.2, 0.3]), [dot(0, -0.1), dot(1, 0), dot(2, 0.1)])
  expect(circles(svg).map(({ x }) => x)).toEqual(lineOf(svg).map(([x]) => x))
})

it('puts a dot higher the better it was, and one that is the same on the line', () => {
  const svg = drawn([], [dot(0, -0.2), dot(1, 0), dot(2, 0.1), dot(3, 0.2)])
  const heights = circles(svg).map(({ y }) => y)
  expect(heights).toEqual(heights.toSorted((a, b) => b - a))
  expect(svg).toContain(`<path class="zero" d="M66 ${heights[1]}H342"/>`)
  expect(svg).not.toContain('class="line"')
})

it('names every dot, and leads from it to its question', () => {
  const svg = drawn([], [dot(5, 0.1)])
  expect(svg).toContain('<a href="/q" tabindex="-1"><title>dot 5</title>')
})

it('writes the first and the last day, and keeps its dates apart', () => {
  for (const span of [0, 1, 2, 3, 4, 30, 4_000]) {
    const svg = drawn(days([0.1, 0.2], span), [])
    const ticks = Array.from(
      svg.matchAll(/<text x="([\d.]+)" y="\d+" text-anchor="(start|middle|end)">(\d{4}-\d\d-\d\d)</g),
      ([, x, anchor, date]) => ({ left: Number(x) - { start: 0, middle: 36, end: 72 }[anchor!]!, date }),
    )
    expect(ticks.length).toBeGreaterThan(0)
    if (span > 2)
      expect([ticks[0]!.date, ticks.at(-1)!.date]).toEqual(
        [dayAt(0), dayAt(span)].map((day) => day.toISOString().slice(0, 10)),
      )
    for (const [index, { left }] of ticks.entries()) {
      expect(left).toBeGreaterThanOrEqual(0)
      expect(left + 72).toBeLessThanOrEqual(ticks[index + 1]?.left ?? 360)
    }
  }
})

it('draws nothing outside of itself, whatever it is given', () => {
  const skill = fc.double({ min: -20, max: 1, noNaN: true })
  const gain = fc.double({ min: -1, max: 1, noNaN: true })
  const record = fc.record({
    skills: fc.array(skill, { maxLength: 50 }),
    gains: fc.array(gain, { minLength: 1, maxLength: 50 }),
  })
  fc.assert(
    fc.property(record, ({ skills, gains }) => {
      const svg = drawn(
        days(skills),
        gains.map((value, index) => dot(index, value)),
      )
      const height = Number(/viewBox="0 0 360 ([\d.]+)"/.exec(svg)![1])
      for (const { x, y } of [
        ...circles(svg),
        ...lineOf(svg).map((point) => ({ x: point[0]!, y: point[1]! })),
      ]) {
        expect(x).toBeGreaterThanOrEqual(66)
        expect(x).toBeLessThanOrEqual(342)
        expect(y).toBeGreaterThanOrEqual(0)
        expect(y).toBeLessThanOrEqual(height)
      }
      expect(svg).not.toContain('NaN')
    }),
  )
})
