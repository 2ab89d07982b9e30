// The list of questions, with its filters.
import type { ListedQuestion, QuestionPage } from '../../schemas/answers.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { type QuestionStatus, QUESTION_STATUSES } from '../../schemas/requests.ts'
import { type Html, type HtmlPart, html, scrolling } from './html.ts'
import { page } from './layout.ts'
import { type Site, TOPICS_PATH, questionPath, topicPath, withQuery, linkTo } from './site.ts'
import { counted, grouped, dayOf, named, time } from './wording.ts'

const PATH = '/view/questions'

type CategoryStates = NonNullable<NonNullable<ReleaseManifest['questions']>['categories']>[number]

/** The filters as the visitor wrote them. */
interface QuestionFilters {
  status?: QuestionStatus | undefined
  category?: string | undefined
  q?: string | undefined
}

interface Counts {
  all: number
  byStatus: Record<QuestionStatus, number>
  /** The largest ones. */
  categories: readonly { key: string; questions: number }[]
}

interface QuestionsView {
  site: Site
  filters: QuestionFilters
  /** The cursor of the shown page; undefined for the first. */
  cursor: string | undefined
  list: QuestionPage
  /** The open questions that close next; none where a visitor has chosen. */
  next: readonly ListedQuestion[]
  counts: Counts
  /** The categories that have a board, in the current release. */
  withBoard: ReadonlySet<string>
  /** The current release, if there is one. */
  release: ReleaseManifest | undefined
}

export function questionsPage(view: QuestionsView): Html {
  const { site, filters, cursor, list, next, counts, release } = view
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
    intro:
      'Questions of yes or no, to which people and programs say how likely a yes is. Each leads to its dates and, once it is over, to what happened and what was said.',
    content: html`${statusChips(site, filters, counts)}${categoryChips(view)}${closingNext(site, next, counts.byStatus.open)}${next.length > 0 && html`<h2>All questions, in the order in which they close</h2>\n`}
${showsHealth && release?.questions && health(site, release, filters.category)}
${form(site, filters)}
${questions.length > 0 ? table(site, questions) : html`<div class="state"><p>${empty(filters, next_cursor)}${isFiltered && html` <a href="${linkTo(site, PATH)}">All questions</a>`}</p></div>`}
${ways(site, filters, cursor, next_cursor)}`,
  })
}

/** Each leads to the questions of a status, and of the category that the visitor has chosen. */
function statusChips(site: Site, { status, category, q }: QuestionFilters, { all, byStatus }: Counts): Html {
  // Numbers are of all questions, so they say nothing of a part of them.
  const number = (count: number) => category === undefined && q === undefined && ` (${grouped(count)})`
  const item = (value: QuestionStatus | undefined, words: string, count: number) => {
    const current = status === value && html` aria-current="true"`
    const path = withQuery(PATH, { status: value, category, q })
    return html`<li><a href="${linkTo(site, path)}"${current}>${words}${number(count)}</a></li>\n`
  }
  return html`<nav class="chips" aria-label="Status"><ul>
${item(undefined, 'all', all)}${QUESTION_STATUSES.map((value) => item(value, value, byStatus[value]))}</ul></nav>
`
}

/** Each leads to the questions of a category. The line below leads to the board of the chosen one. */
function categoryChips({ site, filters, counts: { categories }, withBoard }: QuestionsView): HtmlPart {
  if (categories.length === 0) return undefined
  const { status, category } = filters
  const items = categories.map(({ key, questions }) => {
    const current = key === category && html` aria-current="true"`
    const path = withQuery(PATH, { status, category: key === category ? undefined : key })
    return html`<li><a href="${linkTo(site, path)}"${current}>${named(key)} (${grouped(questions)})</a></li>\n`
  })
  return html`<nav class="chips" aria-label="Category"><ul>
${items}</ul></nav>
${withBoard.size > 0 && html`<p>${boardWay(site, category !== undefined && withBoard.has(category) ? category : undefined)}</p>\n`}`
}

function boardWay(site: Site, category: string | undefined): Html {
  return category === undefined
    ? html`<a href="${linkTo(site, TOPICS_PATH)}">Who forecasts each topic best</a>`
    : html`<a href="${linkTo(site, topicPath(category))}">Who forecasts ${named(category)} best</a>`
}

/** Begins the list with the open questions, since these can still be answered. */
function closingNext(site: Site, next: readonly ListedQuestion[], open: number): HtmlPart {
  if (next.length === 0) return undefined
  const rest =
    open > next.length &&
    html` <a href="${linkTo(site, withQuery(PATH, { status: 'open' }))}">All ${grouped(open)} open ones</a>.`
  const rows = next.map(
    ({ question_id, title, closes_at }) =>
      html`<tr><th scope="row"><a href="${linkTo(site, questionPath(question_id))}">${named(title)}</a></th><td class="n">${time(closes_at)}</td></tr>
`,
  )
  return html`<h2>Closing next</h2>
<p class="mute">${counted(open, 'question')} can be answered now.${rest}</p>
${scrolling(
  'Closing next',
  html`<table>
<thead><tr><th scope="col">question</th><th scope="col" class="n">closes</th></tr></thead>
<tbody>
${rows}</tbody></table>`,
)}
`
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
  const { categories = [], ...all } = release.questions
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
  return html`<form class="filters" method="get" action="${linkTo(site, PATH)}" role="search" aria-label="Questions">
${status !== undefined && html`<input type="hidden" name="status" value="${status}">\n`}<label>Category, as written <input name="category" value="${category ?? ''}" size="14"></label>
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

export function statusInWords(status: QuestionStatus, outcome: string | null): string {
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
