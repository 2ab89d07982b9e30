// Notes that a reader needs before the numbers: who saw the forecasts, whether they go on, and what was
// corrected.
import type { ReplacedOutcome } from '../../../schemas/manifests.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { questionPath } from '../links.ts'
import { grouped, percent } from '../numbers.ts'
import { type Site, linkTo } from '../site.ts'
import { term } from '../terms.ts'
import { dayOf, endOf, named } from '../wording.ts'
import { type Payloads, type QuestionScore, type TitleRules, retiredAt } from './subject.ts'
import { DAY_MS } from '../../../schemas/values.ts'

const SILENCE_MS = 90 * DAY_MS

/** @param rows all questions of the entity. */
export function notes(
  site: Site,
  of: Payloads,
  rules: TitleRules,
  rows: readonly QuestionScore[],
  replaced: readonly ReplacedOutcome[],
): HtmlPart {
  const all = [
    imported(site, of),
    everyoneIsAVoice(of, rules),
    pending(of),
    overdue(of),
    ended(of),
    corrected(site, of, rows, replaced),
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

function ended(of: Payloads): Html | undefined {
  const { profile } = of
  const retired = retiredAt(of)
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
  const asked = new Map(rows.map((row) => [row.question_id, row]))
  const own = replaced.filter(({ questionId }) => asked.has(questionId))
  if (own.length === 0) return undefined
  const changes = own.map(({ questionId, from, to }) => {
    const { title, outcome } = asked.get(questionId)!
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
