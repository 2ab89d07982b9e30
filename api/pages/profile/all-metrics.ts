// Lists every published number of an entity that no chart shows, each with its one-line meaning from the
// catalogue.
import {
  ENTITY_COLUMNS,
  ENTITY_METRICS,
  type EntityMetricName,
  type EntityMetrics,
} from '../../../schemas/metrics.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { plain, signed } from '../numbers.ts'
import { scrolling } from '../table.ts'
import type { Payloads } from './subject.ts'

/** The metrics that a chart and its table show. */
const SHOWN: ReadonlySet<string> = new Set<EntityMetricName>(['calibration_curve', 'corp'])

export function allMetrics({ metrics, rankings, advanced_metrics: advanced }: Payloads): Html {
  const values: Record<string, unknown> = { ...rankings, ...metrics, ...advanced }
  const names = (Object.keys(ENTITY_METRICS) as EntityMetricName[]).filter(
    (name) => Object.hasOwn(values, name) && !SHOWN.has(name),
  )
  return html`<details id="numbers" class="screen"><summary>For experts: all numbers as in the API</summary>
${scrolling(
  'All numbers',
  html`<table class="numbers"><thead><tr><th scope="col">number</th><th scope="col">value</th></tr></thead>
<tbody>
${names.flatMap((name) => metricRows(name, values[name]))}</tbody></table>`,
)}
</details>`
}

function metricRows(name: EntityMetricName, value: unknown): Html[] {
  const { about, range } = ENTITY_METRICS[name]
  if (name === 'calibration' && value !== null) {
    return Object.entries(value as Record<string, number>).map(([part, number]) => {
      const column = ENTITY_COLUMNS.find(({ metric, field }) => metric === name && field === part)
      return row(part === 'brier' ? 'closing_brier' : part, plain(number, 6), column!.about)
    })
  }
  if (name === 'recent') {
    return Object.entries(value as EntityMetrics['recent']).map(([part, of]) =>
      row(`recent.${part}`, written(of, part !== 'questions'), about),
    )
  }
  return [row(name, written(value, range[0] === null), about)]
}

function row(name: string, value: string, about: string): Html {
  return html`<tr><th scope="row"><code>${name}</code> <span class="mute">${withCode(about)}</span></th><td>${value}</td></tr>\n`
}

/** Shows the text between backticks as code. */
function withCode(text: string): HtmlPart {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))
}

/** Writes a value with all of its published decimals. */
function written(value: unknown, hasSign: boolean): string {
  if (value === null) return '–'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return value
  if (typeof value === 'number')
    return Number.isInteger(value) ? plain(value, 0) : hasSign ? signed(value, 6) : plain(value, 6)
  const { lower, upper, level } = value as { lower: number; upper: number; level?: number }
  const at = level === undefined ? '' : ` at ${plain(level, 6)}`
  return `${written(lower, hasSign)} to ${written(upper, hasSign)}${at}`
}
