// The questions of an entity: all in the order that the reader chooses, some in a table, and why each counts
// or not.
import { callPath, profilePath, questionTablePath } from '../../../schemas/entity-paths.ts'
import { type EntityQuestionOrder, ENTITY_QUESTION_ORDERS } from '../../../schemas/requests.ts'
import { NANO } from '../../../schemas/values.ts'
import type { AgentReport, ReportedQuestion } from '../../../schemas/worked-out.ts'
import { type Html, type HtmlPart, html, scrolling } from '../html.ts'
import { page, pager, releaseLine } from '../layout.ts'
import { type Site, questionPath, linkTo, withQuery } from '../site.ts'
import { term } from '../terms.ts'
import { percent, plain, dayOf, endOf, named, orNone, counted, signed } from '../wording.ts'
import {
  type QuestionScore,
  type Payloads,
  headingOf,
  idOf,
  kindOf,
  plainName,
  questionsOf,
} from './subject.ts'

/** The words for each order. */
const ORDER_WORDS: Record<EntityQuestionOrder, { link: string; says: string }> = {
  newest: { link: 'newest', says: 'newest first' },
  worst: { link: 'worst', says: 'worst against the others first' },
  best: { link: 'best', says: 'best against the others first' },
  surprising: { link: 'most surprising', says: 'most surprising to the others first' },
}

/** Returns the Brier score of the others’ average over the judged time; null where it is not shared. */
function othersError({ contested, average_brier, judged_coverage }: QuestionScore): number | null {
  return contested ? average_brier / (NANO * judged_coverage) : null
}

/** Returns by how much the others’ average erred more over that time; likewise null. */
export function gainOf({
  contested,
  average_brier,
  judged_brier,
  judged_coverage,
}: QuestionScore): number | null {
  return contested ? (average_brier - judged_brier) / (NANO * judged_coverage) : null
}

const ORDER_KEYS: Record<Exclude<EntityQuestionOrder, 'newest'>, (score: QuestionScore) => number | null> = {
  worst: (score) => gainOf(score),
  best: (score) => negative(gainOf(score)),
  surprising: (score) => negative(othersError(score)),
}

/**
 * Puts scores that come newest first in another order. Scores without its value come last, and equal ones
 * stay newest first.
 */
export function inOrder(newestFirst: readonly QuestionScore[], order: EntityQuestionOrder): QuestionScore[] {
  if (order === 'newest') return [...newestFirst]
  const keyed = newestFirst.map((score) => ({ score, key: ORDER_KEYS[order](score) ?? Infinity }))
  return keyed.sort((a, b) => (a.key === b.key ? 0 : a.key - b.key)).map(({ score }) => score)
}

function negative(value: number | null): number | null {
  return value === null ? null : -value
}

export function questionTable(site: Site, caption: Html, rows: readonly QuestionScore[]): Html {
  return scrolling(
    'Questions',
    html`<table><caption>${caption}</caption>
<thead><tr><th scope="col">question</th><th scope="col">outcome</th><th scope="col" class="n">said last</th><th scope="col" class="n">vs others</th><th scope="col" class="n">${term(site, 'brier', 'error')}</th><th scope="col" class="n">${term(site, 'others', 'others')}</th><th scope="col" class="n">${term(site, 'coverage', 'covered')}</th><th scope="col" class="n">resolved</th></tr></thead>
<tbody>
${rows.map((row) => questionRow(site, row))}</tbody></table>`,
  )
}

function questionRow(site: Site, row: QuestionScore): Html {
  const {
    question_id: id,
    title,
    outcome,
    resolved_at: at,
    closing_probability: probability,
    brier,
    coverage,
  } = row
  const others = othersError(row)
  const better = gainOf(row)
  const gain = !row.settled ? 'not closed yet' : better === null ? 'not shared' : compared(better)
  return html`<tr><th scope="row" class="name"><a href="${linkTo(site, questionPath(id))}">${title === null ? endOf(id) : named(title)}</a></th><td>${outcome}</td><td class="n">${probability === null ? 'withdrawn' : percent(probability)}</td><td class="n">${gain}</td><td class="n">${plain(brier)}</td><td class="n">${orNone(others, plain)}</td><td class="n">${percent(coverage)}</td><td class="n">${dayOf(at)}</td></tr>\n`
}

/** Says by how much an error was smaller, in words, because a sign would have two readings. */
function compared(gain: number): string {
  const shown = plain(Math.abs(gain))
  if (shown === plain(0)) return 'the same'
  return `${shown} ${gain > 0 ? 'better' : 'worse'}`
}

export const QUESTIONS_PER_PAGE = 100

interface EntityQuestions {
  site: Site
  published: Payloads
  /** The scores of this page, in their order. */
  scores: readonly QuestionScore[]
  order: EntityQuestionOrder
  /** The first is 1. */
  pageNumber: number
}

