// The charts of a skill over time: after each shared question, and on each day with the questions below.
import { DAY_MS } from '../../../schemas/values.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { counted, grouped, signed } from '../wording.ts'
import { type Axis, CHART_WIDTH, decimalsOf, multiples, place, stepFor } from './axis.ts'

/** The skill after a number of contested questions. */
export interface RunningPoint {
  questions: number
  skill: number
  interval: { lower: number; upper: number } | null
}

/** A number of contested questions that a title asks for. */
export interface Threshold {
  questions: number
  label: string
}

const LEFT = 66
const RIGHT = 342
const PLOT_HEIGHT = 190
/** The height of a row of threshold labels. */
const ROW = 16
const LETTER = 7.2
const GAP = 4

/** Says why there is no interval, which takes two clusters of questions. */
export function notSure(questions: number): string {
  return questions === 1
    ? 'one question does not say how sure that is'
    : 'all are of one event, which does not say how sure that is'
}

/** Says in one sentence what the chart shows. */
export function runningResult(points: readonly RunningPoint[]): string {
  const { questions, skill, interval } = points.at(-1)!
  const begin = `After ${counted(questions, 'shared question')} the skill is ${signed(skill)}`
  if (!interval) return `${begin}; ${notSure(questions)}.`
  const since = (holds: (point: RunningPoint) => boolean) => {
    const before = points.findLastIndex((point) => !holds(point))
    const [last, first] = [points[before], points[before + 1]!]
    if (!last) return 'from the beginning'
    return `since ${first.questions - last.questions > 1 ? 'about ' : ''}question ${grouped(first.questions)}`
  }
  if (interval.lower > 0) {
    return `${begin}; with luck allowed for, it has been above the average of the others ${since((point) => (point.interval?.lower ?? 0) > 0)}.`
  }
  if (interval.upper < 0) {
    return `${begin}; with luck allowed for, it has been below the average of the others ${since((point) => (point.interval?.upper ?? 0) < 0)}.`
  }
  return `${begin}; with luck allowed for, it may still be that of the average of the others.`
}

/**
 * Draws the skill as a line with its interval as a band, over the number of shared questions.
 *
 * @param points at least one, in order.
 */
export function runningSkillChart(points: readonly RunningPoint[], thresholds: readonly Threshold[]): Html {
  const { questions, skill, interval } = points.at(-1)!
  const most = thresholds.find((threshold) => threshold.questions >= questions)?.questions ?? questions
  const x: Axis = { least: 0, most, from: LEFT, to: RIGHT }
  const shown = thresholds.filter((threshold) => threshold.questions <= most)
  const marks = staircase(shown.map(({ questions: at, label }) => ({ x: place(x, at), label })))
  const top = Math.max(0, ...marks.map(({ row }) => row + 1)) * ROW + 6
  const bottom = top + PLOT_HEIGHT
  const { step, ...range } = rangeOf(points)
  const y: Axis = { ...range, from: bottom, to: top }
  const xAt = multiples(1, most, Math.max(1, stepFor(most, 5)))
  const yAt = multiples(y.least, y.most, step)
  const zero = place(y, 0)
  const decimals = decimalsOf(step)
  const end = interval ? `, between ${signed(interval.lower)} and ${signed(interval.upper)}` : ''
  return html`<svg class="chart square" viewBox="0 0 ${CHART_WIDTH} ${bottom + 42}" role="img" aria-labelledby="running-title" aria-describedby="running-about">
<title id="running-title">${runningResult(points)}</title>
<desc id="running-about">A line of the skill after each shared question, from 0, the average of the others, with its interval as a band. It ends at ${signed(skill)}${end}.</desc>
<g class="grid">${yAt.map((value) => html`<path d="M${LEFT} ${place(y, value)}H${RIGHT}"/>`)}</g>
${band(points, x, y)}<path class="zero" d="M${LEFT} ${zero}H${RIGHT}"/>
<path class="line" d="${pathOf(points.map((point) => [place(x, point.questions), place(y, point.skill)]))}"/>
${points.length === 1 && html`<g class="dots"><circle cx="${place(x, questions)}" cy="${place(y, skill)}" r="3.5"/></g>\n`}<g class="marks">${marks.map((mark) => markOf(mark, top, bottom))}</g>
<g class="tick" text-anchor="end"><text x="${LEFT - 6}" y="${zero - 3}">the</text><text x="${LEFT - 6}" y="${zero + 11}">average</text>${yAt
    .filter((value) => Math.abs(place(y, value) - zero) > 2 * ROW - 6)
    .map(
      (value) => html`<text x="${LEFT - 6}" y="${place(y, value) + 4}">${signed(value, decimals)}</text>`,
    )}</g>
<g class="tick" text-anchor="middle">${xAt.map((value) => html`<text x="${place(x, value)}" y="${bottom + 17}">${grouped(value)}</text>`)}</g>
<text class="label" text-anchor="middle" x="${(LEFT + RIGHT) / 2}" y="${bottom + 36}">shared questions, as they were settled</text>
</svg>`
}

