// The reliability diagram: plots how often yes came against what closing forecasts said, with the
// recalibration curve.
import type { EntityMetrics } from '../../../schemas/metrics.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { counted, percent, orNone } from '../wording.ts'
import { type Axis, CHART_WIDTH, QUARTERS, place } from './axis.ts'

type CalibrationBin = EntityMetrics['calibration_curve'][number]
type RecalibrationBlock = NonNullable<EntityMetrics['corp']>[number]

const X: Axis = { least: 0, most: 1, from: 48, to: 344 }
const Y: Axis = { least: 0, most: 1, from: 320, to: 24 }
const COUNTS_BASE = 364
const COUNTS_HEIGHT = 34
const LEAST_RADIUS = 3
const MORE_RADIUS = 4
/** With fewer forecasts, luck could explain nearly everything. */
const LEAST_FORECASTS = 25

/** A bin with at least one forecast. */
type FilledBin = { [Field in keyof CalibrationBin]: number }

const filled = (curve: readonly CalibrationBin[]) => curve.filter(({ count }) => count > 0) as FilledBin[]

/**
 * The probability that a forecaster who is perfectly calibrated is said to be off, over all groups together:
 * each is tested at an equal part of it (Bonferroni).
 */
const LEVEL = 0.05

/**
 * Whether a group is off: by chance alone a group lies this far to its side in less than half of `level` of
 * all cases. The tails are those of the binomial distribution at the mean forecast, which are wider than at
 * the single forecasts.
 */
function isOff(
  { count, mean_probability: probability, observed_frequency: happened }: FilledBin,
  level: number,
) {
  const events = Math.round(count * happened)
  return Math.min(atMost(events, count, probability), atLeast(events, count, probability)) < level / 2
}

/** Says in one sentence what the diagram shows. */
export function reliabilityResult(curve: readonly CalibrationBin[]): string {
  const bins = filled(curve)
  const off = bins.filter((bin) => isOff(bin, LEVEL / bins.length))
  const total = bins.reduce((sum, { count }) => sum + count, 0)
  if (total < LEAST_FORECASTS) return `${counted(total, 'forecast')}: too few to tell.`
  const groups = counted(bins.length, 'group')
  if (off.length === 0) {
    return `What was said and how often it happened differ by no more than luck explains, in ${
      bins.length === 1 ? 'the one group' : `all ${groups}`
    } of forecasts.`
  }
  const where = off.map(({ lower, upper, mean_probability: probability, observed_frequency: happened }) => {
    return `from ${percent(lower)} to ${percent(upper)} it happened ${happened > probability ? 'more' : 'less'} often than said`
  })
  const detail = off.length > 3 ? '' : `: ${where.join(', ')}`
  return `In ${off.length} of ${groups} of forecasts, what was said and how often it happened differ by more than luck explains${detail}. Luck alone brings that about in at most ${percent(LEVEL)} of cases.`
}

/** @param curve with at least one bin that is not empty. */
export function reliabilityDiagram(
  curve: readonly CalibrationBin[],
  corp: readonly RecalibrationBlock[],
): Html {
  const bins = filled(curve)
  const most = Math.max(...bins.map(({ count }) => count))
  const [left, right, bottom, top] = [X.from, X.to, Y.from, Y.to]
  return html`<svg class="chart square" viewBox="0 0 ${CHART_WIDTH} 406" role="img" aria-labelledby="reliability-title" aria-describedby="reliability-about">
<title id="reliability-title">${reliabilityResult(curve)}</title>
<desc id="reliability-about">${bins.map(saying).join('; ')}.</desc>
<g class="grid">${QUARTERS.map((share) => html`<path d="M${place(X, share)} ${top}V${bottom}M${left} ${place(Y, share)}H${right}"/>`)}</g>
<path class="ideal" d="M${left} ${bottom}L${right} ${top}"/>
<g class="wilson">${bins.map((bin) => html`<path d="M${place(X, bin.mean_probability)} ${place(Y, bin.wilson_lower)}V${place(Y, bin.wilson_upper)}"/>`)}</g>
<path class="corp" d="${corpPath(corp)}"/>
<g class="dots">${bins.map((bin) => dot(bin, most))}</g>
<g class="bars">${bins.map((bin) => bar(bin, most))}</g>
<g class="tick" text-anchor="end">${QUARTERS.map((share) => html`<text x="${left - 6}" y="${place(Y, share) + 4}">${percent(share)}</text>`)}<text x="${left - 6}" y="${COUNTS_BASE}">count</text></g>
<g class="tick" text-anchor="middle">${QUARTERS.map((share) => html`<text x="${place(X, share)}" y="${COUNTS_BASE + 18}">${percent(share)}</text>`)}</g>
<text class="label" x="4" y="12">how often it happened</text>
<text class="label" text-anchor="middle" x="${(left + right) / 2}" y="${COUNTS_BASE + 37}">what was said last</text>
</svg>`
}

