// The numbers of a profile: the notes that a reader needs before them, the first ones with what each means,
// and all.
import type { ReplacedOutcome } from '../../../schemas/manifests.ts'
import {
  type EntityMetricName,
  type EntityMetrics,
  ENTITY_COLUMNS,
  ENTITY_METRICS,
} from '../../../schemas/metrics.ts'
import { DAY_MS } from '../../../schemas/values.ts'
import { notSure } from '../charts/skill-over-time.ts'
import { type Html, type HtmlPart, html, scrolling } from '../html.ts'
import { type Site, questionPath, linkTo } from '../site.ts'
import { term } from '../terms.ts'
import {
  grouped,
  percent,
  dayOf,
  endOf,
  named,
  counted,
  plain,
  signed,
  interval,
  orNone,
  places,
} from '../wording.ts'
import { type Payloads, type QuestionScore, type TitleRules, retiredAt, kindOf, levelOf } from './subject.ts'

const SILENCE_MS = 90 * DAY_MS

/** @param rows all questions of the entity. */
export function notes(
  site: Site,
  payloads: Payloads,
  rules: TitleRules,
  rows: readonly QuestionScore[],
  replaced: readonly ReplacedOutcome[],
): HtmlPart {
  const all = [
    imported(site, payloads),
    everyoneIsAVoice(payloads, rules),
    pending(payloads),
    overdue(payloads),
    ended(payloads),
    corrected(site, payloads, rows, replaced),
  ]
  return all.map((note) => note && html`<div class="state">${note}</div>\n`)
}

function imported(site: Site, { metrics: { witnessed_share } }: Payloads): Html | undefined {
  if (witnessed_share === null || witnessed_share === 1) return undefined
  if (witnessed_share === 0) {
    return html`<p>The operator ${term(site, 'imported', 'imported')} all of these forecasts: this service did not see them being made.</p>`
  }
  return html`<p>This service saw the forecasts being made on ${percent(witnessed_share)} of the questions. The operator ${term(site, 'imported', 'imported')} others.</p>`
}

function pending({ verification: { pending_questions: count } }: Payloads): Html | undefined {
  if (count === 0) return undefined
  return count === 1
    ? html`<p>1 question has an outcome and has not closed yet: it counts from its close on.</p>`
    : html`<p>${grouped(count)} questions have an outcome and have not closed yet: each counts from its close on.</p>`
}

/** An operator who never resolves what came out as no is seen here. */
function overdue({ profile: { overdue_forecasts: count } }: Payloads): Html | undefined {
  if (count === 0) return undefined
  const are = count === 1 ? '1 is overdue: it' : `${grouped(count)} are overdue: they`
  return html`<p>Of the questions answered here, ${are} closed without an outcome.</p>`
}

function everyoneIsAVoice({ verification }: Payloads, { certified_questions }: TitleRules): Html | undefined {
  if (verification.voice_rule !== 'everyone') return undefined
  return html`<p>Too few people and owners take part, so that everyone is measured against everyone: a certificate then takes a market’s price on ${certified_questions} questions.</p>`
}

function ended(payloads: Payloads): Html | undefined {
  const { profile } = payloads
  const retired = retiredAt(payloads)
  if (retired !== null) {
    return html`<p>Retired on ${dayOf(retired)}: no more forecasts are made, and there is no place. The record stays.</p>`
  }
  const { last_forecast_at: last, as_of: asOf } = profile
  if (last === null || Date.parse(asOf) - Date.parse(last) <= SILENCE_MS) return undefined
  return html`<p>Silent since ${dayOf(last)}, for more than 90 days: the numbers are of the time before.</p>`
}

function corrected(
  site: Site,
  { verification: { release } }: Payloads,
  rows: readonly QuestionScore[],
  replaced: readonly ReplacedOutcome[],
): Html | undefined {
  const rowById = new Map(rows.map((row) => [row.question_id, row]))
  const own = replaced.filter(({ questionId }) => rowById.has(questionId))
  if (own.length === 0) return undefined
  const changes = own.map(({ questionId, from, to }) => {
    const { title, outcome } = rowById.get(questionId)!
    const change =
      to === null
        ? `${outcome} at another time`
        : `${to === 'open' ? 'unresolved again' : to}, no longer ${from}`
    return html`<a href="${linkTo(site, questionPath(questionId))}">${title === null ? endOf(questionId) : named(title)}</a>: ${change}`
  })
  const begin = `Release ${release} replaces the outcome of`
  if (changes.length === 1) return html`<p>${begin} one of these questions. ${changes}.</p>`
  return html`<p>${begin} ${changes.length} of these questions:</p>
<ul>
${changes.map((change) => html`<li>${change}</li>\n`)}</ul>`
}

/**
 * Nothing without a settled question.
 *
 * @param boardSize how many have a place with it, itself among them; 0 if it has none.
 */
