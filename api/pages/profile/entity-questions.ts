// All questions of an entity, in the order that the reader chooses, a page at a time.
import { ENTITY_QUESTION_ORDERS, type EntityQuestionOrder } from '../../../schemas/requests.ts'
import { type Html, html } from '../html.ts'
import { page } from '../layout.ts'
import { callPath, profilePath, questionTablePath } from '../../../schemas/entity-paths.ts'
import { withQuery } from '../links.ts'
import { counted } from '../numbers.ts'
import { pager } from '../pager.ts'
import { releaseLine } from '../provenance.ts'
import { type Site, linkTo } from '../site.ts'
import { ORDER_WORDS } from './question-order.ts'
import { questionTable } from './question-table.ts'
import {
  type Payloads,
  type QuestionScore,
  headingOf,
  idOf,
  kindOf,
  plainName,
  questionsOf,
} from './subject.ts'

export const QUESTIONS_PER_PAGE = 100

export interface EntityQuestions {
  site: Site
  published: Payloads
  /** The scores of this page, in their order. */
  scores: readonly QuestionScore[]
  order: EntityQuestionOrder
  /** The first is 1. */
  pageNumber: number
}

export function entityQuestionsPage(view: EntityQuestions): Html {
  const { site, published: of, scores, pageNumber, order } = view
  const [entityType, id] = [kindOf(of), idOf(of)]
  const home = profilePath(entityType, id)
  const pathOf = (number: number, sort = order) =>
    withQuery(`${home}/questions`, {
      sort: sort === 'newest' ? undefined : sort,
      page: number === 1 ? undefined : number,
    })
  const total = questionsOf(of.verification)
  const first = (pageNumber - 1) * QUESTIONS_PER_PAGE + 1
  const { says } = ORDER_WORDS[order]
  const which =
    total > scores.length
      ? `${first} to ${first + scores.length - 1} of ${total}, ${says}`
      : `${says[0]!.toUpperCase()}${says.slice(1)}`
  const pages = Math.ceil(total / QUESTIONS_PER_PAGE)
  return page({
    site,
    title: `Questions of ${plainName(of)}${pageNumber === 1 ? '' : `, page ${pageNumber}`}`,
    heading: html`Questions of ${headingOf(of)}`,
    description: `${counted(total, 'question')}, each with what was said and the error of the others’ average.`,
    path: pathOf(pageNumber),
    isIndexed: of.rankings.rank !== null && order === 'newest',
    alternates: { 'application/json': `${callPath(entityType, id)}/scores` },
    source: releaseLine(site, of.verification),
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
