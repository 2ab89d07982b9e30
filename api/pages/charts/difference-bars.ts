// Draws by how much one of two was closer on each question, in bars from the one's best to the other's.
import { type Html, html } from '../html.ts'
import { counted, plain } from '../numbers.ts'
import { CHART_WIDTH, type Axis, decimalsOf, multiples, place, stepFor } from './axis.ts'

const [LEFT, RIGHT] = [40, 352]
const [TOP, BOTTOM] = [26, 186]
const HEIGHT = 212
/** More bars would be thinner than a line; those in the middle, which differ least, are left out. */
const MOST_BARS = 400
/** Of the room of a bar, the part that it fills. */
const FILLED = 0.8
const LETTERS = 28

/**
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
