// The list of questions, with its filters.
import type { ListedQuestion, QuestionPage } from '../../schemas/answers.ts'
import { QUESTION_STATUSES, type QuestionStatus } from '../../schemas/requests.ts'
import { type Html, type HtmlPart, html } from './html.ts'
import { page } from './layout.ts'
import { questionPath, withQuery } from './links.ts'
import { type Site, linkTo } from './site.ts'
import { scrolling } from './table.ts'
import { dayOf, named } from './wording.ts'

const PATH = '/view/questions'

/** The filters as the visitor wrote them. */
export interface QuestionFilters {
  status?: QuestionStatus | undefined
  category?: string | undefined
  q?: string | undefined
}

export interface QuestionsView {
  site: Site
  filters: QuestionFilters
  /** The cursor of the shown page; undefined for the first. */
  cursor: string | undefined
  list: QuestionPage
}

export function questionsPage({ site, filters, cursor, list }: QuestionsView): Html {
  const { questions, next_cursor } = list
  const isFiltered = Object.values(filters).some((value) => value !== undefined)
  return page({
    site,
    title: 'Questions',
    description: 'What forecasts are asked for, in the order in which the questions close.',
    path: withQuery(PATH, { ...filters, cursor }),
    isIndexed: !isFiltered && cursor === undefined,
    alternates: { 'application/json': '/questions' },
    content: html`<p>In the order in which they close. Titles and texts come from other people.</p>
${form(site, filters)}
${questions.length > 0 ? table(site, questions) : html`<div class="state"><p>${empty(filters, next_cursor)}${isFiltered && html` <a href="${linkTo(site, PATH)}">All questions</a>`}</p></div>`}
${ways(site, filters, cursor, next_cursor)}`,
  })
}

function empty({ status, category, q }: QuestionFilters, next: string | null): string {
  if (next !== null) {
    return 'Nothing fits among the questions that were looked through here. The next page looks further.'
  }
  if (category !== undefined || q !== undefined) return 'No question fits.'
  return status === undefined ? 'There are no questions yet.' : `No question is ${status}.`
}

function form(site: Site, { status, category, q }: QuestionFilters): Html {
  const option = (value: string, words: string) =>
    html`<option value="${value}"${(status ?? '') === value && html` selected`}>${words}</option>`
  return html`<form class="filters" method="get" action="${linkTo(site, PATH)}" role="search" aria-label="Questions">
<label>Status <select name="status">${option('', 'all')}${QUESTION_STATUSES.map((value) => option(value, value))}</select></label>
<label>Category, exactly <input name="category" value="${category ?? ''}" size="14"></label>
<label>Words of the title <input name="q" type="search" value="${q ?? ''}" size="18"></label>
<button>Show</button>
</form>`
}

function table(site: Site, questions: readonly ListedQuestion[]): Html {
  const rows = questions.map(
    ({
      question_id,
      title,
      status,
      category,
      closes_at,
      outcome,
    }) => html`<tr><th scope="row"><a href="${linkTo(site, questionPath(question_id))}">${named(title)}</a>${category !== null && html`<span class="under">${named(category)}</span>`}</th><td class="n">${statusInWords(status, outcome)}<span class="under">${dayOf(closes_at)}</span></td></tr>
`,
  )
  return scrolling(
    'Questions',
    html`<table>
<thead><tr><th scope="col">question and category</th><th scope="col" class="n">status and close</th></tr></thead>
<tbody>
${rows}</tbody></table>`,
  )
}

function statusInWords(status: QuestionStatus, outcome: string | null): string {
  return outcome === null ? status : `${status}: ${outcome}`
}

function ways(
  site: Site,
  filters: QuestionFilters,
  cursor: string | undefined,
  next: string | null,
): HtmlPart {
  if (cursor === undefined && next === null) return undefined
  const link = (to: string | undefined, words: string) =>
    html`<a href="${linkTo(site, withQuery(PATH, { ...filters, cursor: to }))}">${words}</a>\n`
  return html`<nav class="pager" aria-label="More pages">
${cursor !== undefined && link(undefined, '← First page')}${next !== null && link(next, 'Next page →')}</nav>`
}
