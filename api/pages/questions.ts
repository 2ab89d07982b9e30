// The list of questions, with its filters.
import type { ListedQuestion, QuestionPage } from '../../schemas/answers.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { QUESTION_STATUSES, type QuestionStatus } from '../../schemas/requests.ts'
import { type Html, type HtmlPart, html } from './html.ts'
import { page } from './layout.ts'
import { questionPath, withQuery } from './links.ts'
import { type Site, linkTo } from './site.ts'
import { scrolling } from './table.ts'
import { dayOf, named } from './wording.ts'

const PATH = '/view/questions'

type CategoryStates = NonNullable<NonNullable<ReleaseManifest['questions']>['categories']>[number]

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
  /** The current release, if there is one. */
  release: ReleaseManifest | undefined
}

export function questionsPage({ site, filters, cursor, list, release }: QuestionsView): Html {
  const { questions, next_cursor } = list
  // One page of the list says it, and that of each category.
  const showsHealth = cursor === undefined && filters.status === undefined && filters.q === undefined
  const isFiltered = Object.values(filters).some((value) => value !== undefined)
  return page({
    site,
    title: 'Questions',
    description: 'What forecasts are asked for, in the order in which the questions close.',
    path: withQuery(PATH, { ...filters, cursor }),
    isIndexed: !isFiltered && cursor === undefined,
    alternates: { 'application/json': '/questions' },
    content: html`<p>In the order in which they close. Titles and texts come from other people.</p>
${showsHealth && release?.questions && health(site, release, filters.category)}
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

/** Says how the operator keeps up with outcomes, of one category or of all. */
function health(site: Site, release: ReleaseManifest, category: string | undefined): Html | undefined {
  const { categories = [], ...all } = release.questions!
  const states = category === undefined ? all : categories.find((one) => one.category === category)
  if (!states) return undefined
  const { open, overdue, oldest_overdue_at: since, annulled, early } = states
  const hasCategories = categories.some((one) => one.category !== null)
  return html`<p>As of release ${release.release}: ${open} open, ${overdue} overdue${typeof since === 'string' && html`, the oldest since ${dayOf(since)}`}, ${annulled} annulled, ${early} with an outcome before their close. A question is overdue when it has closed and its outcome is not known.</p>
${category === undefined && hasCategories && categoriesTable(site, categories)}`
}

function categoriesTable(site: Site, categories: readonly CategoryStates[]): Html {
  const rows = categories.map(
    ({ category, open, overdue, oldest_overdue_at: since, annulled, early }) =>
      html`<tr><th scope="row">${category === null ? 'without a category' : html`<a href="${linkTo(site, withQuery(PATH, { category }))}">${named(category)}</a>`}</th><td class="n">${open}</td><td class="n">${overdue}${typeof since === 'string' && html`<span class="under">since ${dayOf(since)}</span>`}</td><td class="n">${annulled}</td><td class="n">${early}</td></tr>
`,
  )
  return html`<details><summary>By category</summary>
${scrolling(
  'Categories',
  html`<table>
<thead><tr><th scope="col">category</th><th scope="col" class="n">open</th><th scope="col" class="n">overdue</th><th scope="col" class="n">annulled</th><th scope="col" class="n">early outcome</th></tr></thead>
<tbody>
${rows}</tbody></table>`,
)}</details>`
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
