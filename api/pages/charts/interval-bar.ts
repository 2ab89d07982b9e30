// Draws a skill and its interval in a table's row, and how the skill came about. All rows have one scale, so
// that readers can compare them.
// The numbers stand beside the bar as text, so screen readers skip it.
import { type Axis, decimalsOf, place } from './axis.ts'
import { type Html, html } from '../html.ts'
import { signed } from '../wording.ts'

interface Bounds {
  lower: number
  upper: number
}

interface Frame {
  className: string
  width: number
  height: number
  dot: number
}

const BOARD: Frame = { className: 'bar', width: 360, height: 24, dot: 5 }
const SMALL: Frame = { className: 'bar small', width: 120, height: 20, dot: 3.5 }
/** The height of the axis above the bars of a board. */
const AXIS_HEIGHT = 34
/** The room at each end of the frame, which an arrow takes up. */
const INSET = 8

/** The skills at the ends of an axis, from which a page takes the least that holds all its bars. */
const REACHES = [0.2, 0.5, 1] as const

/** Returns the skill at the right end of the axis of a page; that at the left end is its negative. */
export function reachOf(
  rows: Iterable<{ skill: number | null; bounds: Bounds | null }>,
): (typeof REACHES)[number] {
  const ends = [...rows].flatMap(({ skill, bounds }) => [skill ?? 0, bounds?.lower ?? 0, bounds?.upper ?? 0])
  return REACHES.find((reach) => ends.every((end) => Math.abs(end) <= reach)) ?? 1
}

function axisOf({ width }: Frame, reach: number): Axis {
  return { least: -reach, most: reach, from: INSET, to: width - INSET }
}

/** Draws the axis of a board, with a number at each line of its bars. */
export function boardAxis(reach: number): Html {
  const { width } = BOARD
  const axis = axisOf(BOARD, reach)
  const decimals = decimalsOf(reach / 2)
  const label = (value: number) =>
    html`<text x="${place(axis, value)}" y="${AXIS_HEIGHT - 4}">${signed(value, decimals)}</text>`
  return html`<svg class="bar axis" viewBox="0 0 ${width} ${AXIS_HEIGHT}" aria-hidden="true"><text class="least" x="0" y="12">← worse</text><text x="${width / 2}" y="12">the average</text><text class="most" x="${width}" y="12">better →</text><text class="least" x="0" y="${AXIS_HEIGHT - 4}">${signed(-reach, decimals)}</text>${label(-reach / 2)}<text x="${width / 2}" y="${AXIS_HEIGHT - 4}">0</text>${label(reach / 2)}<text class="most" x="${width}" y="${AXIS_HEIGHT - 4}">${signed(reach, decimals)}</text></svg>`
}

/** Draws a row below `boardAxis`. */
export function boardBar(skill: number, bounds: Bounds | null, reach: number): Html {
  return drawing(BOARD, reach, skill, bounds)
}

/** Draws a bar of its own, from −1 to +1. */
export function intervalBar(skill: number, bounds: Bounds | null): Html {
  return drawing(SMALL, 1, skill, bounds)
}

/** In pixels, as in the style sheet, so that it needs no view box. */
const SPARK = { width: 80, height: 24 }

/** Draws how a skill came about, upwards from `-reach` to `reach`; undefined for fewer than two points. */
export function sparkline(trend: readonly number[], reach: number): Html | undefined {
  if (trend.length < 2) return undefined
  const { width, height } = SPARK
  const up: Axis = { least: -reach, most: reach, from: height - 1, to: 1 }
  const along: Axis = { least: 0, most: trend.length - 1, from: 1, to: width - 1 }
  const points = trend.map(
    (skill, at) => [Math.round(place(along, at)), Math.round(place(up, skill))] as const,
  )
  // Steps take half the bytes of coordinates.
  const steps = points.slice(1).map(([x, y], before) => `${x - points[before]![0]} ${y - points[before]![1]}`)
  const line = `M${points[0]!.join(' ')}l${steps.join(' ').replaceAll(' -', '-')}`
  return html`<svg class="spark" aria-hidden="true"><path d="${line}"/></svg>`
}

/** A dot or an end that is out of reach becomes an arrow, with the number of such a dot beside it. */
function drawing(frame: Frame, reach: number, skill: number, bounds: Bounds | null): Html {
  const { className, width, height, dot } = frame
  const axis = axisOf(frame, reach)
  const middle = height / 2
  const x = (value: number) => place(axis, value)
  const grid = [-reach, -reach / 2, reach / 2, reach].map((value) => `M${x(value)} 0V${height}`).join('')
  const least = Math.min(skill, bounds?.lower ?? skill)
  const most = Math.max(skill, bounds?.upper ?? skill)
  const isShown = bounds && bounds.lower < reach && bounds.upper > -reach
  return html`<svg class="${className}" viewBox="0 0 ${width} ${height}" aria-hidden="true"><path class="grid" d="${grid}"/><path class="zero" d="M${x(0)} 0V${height}"/>${
    isShown && html`<path class="span" d="M${x(bounds.lower)} ${middle}H${x(bounds.upper)}"/>`
  }${least < -reach && html`<path class="beyond" d="M0 ${middle}l${INSET}-5v10z"/>`}${
    most > reach && html`<path class="beyond" d="M${width} ${middle}l-${INSET}-5v10z"/>`
  }${
    Math.abs(skill) <= reach
      ? html`<circle cx="${x(skill)}" cy="${middle}" r="${dot}"/>`
      : html`<text class="${skill < 0 ? 'least' : 'most'}" x="${skill < 0 ? INSET + 2 : width - INSET - 2}" y="${middle - 4}">● ${signed(skill)}</text>`
  }</svg>`
}
