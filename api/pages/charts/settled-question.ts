// The charts of a settled question: the last forecasts as a histogram, and how their average moved.
import { DAY_MS } from '../../../schemas/values.ts'
import { type Html, html } from '../html.ts'
import { counted, grouped, percent } from '../wording.ts'
import { type Axis, CHART_WIDTH, QUARTERS, multiples, place, stepFor } from './axis.ts'

const TOP = 40
const BOTTOM = 200
const X: Axis = { least: 0, most: 1, from: 44, to: 342 }
/** Between two bars. */
const GAP = 0.6

interface LastForecasts {
  average: number
  /** How many said something in each of as many equal parts from 0 to 1. */
  counts: readonly number[]
}

/** Draws the histogram, with the average and the outcome at its end. */
export function lastForecastsChart(
  { average, counts }: LastForecasts,
  outcome: 'yes' | 'no',
  result: string,
): Html {
  const most = Math.max(...counts)
  const y: Axis = { least: 0, most, from: BOTTOM, to: TOP }
  const steps = multiples(0, most, Math.max(1, stepFor(most, 3)))
  const end = outcome === 'yes' ? X.to : X.from
  const endAnchor = outcome === 'yes' ? 'end' : 'start'
  const at = place(X, average)
  const isLeft = average <= 0.5
  return html`<svg class="chart square" viewBox="0 0 ${CHART_WIDTH} 240" role="img" aria-labelledby="said-title" aria-describedby="said-about">
<title id="said-title">${result}</title>
<desc id="said-about">A histogram of the last forecasts, from 0 to 100 %, in ${counts.length} bars. The average is ${percent(average, 1)}, and the outcome was ${outcome}.</desc>
<g class="grid">${steps.map((count) => html`<path d="M${X.from} ${place(y, count)}H${X.to}"/>`)}</g>
<g class="bars">${counts.map((count, bin) => bar(y, count, bin / counts.length, (bin + 1) / counts.length))}</g>
<g class="marks"><path d="M${at} 26V${BOTTOM}"/><text x="${isLeft ? at + 4 : at - 4}" y="36" text-anchor="${isLeft ? 'start' : 'end'}">average ${percent(average, 1)}</text></g>
<g class="outcome"><path d="M${end} 4V${BOTTOM}"/><text x="${outcome === 'yes' ? end - 5 : end + 5}" y="15" text-anchor="${endAnchor}">outcome: ${outcome}</text></g>
<g class="tick" text-anchor="end">${steps.map((count) => html`<text x="${X.from - 6}" y="${place(y, count) + 4}">${grouped(count)}</text>`)}</g>
<g class="tick" text-anchor="middle">${QUARTERS.map((share) => html`<text x="${place(X, share)}" y="${BOTTOM + 17}">${percent(share)}</text>`)}</g>
<text class="label" text-anchor="middle" x="${(X.from + X.to) / 2}" y="${BOTTOM + 36}">what was said last</text>
</svg>`
}

function bar(y: Axis, count: number, lower: number, upper: number): Html {
  const [from, to] = [place(X, lower) + GAP, place(X, upper) - GAP]
  const top = place(y, count)
  return html`<rect x="${from.toFixed(1)}" width="${(to - from).toFixed(1)}" y="${top}" height="${(BOTTOM - top).toFixed(1)}"><title>${binWords(lower, upper)}: ${counted(count, 'forecast')}</title></rect>`
}

/** Names a part of the histogram, as in 60–65 %. */
export function binWords(lower: number, upper: number): string {
  return `${(lower * 100).toFixed(0)}–${percent(upper)}`
}

const COURSE_BOTTOM = 196
const COURSE_Y: Axis = { least: 0, most: 1, from: COURSE_BOTTOM, to: 24 }
const [COURSE_LEFT, COURSE_RIGHT] = [48, 342]

/** The averages at instants that lie equally far apart; null where nothing stood. */
interface CourseOf {
  course: readonly (number | null)[]
  /** The first and the last of the instants. */
  from: Date
  to: Date
}

/** Draws the average over the life of the question, as a line of steps. */
export function courseChart({ course, from, to }: CourseOf, outcome: 'yes' | 'no', result: string): Html {
  const x: Axis = { least: 0, most: course.length - 1, from: COURSE_LEFT, to: COURSE_RIGHT }
  const end = place(COURSE_Y, outcome === 'yes' ? 1 : 0)
  const isLong = to.getTime() - from.getTime() >= 2 * DAY_MS
  const isOneDay = dayOf(from) === dayOf(to)
  const written = (at: Date) => (isLong ? dayOf(at) : isOneDay ? minuteOf(at).slice(11) : minuteOf(at))
  return html`<svg class="chart square" viewBox="0 0 ${CHART_WIDTH} 240" role="img" aria-labelledby="course-title" aria-describedby="course-about">
<title id="course-title">${result}</title>
<desc id="course-about">A line of steps from the opening to the close; 0 % is below, 100 % above. The outcome was ${outcome}.</desc>
<g class="grid">${QUARTERS.map((share) => html`<path d="M${COURSE_LEFT} ${place(COURSE_Y, share)}H${COURSE_RIGHT}"/>`)}</g>
<g class="outcome"><path d="M${COURSE_LEFT} ${end}H${COURSE_RIGHT}"/><text x="${COURSE_RIGHT}" y="${end - 7}" text-anchor="end">outcome: ${outcome}</text></g>
<path class="line" d="${stepsOf(course, x)}"/>
<g class="tick" text-anchor="end">${QUARTERS.map((share) => html`<text x="${COURSE_LEFT - 6}" y="${place(COURSE_Y, share) + 4}">${percent(share)}</text>`)}</g>
<g class="tick"><text x="${COURSE_LEFT}" y="${COURSE_BOTTOM + 17}">${written(from)}</text><text x="${COURSE_RIGHT}" y="${COURSE_BOTTOM + 17}" text-anchor="end">${written(to)}</text></g>
<text class="label" text-anchor="middle" x="${(COURSE_LEFT + COURSE_RIGHT) / 2}" y="${COURSE_BOTTOM + 36}">from the opening to the close${!isLong && ', UTC'}</text>
</svg>`
}

const dayOf = (at: Date) => at.toISOString().slice(0, 10)
const minuteOf = (at: Date) => at.toISOString().slice(0, 16).replace('T', ' ')

/** Draws each value to the next instant, and nothing where nothing stood. */
function stepsOf(course: readonly (number | null)[], x: Axis): string {
  let path = ''
  let last: number | null = null
  for (const [index, value] of course.entries()) {
    if (last !== null) path += `H${place(x, index)}`
    if (value !== null && value !== last) {
      path += last === null ? `M${place(x, index)} ${place(COURSE_Y, value)}` : `V${place(COURSE_Y, value)}`
    }
    last = value
  }
  return path
}
