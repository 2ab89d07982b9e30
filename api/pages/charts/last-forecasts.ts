// The histogram of the last forecasts on a settled question, with their average and the outcome at its end.
import { type Html, html } from '../html.ts'
import { counted, grouped, percent } from '../numbers.ts'
import { QUARTERS, CHART_WIDTH, type Axis, multiples, place, stepFor } from './axis.ts'

const TOP = 40
const BOTTOM = 200
const X: Axis = { least: 0, most: 1, from: 44, to: 342 }
/** Between two bars. */
const GAP = 0.6

export interface LastForecasts {
  average: number
  /** How many said something in each of as many equal parts from 0 to 1. */
  counts: readonly number[]
}

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