function saying({ mean_probability: probability, observed_frequency: happened, count }: FilledBin): string {
  return `said ${percent(probability)}, happened ${percent(happened)} of ${count}`
}

/** The area of a dot grows with the number of forecasts. */
function dot(bin: FilledBin, most: number): Html {
  const radius = (LEAST_RADIUS + MORE_RADIUS * Math.sqrt(bin.count / most)).toFixed(1)
  return html`<circle cx="${place(X, bin.mean_probability)}" cy="${place(Y, bin.observed_frequency)}" r="${radius}"><title>${saying(bin)}</title></circle>`
}

function bar({ lower, upper, count }: FilledBin, most: number): Html {
  const [from, to] = [place(X, lower) + 1, place(X, upper) - 1]
  const height = Math.max(1, (COUNTS_HEIGHT * count) / most).toFixed(1)
  return html`<rect x="${from.toFixed(1)}" width="${(to - from).toFixed(1)}" y="${(COUNTS_BASE - Number(height)).toFixed(1)}" height="${height}"><title>${count}</title></rect>`
}

/** Draws a level line over each block, and a straight line from one block to the next. */
function corpPath(corp: readonly RecalibrationBlock[]): string {
  return corp
    .map(({ lower, upper, frequency }, index) => {
      const start = `${place(X, lower)} ${place(Y, frequency)}`
      return `${index === 0 ? 'M' : 'L'}${start}H${place(X, upper)}`
    })
    .join('')
}

/** Writes two shares as 10–20 %, so that a row is no wider than a phone, and as 89–99.7 % near the end. */
function span(from: number, to: number): string {
  const whole = percent(to)
  const end = /^\d/.test(whole) ? whole : percent(to, 1)
  return `${(from * 100).toFixed(0)}${/^\d/.test(end) ? '–' : ' to '}${end}`
}

/** The numbers of the diagram. */
export function reliabilityTable(curve: readonly CalibrationBin[]): HtmlPart {
  return html`<table><caption>The same in numbers, with 95\u00a0% intervals</caption>
<thead><tr><th scope="col" class="n">said</th><th scope="col" class="n">count</th><th scope="col" class="n">happened</th><th scope="col" class="n">interval</th></tr></thead>
<tbody>
${curve.map(
  ({ lower, upper, count, observed_frequency: happened, wilson_lower: least, wilson_upper: greatest }) =>
    html`<tr><th scope="row" class="n">${span(lower, upper)}</th><td class="n">${count}</td><td class="n">${orNone(happened, percent)}</td><td class="n">${
      least === null || greatest === null ? '–' : span(least, greatest)
    }</td></tr>\n`,
)}</tbody></table>`
}

/** The probability of at most `count` of `n` independent events, each of the probability p. */
export function atMost(count: number, n: number, p: number): number {
  if (count >= n) return 1
  if (p <= 0) return 1
  if (p >= 1) return 0
  const odds = Math.log(p) - Math.log1p(-p)
  let logarithm = n * Math.log1p(-p)
  let sum = Math.exp(logarithm)
  for (let k = 1; k <= count; k++) {
    logarithm += Math.log((n - k + 1) / k) + odds
    sum += Math.exp(logarithm)
  }
  return Math.min(1, sum)
}

/** The probability of at least `count` of `n` independent events, each of the probability p. */
export function atLeast(count: number, n: number, p: number): number {
  return atMost(n - count, n, 1 - p)
}