export function entityQuestionsPage(view: EntityQuestions): Html {
  const { site, published: payloads, scores, pageNumber, order } = view
  const [entityType, id] = [kindOf(payloads), idOf(payloads)]
  const home = profilePath(entityType, id)
  const pathOf = (number: number, sort = order) =>
    withQuery(`${home}/questions`, {
      sort: sort === 'newest' ? undefined : sort,
      page: number === 1 ? undefined : number,
    })
  const total = questionsOf(payloads.verification)
  const first = (pageNumber - 1) * QUESTIONS_PER_PAGE + 1
  const { says } = ORDER_WORDS[order]
  const which =
    total > scores.length
      ? `${first} to ${first + scores.length - 1} of ${total}, ${says}`
      : `${says[0]!.toUpperCase()}${says.slice(1)}`
  const pages = Math.ceil(total / QUESTIONS_PER_PAGE)
  return page({
    site,
    title: `Questions of ${plainName(payloads)}${pageNumber === 1 ? '' : `, page ${pageNumber}`}`,
    heading: html`Questions of ${headingOf(payloads)}`,
    description: `${counted(total, 'question')}, each with what was said and the error of the others’ average.`,
    path: pathOf(pageNumber),
    isIndexed: payloads.rankings.rank !== null && order === 'newest',
    alternates: { 'application/json': `${callPath(entityType, id)}/scores` },
    source: releaseLine(site, payloads.verification),
    intro: `What this ${entityType === 'agent' ? 'agent, which is a program,' : 'person'} said on each question that has an outcome, and how far off that was, beside the others.`,
    content: html`<p class="mute">${entityType} · <code>${id}</code> · <a href="${linkTo(site, home)}">profile</a></p>
${
  total === 0
    ? html`<p class="lead">No question has an outcome yet.</p>`
    : html`<p>Errors are averaged over the time in which the forecast stood, so that they need not follow from what was said last. “Others” is the error of the others’ average over the time in which both are compared, up to three quarters of the question’s life, and “vs others” the difference over that time.</p>
${orders(site, order, (sort) => pathOf(1, sort))}
${questionTable(site, html`${which}.`, scores)}
<p class="mute"><a href="${linkTo(site, questionTablePath(entityType, id))}">All of them as CSV</a></p>
${pager(site, { pageNumber, pages, pathOf })}`
}`,
  })
}

function orders(
  site: Site,
  order: EntityQuestionOrder,
  pathOf: (order: EntityQuestionOrder) => string,
): Html {
  const items = ENTITY_QUESTION_ORDERS.map((each) => {
    const current = each === order && html` aria-current="true"`
    return html`<li><a href="${linkTo(site, pathOf(each))}"${current}>${ORDER_WORDS[each].link}</a></li>\n`
  })
  return html`<nav class="chips" aria-label="Order"><ul>
${items}</ul></nav>`
}

const REASONS: Record<NonNullable<ReportedQuestion['reason']>, string> = {
  'not-settled': 'not closed yet',
  unmeasured: 'never beside enough others in time',
  withdrawn: 'withdrawn',
  late: 'answered too late',
  annulled: 'annulled',
}

export function reportPath(agentId: string): string {
  return `${profilePath('agent', agentId)}/report`
}

/** The most questions on the page, of those that count for nothing. */
const MOST_UNCOUNTED = 200

export function reportPage(site: Site, report: AgentReport): Html {
  const { agent_id: id, counted: count, not_counted: reasons, questions } = report
  const uncounted = questions.filter(({ reason }) => reason !== null)
  const because = reasons.map(({ reason, questions: total }) => `${total} ${REASONS[reason]}`).join(', ')
  return page({
    site,
    title: `Report on agent ${id}`,
    heading: 'Which questions count, and why others do not',
    description: 'Why each question of an agent counts or does not, and what its next title takes.',
    path: reportPath(id),
    isIndexed: false,
    alternates: { 'application/json': `/agents/${id}/report` },
    source: releaseLine(site, report),
    intro:
      'For the author of this agent, a program that forecasts: which of its questions count and which do not, and what is missing until it is certified as better than the others.',
    content: html`<p class="mute">agent · <code>${id}</code> · <a href="${linkTo(site, profilePath('agent', id))}">profile</a></p>
<p class="lead">${counted(count, 'question')} ${count === 1 ? 'counts' : 'count'}${because !== '' && `; others do not: ${because}`}.</p>
${nextTitle(report)}
${count > 0 && html`${reportTable(site, 'Best', 'The three on which it gained most.', report.best)}\n${reportTable(site, 'Worst', 'The three on which it gained least.', report.worst)}`}
${uncounted.length > 0 && reportTable(site, 'What counts for nothing', uncounted.length > MOST_UNCOUNTED ? `The first ${MOST_UNCOUNTED} of ${uncounted.length}.` : 'With the reasons.', uncounted.slice(0, MOST_UNCOUNTED))}`,
  })
}

function nextTitle({ next_title: title }: AgentReport): HtmlPart {
  if (title === null) return html`<p>It is certified, and there is no higher title.</p>`
  const about =
    title.questions === null
      ? 'With a record like that so far it does not get there.'
      : `With a record like that so far it takes about ${counted(title.questions, 'more shared question')}.`
  return html`<p>Not <strong>${title.title}</strong> yet: ${title.because}. ${about}</p>`
}

/** All rows count, or none does. */
function reportTable(site: Site, heading: string, caption: string, rows: readonly ReportedQuestion[]): Html {
  const isCounted = rows[0]!.reason === null
  const last = isCounted ? html`<th scope="col" class="n">gain</th>` : html`<th scope="col">why</th>`
  return html`<h2>${heading}</h2>
${scrolling(
  heading,
  html`<table><caption>${caption}</caption>
<thead><tr><th scope="col">question</th><th scope="col">outcome</th><th scope="col" class="n">covered</th>${last}</tr></thead>
<tbody>
${rows.map(
  ({ question_id: id, title, outcome, coverage, gain, detail }) =>
    html`<tr><th scope="row" class="name"><a href="${linkTo(site, questionPath(id))}">${title === null ? endOf(id) : named(title)}</a></th><td>${outcome}</td><td class="n">${percent(coverage)}</td>${gain === null ? html`<td>${detail ?? ''}</td>` : html`<td class="n">${signed(gain)}</td>`}</tr>
`,
)}</tbody></table>`,
)}`
}
