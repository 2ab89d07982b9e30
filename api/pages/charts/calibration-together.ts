// The reliability curves of several in one picture, told apart by their marks and dashes and not by colour
// alone.
import type { EntityMetrics } from '../../../schemas/metrics.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { counted, percent } from '../numbers.ts'
import { QUARTERS, CHART_WIDTH, type Axis, place } from './axis.ts'

type Curve = EntityMetrics['calibration_curve']

export interface Calibrated {
  curve: Curve
  /** As the legend shows it, and as text. */
  name: Html
  plain: string
}

const X: Axis = { least: 0, most: 1, from: 48, to: 344 }
const Y: Axis = { least: 0, most: 1, from: 320, to: 24 }
/** A group of fewer says more about luck than about a forecaster. */
const LEAST_COUNT = 5

/** The marks by place, around the origin: a disc, a square, a diamond and a triangle. */
const MARKS = [
  'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z',
  'M-4-4h8v8h-8z',
  'M0-5.5l5.5 5.5-5.5 5.5-5.5-5.5z',
  'M0-5l5 9h-10z',
]

interface Point {
  said: number
  happened: number
  count: number
}

function pointsOf(curve: Curve): Point[] {
  return curve
    .filter(({ count }) => count >= LEAST_COUNT)
    .map(({ mean_probability: said, observed_frequency: happened, count }) => ({
      said: said!,
      happened: happened!,
      count,
    }))
}

/** Nothing where nobody has a group that is large enough. */
export function calibrationTogether(all: readonly Calibrated[]): HtmlPart {
  const lines = all.map(({ curve, ...of }, index) => ({ ...of, index, points: pointsOf(curve) }))
  if (lines.every(({ points }) => points.length === 0)) return undefined
  const drawn = lines.filter(({ points }) => points.length > 0)
  const said = drawn.map(({ plain, points }) => `${plain}: ${points.map(wordsOf).join(', ')}`)
  const [left, right, bottom, top] = [X.from, X.to, Y.from, Y.to]
  return html`<h2 id="calibration">When they say 70\u00a0%, does it happen 7 times in 10?</h2>
<div class="columns"><figure><svg class="chart square" viewBox="0 0 ${CHART_WIDTH} 366" role="img" aria-labelledby="together-title" aria-describedby="together-about">
<title id="together-title">What was said, and how often it happened</title>
<desc id="together-about">${said.join('; ')}.</desc>
<g class="grid">${QUARTERS.map((share) => html`<path d="M${place(X, share)} ${top}V${bottom}M${left} ${place(Y, share)}H${right}"/>`)}</g>
<path class="ideal" d="M${left} ${bottom}L${right} ${top}"/>
${lines.map(({ points, index }) => curveOf(points, index))}<g class="tick" text-anchor="end">${QUARTERS.map((share) => html`<text x="${left - 6}" y="${place(Y, share) + 4}">${percent(share)}</text>`)}</g>
<g class="tick" text-anchor="middle">${QUARTERS.map((share) => html`<text x="${place(X, share)}" y="${bottom + 18}">${percent(share)}</text>`)}</g>
<text class="label" x="4" y="12">how often it happened</text>
<text class="label" text-anchor="middle" x="${(left + right) / 2}" y="${bottom + 37}">what was said last</text>
</svg>
<figcaption>On the dashed line, what was said is what happened. Each mark is a group of at least ${LEAST_COUNT} forecasts, over all questions of each one and not only those that they share.</figcaption></figure>
<ul class="legend">
${lines.map(
  ({ name, points, index }) =>
    html`<li><svg viewBox="-14 -8 28 16" width="28" height="16" aria-hidden="true"><g class="who who-${index + 1}"><path class="curve" d="M-14 0H14"/><path d="${MARKS[index]}"/></g></svg> ${name} <span class="mute">${counted(
      points.reduce((sum, { count }) => sum + count, 0),
      'forecast',
    )}</span></li>\n`,
)}</ul></div>`
}

function curveOf(points: readonly Point[], index: number): HtmlPart {
  const at = points.map(({ said, happened }) => `${place(X, said)} ${place(Y, happened)}`)
  if (at.length === 0) return undefined
  return html`<g class="who who-${index + 1}"><path class="curve" d="M${at.join('L')}"/>${at.map((where) => html`<path d="${MARKS[index]}" transform="translate(${where})"/>`)}</g>
`
}

function wordsOf({ said, happened, count }: Point): string {
  return `said ${percent(said)}, happened ${percent(happened)} of ${count}`
}
