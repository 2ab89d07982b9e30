// The page of a search: short lists of the people, agents, owners and questions that it found.
import type { ListedQuestion } from '../../schemas/answers.ts'
import { profilePath } from '../../schemas/entity-paths.ts'
import type { CategoryFacts } from '../../schemas/payloads.ts'
import type { SearchedList } from '../../schemas/requests.ts'
import { type Html, type HtmlPart, html } from './html.ts'
import { page, pager } from './layout.ts'
import { type NamedEntry, idOf, retiredAt } from './ranking.ts'
import { type Site, SEARCH_PATH, ownerPath, questionPath, topicPath, withQuery, linkTo } from './site.ts'
import { awarded, titleOf, counted, grouped, signed, claimed, dayOf, named, ownerWord } from './wording.ts'

interface FoundEntries {
  total: number
  entries: readonly NamedEntry[]
}

interface CountedOwner {
  ownerId: string
  agents: number
  certified: number
}

/** The hits of a search; a list is missing where nobody looked. */
export interface Found {
  people?: FoundEntries
  agents?: FoundEntries
  owners?: { total: number; owners: readonly CountedOwner[] }
  topics?: readonly CategoryFacts[]
  questions?: { listed: readonly ListedQuestion[]; hasMore: boolean }
}

interface SearchView {
  site: Site
  /** As the reader wrote it; empty if nothing yet. */
  text: string
  found: Found | undefined
  /** The one list that is shown; undefined for all. */
  list: SearchedList | undefined
  pageNumber: number
  perPage: number
  /** How many shared questions a place takes. */
  leastQuestions: number
}

const HEADINGS = {
  people: 'Forecasters',
  agents: 'Agents',
  owners: 'Owners',
  topics: 'Topics',
  questions: 'Questions',
} as const

export function searchPage(view: SearchView): Html {
  const { site, text, found, list } = view
  return page({
    site,
    title: text === '' ? 'Search' : `Search: ${text}`,
    heading: text === '' ? 'Search' : html`Search for “${named(text)}”`,
    description: 'Forecasters, agents, owners and questions by name.',
    path: withQuery(SEARCH_PATH, {
      q: text,
      in: list,
      page: view.pageNumber === 1 ? undefined : view.pageNumber,
    }),
    isIndexed: false,
    sought: text,
    intro: html`Find people and programs that forecast, those who own the programs, and the questions.${found === undefined && ' Write into the field above whom or what you look for.'}`,
    content: found === undefined ? HINT : results(view, found),
  })
}

const HINT = html`<ul>
<li>A name of a forecaster, an agent or an owner, or any part of one. Accents and capital letters make no difference.</li>
<li>Words of a question: each must be in its title as a whole word.</li>
<li>An id, or a link to a page of this service, leads straight to it.</li>
</ul>`

function results(view: SearchView, found: Found): HtmlPart {
  const { site, list } = view
  const parts = [
    entryList(view, 'people', found.people),
    entryList(view, 'agents', found.agents),
    ownerList(view, found.owners),
    topicList(view, found.topics),
    questionList(view, found.questions),
  ].filter((part) => part !== undefined)
  const pathOf = (number: number) => listPath(view, list!, number)
  const { total = 0 } = (list !== undefined && found[list]) || {}
  const { pageNumber, perPage } = view
  if (parts.length === 0) return nothing
  return html`${parts}${list !== undefined && pager(site, { pageNumber, pages: Math.ceil(total / perPage), pathOf })}`
}

const nothing = html`<div class="state"><p>Nothing is called that. A part of a name is enough; of a question, give whole words of its title.</p></div>`

function listPath({ text }: SearchView, list: SearchedList, number = 1): string {
  return withQuery(SEARCH_PATH, { q: text, in: list, page: number === 1 ? undefined : number })
}

function entryList(view: SearchView, list: 'people' | 'agents', found: FoundEntries | undefined): HtmlPart {
  if (!found) return undefined
  const entityType = list === 'people' ? 'forecaster' : 'agent'
  const hits = found.entries.map((entry) => ({
    path: profilePath(entityType, idOf(entry)),
    name: claimed(entry.name, idOf(entry)),
    under: standing(entry, view.leastQuestions),
  }))
  return section(view, list, hits, found.total)
}

function ownerList(view: SearchView, found: Found['owners']): HtmlPart {
  if (!found) return undefined
  const hits = found.owners.map(({ ownerId, agents, certified }) => ({
    path: ownerPath(ownerId),
    name: named(ownerId),
    under: html`${counted(agents, 'agent')}, ${grouped(certified)} certified; owner ${ownerWord(ownerId)}`,
  }))
  return section(view, 'owners', hits, found.total)
}

function topicList({ site }: SearchView, found: Found['topics'] = []): HtmlPart {
  if (found.length === 0) return undefined
  const hits = found.map(({ category, questions, settled_questions: settled }) => ({
    path: topicPath(category),
    name: named(category),
    under: html`${counted(questions, 'question')}, ${grouped(settled)} with an outcome`,
  }))
  return html`<h2 id="topics">${HEADINGS.topics}</h2>
${hitList(site, hits)}`
}

function questionList({ site, text }: SearchView, found: Found['questions']): HtmlPart {
  if (!found || found.listed.length === 0) return undefined
  const hits = found.listed.map(({ question_id: id, title, status, outcome, closes_at: at }) => ({
    path: questionPath(id),
    name: named(title),
    under: html`${outcome === null ? status : `${status}: ${outcome}`} · ${status === 'open' || status === 'upcoming' ? 'closes' : 'closed'} ${dayOf(at)}`,
  }))
  return html`<h2 id="questions">${HEADINGS.questions}</h2>
${hitList(site, hits)}${found.hasMore && moreLink(site, withQuery('/view/questions', { q: text }), 'All of them in the list of questions')}`
}

interface Hit {
  path: string
  name: Html
  under: HtmlPart
}

function section(view: SearchView, list: SearchedList, hits: readonly Hit[], total: number): HtmlPart {
  if (hits.length === 0) return undefined
  const hasMore = view.list === undefined && total > hits.length
  return html`<h2 id="${list}">${HEADINGS[list]}${total > hits.length && html` <span class="mute">${grouped(total)}</span>`}</h2>
${hitList(view.site, hits)}${hasMore && moreLink(view.site, listPath(view, list), `All ${grouped(total)} ${HEADINGS[list].toLowerCase()}`)}`
}

function hitList(site: Site, hits: readonly Hit[]): Html {
  const items = hits.map(
    ({ path, name, under }) =>
      html`<li><a href="${linkTo(site, path)}">${name}</a><span class="under">${under}</span></li>\n`,
  )
  return html`<ul class="hits">
${items}</ul>
`
}

function moreLink(site: Site, path: string, words: string): Html {
  return html`<p><a href="${linkTo(site, path)}">${words}</a></p>\n`
}

/** Says how far somebody is: a title and a skill, or how many questions are missing. */
function standing(entry: NamedEntry, leastQuestions: number): Html {
  const { skill, contested_questions: questions } = entry
  const retired = retiredAt(entry)
  const until = retired !== null && html` · retired ${dayOf(retired)}`
  if (titleOf(entry) === 'none' || skill === null)
    return html`${grouped(questions)} of ${leastQuestions} shared questions that a place takes${until}`
  return html`${awarded(entry)} · skill ${signed(skill)} · ${counted(questions, 'shared question')}${until}`
}