/**
 * Returns a range that holds 0, every skill and the ends of the intervals, except those of the first sixth of
 * the points, which are very wide.
 */
function rangeOf(points: readonly Omit<RunningPoint, 'questions'>[]) {
  const steady = points.slice(Math.floor(points.length / 6)).flatMap(({ interval }) => interval ?? [])
  const values = [
    0,
    ...points.map(({ skill }) => skill),
    ...steady.flatMap(({ lower, upper }) => [lower, upper]),
  ]
  const [least, most] = [Math.max(-1.5, Math.min(...values)), Math.min(1, Math.max(...values))]
  const step = stepFor(Math.max(0.1, most - least), 4)
  // A side without values gets half a step, so that the zero line is not the frame.
  return {
    step,
    least: least < 0 ? Math.floor(least / step) * step : -step / 2,
    most: most > 0 ? Math.ceil(most / step) * step : step / 2,
  }
}

type Point = readonly [x: number, y: number]

function pathOf(points: readonly Point[]): string {
  return points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('')
}

function band(points: readonly RunningPoint[], x: Axis, y: Axis): HtmlPart {
  const ends = points.flatMap(({ questions, interval }) =>
    interval ? { at: place(x, questions), ...interval } : [],
  )
  if (ends.length < 2) return undefined
  const upper = ends.map((end): Point => [end.at, place(y, end.upper)])
  const lower = ends.map((end): Point => [end.at, place(y, end.lower)])
  return html`<path class="band" d="${pathOf([...upper, ...lower.toReversed()])}z"/>\n`
}

interface Mark {
  x: number
  label: string
  /** 0 is the lowest. */
  row: number
  anchor: 'start' | 'end'
}

/**
 * Puts labels to the right of their lines, or to the left if there is no room. A label that would touch its
 * right neighbour goes a row higher, and its line with it, so that no line crosses a label.
 */
function staircase(marks: readonly Omit<Mark, 'row' | 'anchor'>[]): Mark[] {
  let row = 0
  let free = CHART_WIDTH
  const placed: Mark[] = []
  for (const { x, label } of marks.toReversed()) {
    const width = label.length * LETTER + GAP
    const anchor = x + width > CHART_WIDTH ? 'end' : 'start'
    const right = anchor === 'end' ? x : x + width
    row = right + GAP > free ? row + 1 : row
    placed.push({ x, label, row, anchor })
    free = anchor === 'end' ? x - width : x
  }
  return placed.toReversed()
}

function markOf({ x, label, row, anchor }: Mark, top: number, bottom: number): Html {
  const baseline = top - 6 - row * ROW
  const beside = anchor === 'end' ? x - GAP : x + GAP
  return html`<path d="M${x} ${baseline - 11}V${bottom}"/><text x="${beside}" y="${baseline}" text-anchor="${anchor}">${label}</text>`
}

/** The skill that was published on a day. */
export interface SkillOfDay {
  /** In UTC, as in 2026-03-01. */
  date: string
  skill: number
  interval: { lower: number; upper: number } | null
}

/** A question, on the day on which it began to count. */
export interface QuestionDot {
  at: Date
  /** By how much the others’ average erred more. */
  gain: number
  /** Says what the dot is, in one line. */
  words: string
  href: string
}

const TOP = 8
const SKILL_HEIGHT = 150
const DOTS_HEIGHT = 110
const PANEL_GAP = 34

/**
 * Draws the skill on each day as a line with its interval as a band, and below it, on the same dates, a dot
 * for each question, higher the better it was against the others.
 *
 * @param days in order; the line needs two of them at least.
 * @param dots at least one where there is no line.
 */
