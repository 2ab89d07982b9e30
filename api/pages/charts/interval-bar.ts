// Draws a skill and its interval in a table's row. Every bar has the same scale, so that readers can compare
// rows.
import { type Html, html } from '../html.ts'
import { signed } from '../numbers.ts'

const WIDTH = 120
const HEIGHT = 16
const MIDDLE = HEIGHT / 2
const DOT = 3.5
/** The skill at each end of the bar. An interval that reaches beyond an end gets an arrow there. */
const REACH = 0.5
const INSET = 5

const clamped = (skill: number) => Math.min(REACH, Math.max(-REACH, skill))

/** Returns the coordinate of a skill, in units of the view box. */
export function barX(skill: number): number {
  const half = WIDTH / 2 - INSET
  return Number((WIDTH / 2 + (clamped(skill) / REACH) * half).toFixed(1))
}

/**
 * Draws 120 × 16 with a tick at 0, the middle of the field, and a dot at the skill. The interval may be
 * missing.
 */
export function intervalBar(skill: number, interval: { lower: number; upper: number } | null): Html {
  const range = interval && `, between ${signed(interval.lower)} and ${signed(interval.upper)}`
  const [left, right] = interval ? [interval.lower, interval.upper].map(barX) : []
  return html`<svg
    class="interval-bar"
    width="${WIDTH}"
    height="${HEIGHT}"
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
    role="img"
  >
    <title>skill ${signed(skill)}${range}</title>
    <desc>The tick is 0, the middle of the field; the ends are −0.5 and +0.5.</desc>
    <path class="axis" d="M0 ${MIDDLE}H${WIDTH}" />
    <path class="zero" d="M${WIDTH / 2} 1V${HEIGHT - 1}" />
    ${
      interval &&
      html`<path
          class="span"
          d="M${left} ${MIDDLE}H${right}"
        />${interval.lower < -REACH && arrow(left!, -1)}${interval.upper > REACH && arrow(right!, 1)}`
    }
    <circle class="dot" cx="${barX(skill)}" cy="${MIDDLE}" r="${DOT}" />
  </svg>`
}

function arrow(x: number, direction: 1 | -1): Html {
  return html`<path class="beyond" d="M${x + direction * INSET} ${MIDDLE}l${-direction * INSET} -5v10z" />`
}
