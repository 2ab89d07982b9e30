// The charts of a skill: after each shared question, and by date.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  type RunningPoint,
  type QuestionDot,
  type SkillOfDay,
  runningResult,
  runningSkillChart,
  skillByDateChart,
} from '../../../../api/pages/charts/skill-over-time.ts'

const TITLES = [
  { questions: 25, label: 'ranked' },
  { questions: 50, label: 'certified' },
]

function risingTo(questions: number, skill = 0.2, margin = 0.1): RunningPoint[] {
  return Array.from({ length: questions }, (_, index) => {
    const at = (skill * (index + 1)) / questions
    const interval = index === 0 ? null : { lower: at - margin, upper: at + margin }
    return { questions: index + 1, skill: at, interval }
  })
}

const numbersOf = (text: string) => (text.match(/-?[\d.]+/g) ?? []).map(Number)

it('puts the line where its axes say', () => {
  const svg = runningSkillChart(risingTo(110), TITLES).text
  const line = /class="line" d="([^"]+)"/.exec(svg)![1]!
  const zero = numbersOf(/class="zero" d="([^"]+)"/.exec(svg)![1]!)[1]!
  const tick = /y="([\d.]+)">\+0\.2</.exec(svg)!
  const perSkill = (zero - (Number(tick[1]) - 4)) / 0.2
  const points = line.slice(1).split('L').map(numbersOf)
  expect(points).toHaveLength(110)
  points.forEach(([x, y], index) => {
    expect(x).toBeCloseTo(66 + ((index + 1) / 110) * 276, 0)
    expect(y).toBeCloseTo(zero - ((0.2 * (index + 1)) / 110) * perSkill, 0)
  })
})

it.each([1, 24, 25, 26, 49, 51, 99, 101, 110, 130, 250, 400, 1000, 20_000])(
  'keeps its labels apart, inside, and off the lines after %i questions',
  (questions) => {
    const points = risingTo(Math.min(questions, 240)).map((point, index, all) => ({
      ...point,
      questions: Math.round(((index + 1) * questions) / all.length),
    }))
    const svg = runningSkillChart(points, TITLES).text
    const marks = [
      ...svg.matchAll(
        /<path d="M([\d.]+) ([\d.]+)V[\d.]+"\/><text x="[\d.]+" y="([\d.]+)" text-anchor="(start|end)">(\w+)/g,
      ),
    ].map(([, x, top, baseline, anchor, label]) => {
      const width = label!.length * 7.2
      const left = anchor === 'start' ? Number(x) + 4 : Number(x) - 4 - width
      return { x: Number(x), top: Number(top), baseline: Number(baseline), left, right: left + width }
    })
    expect(marks.length).toBeGreaterThan(0)
    for (const mark of marks) {
      expect(mark.left).toBeGreaterThanOrEqual(0)
      expect(mark.right).toBeLessThanOrEqual(360)
      for (const other of marks.filter((one) => one !== mark)) {
        const sameRow = other.baseline === mark.baseline
        expect(sameRow && other.left < mark.right && mark.left < other.right).toBe(false)
        const crosses = other.top < mark.baseline && mark.left < other.x && other.x < mark.right
        expect(crosses).toBe(false)
      }
    }
    const ticks = [...svg.matchAll(/y="([\d.]+)">[+−]\d/g)].map(([, y]) => Number(y))
    const zero = numbersOf(/class="zero" d="([^"]+)"/.exec(svg)![1]!)[1]!
    for (const tick of ticks) expect(Math.abs(tick - 4 - zero)).toBeGreaterThan(25)
  },
)

it('stays inside of its frame whatever the skill', () => {
  const skill = fc.double({ min: -30, max: 1, noNaN: true })
  const point = fc.record({ skill, margin: fc.double({ min: 0, max: 50, noNaN: true }) })
  fc.assert(
    fc.property(fc.array(point, { minLength: 1, maxLength: 40 }), (all) => {
      const points = all.map(({ skill: at, margin }, index) => ({
        questions: index + 1,
        skill: at,
        interval: { lower: at - margin, upper: at + margin },
      }))
      const svg = runningSkillChart(points, TITLES).text
      expect(svg).not.toContain('NaN')
      const [, , , height] = numbersOf(/viewBox="([^"]+)"/.exec(svg)![1]!)
      for (const [, path] of svg.matchAll(/class="(?:line|band)" d="([^"]+)"/g)) {
        numbersOf(path!).forEach((value, index) => {
          expect(value).toBeGreaterThanOrEqual(0)
          expect(value).toBeLessThanOrEqual(index % 2 === 0 ? 342 : height!)
        })
      }
    }),
  )
})

it('says the result in its title', () => {
  expect(runningResult(risingTo(1))).toBe(
    'After 1 shared question the skill is +0.200; one question does not say how sure that is.',
  )
  expect(runningResult(risingTo(110))).toBe(
    'After 110 shared questions the skill is +0.200; with luck allowed for, it has been above the average of the others since question 56.',
  )
  expect(runningResult(risingTo(30, -0.2))).toBe(
    'After 30 shared questions the skill is −0.200; with luck allowed for, it has been below the average of the others since question 16.',
  )
  expect(runningResult(risingTo(30, 0.05))).toBe(
    'After 30 shared questions the skill is +0.050; with luck allowed for, it may still be that of the average of the others.',
  )
})

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