export function skillByDateChart(
  days: readonly SkillOfDay[],
  dots: readonly QuestionDot[],
  title: string,
): Html {
  const hasLine = days.length > 1
  const x = datesOf(hasLine ? days : [], dots)
  const hasDots = dots.length > 0
  const dotsTop = hasLine ? TOP + SKILL_HEIGHT + PANEL_GAP : TOP + 14
  const bottom = hasDots ? dotsTop + DOTS_HEIGHT : TOP + SKILL_HEIGHT
  return html`<svg class="chart square" viewBox="0 0 ${CHART_WIDTH} ${bottom + 24}" role="group" aria-labelledby="dates-title">
<title id="dates-title">${title}</title>
${hasLine && skillPanel(days, x)}${hasDots && dotsPanel(dots, x, dotsTop)}<g class="tick">${dateTicks(x, bottom + 17)}</g>
</svg>`
}

function datesOf(days: readonly SkillOfDay[], dots: readonly QuestionDot[]): Axis {
  const times = [...days.map(({ date }) => Date.parse(date)), ...dots.map(dayOf)]
  const [least, most] = [Math.min(...times), Math.max(...times)]
  // All on one day stand in the middle.
  const room = least === most ? DAY_MS : 0
  return { least: least - room, most: most + room, from: LEFT, to: RIGHT }
}

/** Skills are those of days, so a dot stands on its day too. */
function dayOf({ at }: Pick<QuestionDot, 'at'>): number {
  return Math.floor(at.getTime() / DAY_MS) * DAY_MS
}

function skillPanel(days: readonly SkillOfDay[], x: Axis): Html {
  const { step, ...range } = rangeOf(days)
  const y: Axis = { ...range, from: TOP + SKILL_HEIGHT, to: TOP }
  const at = ({ date }: SkillOfDay) => place(x, Date.parse(date))
  const zero = place(y, 0)
  const decimals = decimalsOf(step)
  const lines = multiples(y.least, y.most, step)
  return html`<g class="grid">${lines.map((value) => html`<path d="M${LEFT} ${place(y, value)}H${RIGHT}"/>`)}</g>
${bandOf(days, at, y)}<path class="zero" d="M${LEFT} ${zero}H${RIGHT}"/>
<path class="line" d="${pathOf(days.map((day): Point => [at(day), place(y, day.skill)]))}"/>
<g class="tick" text-anchor="end">${lines.map((value) => html`<text x="${LEFT - 6}" y="${place(y, value) + 4}">${value === 0 ? 'average' : signed(value, decimals)}</text>`)}</g>
`
}

function bandOf(days: readonly SkillOfDay[], at: (day: SkillOfDay) => number, y: Axis): HtmlPart {
  const sure = days.flatMap((day) => (day.interval ? [{ x: at(day), ...day.interval }] : []))
  if (sure.length < 2) return undefined
  const upper = sure.map((end): Point => [end.x, place(y, end.upper)])
  const lower = sure.map((end): Point => [end.x, place(y, end.lower)])
  return html`<path class="band" d="${pathOf([...upper, ...lower.toReversed()])}z"/>\n`
}

function dotsPanel(dots: readonly QuestionDot[], x: Axis, top: number): Html {
  const reach = Math.max(0.01, ...dots.map(({ gain }) => Math.abs(gain)))
  const y: Axis = { least: -reach, most: reach, from: top + DOTS_HEIGHT - 6, to: top + 6 }
  const zero = place(y, 0)
  const beside = LEFT - 6
  return html`<text class="label" x="${LEFT}" y="${top - 6}">each question, against the others</text>
<path class="zero" d="M${LEFT} ${zero}H${RIGHT}"/>
<g class="tick" text-anchor="end"><text x="${beside}" y="${top + 12}">better</text><text x="${beside}" y="${zero + 4}">the same</text><text x="${beside}" y="${top + DOTS_HEIGHT - 4}">worse</text></g>
<g class="dots">${dots.map(({ at, gain, words, href }) => html`<a href="${href}" tabindex="-1"><title>${words}</title><circle cx="${place(x, dayOf({ at }))}" cy="${place(y, gain)}" r="4"/></a>\n`)}</g>
`
}

/** Writes the first and the last day, and the middle one of a longer time. */
function dateTicks({ least, most, from, to }: Axis, y: number): Html {
  const tick = (at: number, x: number, anchor: string) =>
    html`<text x="${x}" y="${y}" text-anchor="${anchor}">${new Date(at).toISOString().slice(0, 10)}</text>`
  if (most - least <= 2 * DAY_MS) return tick((least + most) / 2, (from + to) / 2, 'middle')
  const middle = most - least >= 4 * DAY_MS && tick((least + most) / 2, (from + to) / 2, 'middle')
  return html`${tick(least, from, 'start')}${middle}${tick(most, to, 'end')}`
}
