// The charts of a comparison: by how much one of two was closer on each question, and the reliability curves
// of several.
import type { EntityMetrics } from '../../../schemas/metrics.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { counted, plain, percent } from '../wording.ts'
import { type Axis, CHART_WIDTH, QUARTERS, decimalsOf, multiples, place, stepFor } from './axis.ts'

const [LEFT, RIGHT] = [40, 352]
const [TOP, BOTTOM] = [26, 186]
const HEIGHT = 212
/** More bars would be thinner than a line; those in the middle, which differ least, are left out. */
const MOST_BARS = 400
/** Of the room of a bar, the part that it fills. */
const FILLED = 0.8
const LETTERS = 28

/**
 * Draws a bar for each question, from the one's best to the other's.
 *
 * @param gains above 0 where the first one was closer, in falling order; at least one.
 * @param names of the two.
 */
export function differenceBars(gains: readonly number[], names: readonly [string, string]): Html {
  const shown = mostDifferent(gains)
  const reach = Math.max(1e-6, ...shown.map(Math.abs))
  const y: Axis = { least: -reach, most: reach, from: BOTTOM, to: TOP }
  const x: Axis = { least: 0, most: shown.length, from: LEFT, to: RIGHT }
  const step = stepFor(2 * reach, 4)
  const zero = place(y, 0)
  const width = Number(Math.max(0.5, ((RIGHT - LEFT) / shown.length) * FILLED).toFixed(2))
  const bars = (isFirst: boolean) =>
    shown
      .flatMap((gain, index) =>
        gain !== 0 && gain > 0 === isFirst ? `M${place(x, index + 0.5)} ${zero}V${endOf(y, gain, zero)}` : [],
      )
      .join('')
  const [first, second] = [gains.filter((gain) => gain > 0).length, gains.filter((gain) => gain < 0).length]
  const [one, other] = names.map(short)
  return html`<svg class="chart square" viewBox="0 0 ${CHART_WIDTH} ${HEIGHT}" role="img" aria-labelledby="difference-title" aria-describedby="difference-about">
<title id="difference-title">${one} was closer on ${counted(first, 'question')}, ${other} on ${second}</title>
<desc id="difference-about">Bars upward, where ${one} was closer, by up to ${plain(Math.max(0, gains[0]!))}; bars downward, where ${other} was closer, by up to ${plain(Math.max(0, -gains.at(-1)!))}.</desc>
<g class="grid">${multiples(-reach, reach, step).map((value) => html`<path d="M${LEFT} ${place(y, value)}H${RIGHT}"/>`)}</g>
<path class="gains" stroke-width="${width}" d="${bars(true)}"/><path class="gains second" stroke-width="${width}" d="${bars(false)}"/>
<path class="zero" d="M${LEFT} ${zero}H${RIGHT}"/>
<g class="tick" text-anchor="end">${multiples(-reach, reach, step).map((value) => html`<text x="${LEFT - 6}" y="${place(y, value) + 4}">${plain(Math.abs(value), decimalsOf(step))}</text>`)}</g>
<text class="label" x="${RIGHT}" y="16" text-anchor="end">↑ ${one} was closer</text>
<text class="label" x="${LEFT}" y="${HEIGHT - 6}">↓ ${other} was closer</text>
</svg>`
}

/** Keeps as many of each end as fit, in their order. */
function mostDifferent(gains: readonly number[]): readonly number[] {
  if (gains.length <= MOST_BARS) return gains
  const kept = gains.toSorted((a, b) => Math.abs(b) - Math.abs(a)).slice(0, MOST_BARS)
  return kept.sort((a, b) => b - a)
}

/** A bar that is there can be seen. */
function endOf(y: Axis, gain: number, zero: number): number {
  const end = place(y, gain)
  return gain > 0 ? Math.min(end, zero - 1) : Math.max(end, zero + 1)
}

function short(name: string): string {
  const letters = Array.from(name)
  return letters.length > LETTERS ? `${letters.slice(0, LETTERS - 1).join('')}…` : name
}

type Curve = EntityMetrics['calibration_curve']

interface Calibrated {
  curve: Curve
  /** As the legend shows it, and as text. */
  name: Html
  plainName: string
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
  probability: number
  happened: number
  count: number
}

function pointsOf(curve: Curve): Point[] {
  return curve
    .filter(({ count }) => count >= LEAST_COUNT)
    .map(({ mean_probability: probability, observed_frequency: happened, count }) => ({
      probability: probability!,
      happened: happened!,
      count,
    }))
}

/**
 * Draws the reliability curves of several in one picture, told apart by marks and dashes and not by colour
 * alone. Nothing where nobody has a group that is large enough.
 */
export function calibrationTogether(all: readonly Calibrated[]): HtmlPart {
  const lines = all.map(({ curve, ...entity }, index) => ({ ...entity, index, points: pointsOf(curve) }))
  if (lines.every(({ points }) => points.length === 0)) return undefined
  const drawn = lines.filter(({ points }) => points.length > 0)
  const descriptions = drawn.map(({ plainName, points }) => `${plainName}: ${points.map(wordsOf).join(', ')}`)
  const [left, right, bottom, top] = [X.from, X.to, Y.from, Y.to]
  return html`<h2 id="calibration">When they say 70\u00a0%, does it happen 7 times in 10?</h2>
<div class="columns"><figure><svg class="chart square" viewBox="0 0 ${CHART_WIDTH} 366" role="img" aria-labelledby="together-title" aria-describedby="together-about">
<title id="together-title">What was said, and how often it happened</title>
<desc id="together-about">${descriptions.join('; ')}.</desc>
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
  const at = points.map(({ probability, happened }) => `${place(X, probability)} ${place(Y, happened)}`)
  if (at.length === 0) return undefined
  return html`<g class="who who-${index + 1}"><path class="curve" d="M${at.join('L')}"/>${at.map((where) => html`<path d="${MARKS[index]}" transform="translate(${where})"/>`)}</g>
`
}

function wordsOf({ probability, happened, count }: Point): string {
  return `said ${percent(probability)}, happened ${percent(happened)} of ${count}`
}