export function facts(site: Site, payloads: Payloads, rules: TitleRules, boardSize: number): HtmlPart {
  const { metrics } = payloads
  if (metrics.resolved_questions === 0) return undefined
  return html`<dl class="facts">
${fact(term(site, 'skill', 'Skill'), orNone(metrics.skill, signed), skillNote(metrics))}
${overFact(site, 'median-skill', 'Skill over the median', metrics.median_skill, metrics.median_skill_interval)}
${metrics.priced_questions > 0 && overFact(site, 'market-skill', 'Skill over the market', metrics.market_skill, metrics.market_skill_interval)}
${placeFact(site, payloads, rules, boardSize)}
${fact('Questions', grouped(metrics.resolved_questions), questionsNote(site, metrics))}
${answeredFact(site, metrics)}
${evidenceFact(site, metrics, rules)}
${coverageFact(site, metrics)}
${fact(term(site, 'brier', 'Error (Brier)'), orNone(metrics.brier, plain), '0 is perfect, 0.25 is always 50\u00a0%')}
${fact(term(site, 'calibration', 'Calibration'), orNone(metrics.expected_calibration_error, inPoints), 'percentage points off on average; 0 is perfect')}
</dl>`
}

/** Writes a share in percentage points. */
function inPoints(share: number): string {
  return plain(share * 100, 1)
}

function fact(name: HtmlPart, value: string, note: HtmlPart): Html {
  return html`<div><dt>${name}</dt><dd>${value}<small>${note}</small></dd></div>`
}

function skillNote({
  skill,
  skill_interval: range,
  contested_questions: questions,
}: Payloads['metrics']): string {
  if (skill === null) return 'no shared question yet'
  if (range === null) return notSure(questions)
  return `${interval(range)}, ${levelOf(range)} sure`
}

function placeFact(site: Site, payloads: Payloads, rules: TitleRules, boardSize: number): Html {
  const name = html`${term(site, 'place', 'Place')} among ${kindOf(payloads)}s`
  const { rank, rank_interval: range, contested_questions: has, pool } = payloads.rankings
  if (rank === null || range === null) {
    if (retiredAt(payloads) !== null) return fact(name, '–', 'retired: places are for those who take part')
    return fact(name, '–', `${rules.eligible_questions - has} more shared questions to go`)
  }
  const where = pool !== null && html`in the ${term(site, 'pool', 'pool')} ${endOf(pool)}; `
  return fact(
    name,
    `${places(range)} of ${grouped(boardSize)}`,
    html`${where}${sureOf(payloads, range, boardSize)}`,
  )
}

/** Says how sure a place is. */
function sureOf(
  { rankings: { rank }, metrics }: Payloads,
  { lower, upper }: { lower: number; upper: number },
  boardSize: number,
): string {
  if (boardSize === 1) return 'nobody else has a place there'
  if (lower < upper) {
    if (metrics.skill_interval === null) return 'could be any place: all questions count as one event'
    return `too close to call; number ${grouped(rank!)} by skill alone`
  }
  return upper === boardSize ? 'the last, clearly' : 'clearly apart from all others'
}

/** The skill over another yardstick than the average. */
function overFact(
  site: Site,
  key: 'median-skill' | 'market-skill',
  name: string,
  skill: number | null,
  range: Payloads['metrics']['skill_interval'],
): Html {
  const note = range === null ? 'no interval' : `${interval(range)}, ${levelOf(range)} sure`
  return fact(term(site, key, name), orNone(skill, signed), note)
}

function answeredFact(site: Site, metrics: Payloads['metrics']): HtmlPart {
  const { answered_share: answered, offered_questions: offered } = metrics
  if (answered === null) return undefined
  const note = `of the ${counted(offered, 'question')} that were open to it`
  return fact(term(site, 'answered', 'Answered'), percent(answered), note)
}

function evidenceFact(site: Site, { evidence }: Payloads['metrics'], rules: TitleRules): Html {
  const note = `a certificate takes ${rules.least_evidence} at least`
  return fact(term(site, 'evidence', 'Evidence'), plain(evidence, 1), note)
}

function coverageFact(site: Site, { coverage }: Payloads['metrics']): Html {
  const note = 'of the time of the shared questions it was judged; 75\u00a0% at most'
  return fact(term(site, 'coverage', 'Coverage'), orNone(coverage, percent), note)
}

function questionsNote(site: Site, { contested_questions: contested, forecasts }: Payloads['metrics']): Html {
  return html`${grouped(contested)} ${term(site, 'shared-questions', 'shared')} with others; ${counted(forecasts, 'forecast')}`
}

/** The metrics that a chart and its table show. */
const SHOWN: ReadonlySet<string> = new Set<EntityMetricName>(['calibration_curve', 'corp'])

/** Lists every published number that no chart shows, each with its meaning from the catalogue. */
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
      return metricRow(part === 'brier' ? 'closing_brier' : part, plain(number, 6), column!.about)
    })
  }
  if (name === 'recent') {
    return Object.entries(value as EntityMetrics['recent']).map(([part, partValue]) =>
      metricRow(`recent.${part}`, written(partValue, part !== 'questions'), about),
    )
  }
  return [metricRow(name, written(value, range[0] === null), about)]
}

function metricRow(name: string, value: string, about: string): Html {
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
