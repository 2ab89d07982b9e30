// The course of the average over the life of a settled question, as a line of steps.
import { type Html, html } from '../html.ts'
import { percent } from '../numbers.ts'
import { QUARTERS, CHART_WIDTH, type Axis, place } from './axis.ts'
import { DAY_MS } from '../../../schemas/values.ts'

const BOTTOM = 196
const Y: Axis = { least: 0, most: 1, from: BOTTOM, to: 24 }
const [LEFT, RIGHT] = [48, 342]

/** The averages at instants that lie equally far apart; null where nothing stood. */
export interface CourseOf {
  course: readonly (number | null)[]
  /** The first and the last of the instants. */
  from: Date
  to: Date
}

export function courseChart({ course, from, to }: CourseOf, outcome: 'yes' | 'no', result: string): Html {
  const x: Axis = { least: 0, most: course.length - 1, from: LEFT, to: RIGHT }
  const end = place(Y, outcome === 'yes' ? 1 : 0)
  const isLong = to.getTime() - from.getTime() >= 2 * DAY_MS
  const isOneDay = dayOf(from) === dayOf(to)
  const written = (at: Date) => (isLong ? dayOf(at) : isOneDay ? minuteOf(at).slice(11) : minuteOf(at))
  return html`<svg class="chart square" viewBox="0 0 ${CHART_WIDTH} 240" role="img" aria-labelledby="course-title" aria-describedby="course-about">
<title id="course-title">${result}</title>
<desc id="course-about">A line of steps from the opening to the close; 0 % is below, 100 % above. The outcome was ${outcome}.</desc>
<g class="grid">${QUARTERS.map((share) => html`<path d="M${LEFT} ${place(Y, share)}H${RIGHT}"/>`)}</g>
<g class="outcome"><path d="M${LEFT} ${end}H${RIGHT}"/><text x="${RIGHT}" y="${end - 7}" text-anchor="end">outcome: ${outcome}</text></g>
<path class="line" d="${steps(course, x)}"/>
<g class="tick" text-anchor="end">${QUARTERS.map((share) => html`<text x="${LEFT - 6}" y="${place(Y, share) + 4}">${percent(share)}</text>`)}</g>
<g class="tick"><text x="${LEFT}" y="${BOTTOM + 17}">${written(from)}</text><text x="${RIGHT}" y="${BOTTOM + 17}" text-anchor="end">${written(to)}</text></g>
<text class="label" text-anchor="middle" x="${(LEFT + RIGHT) / 2}" y="${BOTTOM + 36}">from the opening to the close${!isLong && ', UTC'}</text>
</svg>`
}

const dayOf = (at: Date) => at.toISOString().slice(0, 10)
const minuteOf = (at: Date) => at.toISOString().slice(0, 16).replace('T', ' ')

/** Draws each value to the next instant, and nothing where nothing stood. */
function steps(course: readonly (number | null)[], x: Axis): string {
  let path = ''
  let last: number | null = null
  for (const [index, value] of course.entries()) {
    if (last !== null) path += `H${place(x, index)}`
    if (value !== null && value !== last) {
      path += last === null ? `M${place(x, index)} ${place(Y, value)}` : `V${place(Y, value)}`
    }
    last = value
  }
  return path
}
