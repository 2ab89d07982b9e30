// The chart of an entity over time: its skill on each day as a line with its interval as a band, and below
// it, on the same dates, a dot for each question, higher the better it was against the others.
import { type Html, type HtmlPart, html } from '../html.ts'
import { signed } from '../numbers.ts'
import { CHART_WIDTH, type Axis, decimalsOf, multiples, place } from './axis.ts'
import { type Point, pathOf, rangeOf } from './running-skill.ts'
import { DAY_MS } from '../../../schemas/values.ts'

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

const LEFT = 66
const RIGHT = 342
const TOP = 8
const SKILL_HEIGHT = 150
const DOTS_HEIGHT = 110
const GAP = 34

/**
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
  const dotsTop = hasLine ? TOP + SKILL_HEIGHT + GAP : TOP + 14
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
