// The topics, which are the categories of the questions: their list, the page of each, and the ways to them.
import { LEADERBOARD_PATHS, boardTablePath } from '../../schemas/entity-paths.ts'
import type { CategoryBoardEntry, CategoryFacts } from '../../schemas/payloads.ts'
import type { ReferenceRow } from '../../schemas/references.ts'
import { type EntityType, ENTITY_TYPES } from '../../schemas/tables.ts'
import { boardAxis, boardBar, reachOf } from './charts/interval-bar.ts'
import { type Html, type HtmlPart, html, scrolling } from './html.ts'
import { page, pager, releaseLine } from './layout.ts'
import { type TitleRules, entityLink } from './profile/subject.ts'
import {
  type Neighbours,
  WHO,
  WORDS,
  withoutBar,
  contestedQuestions,
  aboutReferences,
  amongReferences,
  referenceRow,
} from './ranking.ts'
import { type Site, TOPICS_PATH, topicPath, withQuery, linkTo } from './site.ts'
import { term } from './terms.ts'
import { counted, grouped, plain, signed, dayOf, endOf, interval, named, orNone, places } from './wording.ts'

/** The release that a page is of. */
type Provenance = Parameters<typeof releaseLine>[1]

/** An entry of a board, with the name that is shown. */
type NamedEntry = CategoryBoardEntry & { name: string | null }

/** More topics than a reader looks through are left to their list. */
const MOST_CHIPS = 12

/** Returns how many entities of a kind are on the board of a category. */
export function rankedIn(facts: CategoryFacts, entityType: EntityType): number {
  return entityType === 'agent' ? facts.ranked_agents : facts.ranked_forecasters
}

/** Whether anyone is on a board of a category. */
export function hasBoard(facts: CategoryFacts): boolean {
  return ENTITY_TYPES.some((entityType) => rankedIn(facts, entityType) > 0)
}

/** Returns the path of the board of a topic; that of all topics without one. */
function boardPath(entityType: EntityType, category?: string, pageNumber = 1): string {
  return withQuery(LEADERBOARD_PATHS[entityType], {
    category,
    page: pageNumber === 1 ? undefined : pageNumber,
  })
}

/** Links to the boards with the most entries; nothing where no topic has a board of the kind. */
export function topicChips(
  site: Site,
  entityType: EntityType,
  categories: readonly CategoryFacts[],
  current?: string,
): HtmlPart {
  const withBoard = categories
    .filter((facts) => rankedIn(facts, entityType) > 0)
    .toSorted((a, b) => rankedIn(b, entityType) - rankedIn(a, entityType))
  if (withBoard.length === 0) return undefined
  const shown = withBoard.slice(0, MOST_CHIPS)
  const chip = (path: string, words: HtmlPart, isCurrent: boolean) =>
    html`<li><a href="${linkTo(site, path)}"${isCurrent && html` aria-current="page"`}>${words}</a></li>\n`
  return html`<nav class="chips" aria-label="Topics"><ul>
${chip(boardPath(entityType), 'All topics', current === undefined)}${shown.map((facts) => {
    const { category } = facts
    return chip(
      boardPath(entityType, category),
      html`${named(category)} <span class="mute">${grouped(rankedIn(facts, entityType))}</span>`,
      category === current,
    )
  })}${withBoard.length > shown.length && chip(TOPICS_PATH, 'More topics', false)}</ul></nav>
`
}

interface TopicsView {
  site: Site
  categories: readonly CategoryFacts[]
  release: Provenance | undefined
}

/** The list of all topics. */
export function topicsPage({ site, categories, release }: TopicsView): Html {
  const rows = categories.map(
    (
      facts,
    ) => html`<tr><th scope="row" class="name"><a href="${linkTo(site, topicPath(facts.category))}">${named(facts.category)}</a><span class="under">${dates(facts)}</span></th><td class="n">${grouped(facts.questions)}</td><td class="n">${grouped(facts.settled_questions)}</td><td class="n">${grouped(facts.agents)}</td><td class="n">${grouped(facts.forecasters)}</td></tr>
`,
  )
  return page({
    site,
    title: 'Topics',
    description: 'The topics of the questions, and who forecasts them best.',
    path: TOPICS_PATH,
    intro:
      'The topics of the questions that people and programs forecast. Each leads to those who know it best.',
    content:
      categories.length === 0
        ? html`<div class="state"><p>${release ? 'This release has no boards by topic.' : 'Nothing has been scored yet.'}</p></div>`
        : html`${scrolling(
            'Topics',
            html`<table>
<thead><tr><th scope="col">topic</th><th scope="col" class="n">questions</th><th scope="col" class="n">with an outcome</th><th scope="col" class="n">agents</th><th scope="col" class="n">forecasters</th></tr></thead>
<tbody>
${rows}</tbody></table>`,
          )}`,
    ...(release && { source: releaseLine(site, release) }),
  })
}

const RANKS_ONLY = 'A topic ranks; it gives no title.'

function dates({ opened_at, closes_at }: CategoryFacts): Html {
  return html`${dayOf(opened_at)} to ${dayOf(closes_at)}`
}

/** Says what a place takes, and warns that luck has many tries; or that nobody has one. */
function manyLooks(site: Site, rules: TitleRules, boards: readonly TopicEntries[]): Html {
  const takes = html`A place takes ${contestedQuestions(rules)}.`
  const entries = boards.flatMap((board) => board.entries)
  if (entries.length === 0) {
    return html`<div class="state"><p>Nobody has enough shared questions of this topic yet.</p></div>
<p class="mute">${takes} ${RANKS_ONLY}</p>`
  }
  const bars = entries.every(({ board_interval: bar }) => bar === null)
    ? withoutBar(site, true)
    : 'Each bar holds for its topic with 95\u00a0%: among twenty topics, one bar misses by luck, and the first of many is partly lucky.'
  const hasReferences = boards.some(({ references }) => references.length > 0)
  return html`<p class="mute">${takes} The skill is that on the questions of this topic alone. ${bars} ${RANKS_ONLY}${hasReferences && html` ${aboutReferences(site)}`}</p>`
}

/** Some entries of the board of a topic and a kind, in its order. */
export interface TopicEntries {
  entries: readonly NamedEntry[]
  /** Of the pools of the ranked among them. */
  references: readonly ReferenceRow[]
  neighbours: Neighbours
}

interface TopicView {
  site: Site
  facts: CategoryFacts
  /** The first entries of each kind. */
  boards: Readonly<Record<EntityType, TopicEntries>>
  rules: TitleRules
  release: Provenance
}

/** The page of a topic: when, how much, who, and the ways to its questions and tables. */
export function topicPage({ site, facts, boards, rules, release }: TopicView): Html {
  const { category, questions, settled_questions: settled, agents, forecasters } = facts
  return page({
    site,
    title: `Topic: ${category}`,
    heading: named(category),
    description: `Who forecasts ${category} best: ${counted(settled, 'question')} with an outcome.`,
    path: topicPath(category),
    intro: html`Which programs, called agents, and which people, called forecasters, forecast this topic best? ${counted(questions, 'question')} of ${dates(facts)}, ${grouped(settled)} of them closed with an outcome, had answers of ${counted(agents, 'agent')} and ${counted(forecasters, 'forecaster')}.`,
    content: html`<p><a href="${linkTo(site, withQuery('/view/questions', { category }))}">The questions</a> · <a href="${linkTo(site, TOPICS_PATH)}">All topics</a></p>
${ENTITY_TYPES.map((entityType) => {
  const { entries } = boards[entityType]
  const ranked = rankedIn(facts, entityType)
  if (ranked === 0) return undefined
  const { many } = WORDS[entityType]
  const more =
    ranked > entries.length &&
    html`<a href="${linkTo(site, boardPath(entityType, category))}">All ${grouped(ranked)} ${many}</a> · `
  return html`<h2>${counted(ranked, WORDS[entityType].one)} with enough questions</h2>
${topicTables(site, entityType, boards[entityType])}<p class="mute">${more}<a href="${linkTo(site, withQuery(boardTablePath(entityType), { category }))}">All as CSV</a></p>
`
})}${manyLooks(site, rules, Object.values(boards))}`,
    source: releaseLine(site, release),
  })
}

interface TopicBoardView {
  site: Site
  entityType: EntityType
  facts: CategoryFacts
  categories: readonly CategoryFacts[]
  board: TopicEntries
  pageNumber: number
  pages: number
  rules: TitleRules
  release: Provenance
}

/** A page of the board of a topic and a kind. */
export function topicBoardPage(view: TopicBoardView): Html {
  const { site, entityType, facts, categories, board, pageNumber, pages, rules, release } = view
  const { category } = facts
  const { many } = WORDS[entityType]
  const pathOf = (number: number) => boardPath(entityType, category, number)
  return page({
    site,
    title: `${category}: ${many}`,
    heading: html`Which ${many} forecast ${named(category)} best?`,
    description: `All ${many} in the order of their skill on ${category}, with how sure each place is.`,
    path: pathOf(pageNumber),
    intro: html`${WHO[entityType]} Those come first who were less wrong than the others on the same questions of this topic.`,
    content: html`${topicChips(site, entityType, categories, category)}<p><a href="${linkTo(site, topicPath(category))}">About this topic</a></p>
${
  board.entries.length > 0 &&
  html`<h2>${counted(rankedIn(facts, entityType), WORDS[entityType].one)} with enough questions</h2>
${topicTables(site, entityType, board)}<p><a href="${linkTo(site, withQuery(boardTablePath(entityType), { category }))}">All as CSV</a></p>`
}
${manyLooks(site, rules, [board])}
${pager(site, { pageNumber, pages, pathOf })}`,
    source: releaseLine(site, release),
  })
}

/** A table for each pool, because nobody of one pool is compared with somebody of another. */
function topicTables(
  site: Site,
  entityType: EntityType,
  { entries, references, neighbours }: TopicEntries,
): HtmlPart {
  const drawn = [...entries, ...references].map(({ skill, board_interval: bounds }) => ({ skill, bounds }))
  const reach = reachOf(drawn)
  const pools = [...Map.groupBy(entries, ({ rank, pool }) => (rank === null ? 'retired' : pool)).values()]
  return pools.map((members, index) => {
    const isRetired = members[0]!.rank === null
    const words = isRetired
      ? html`<p>Retired: they take part no more and have no place.</p>\n`
      : index > 0 &&
        html`<p>Another pool: these answered other questions, and cannot be compared with those above.</p>\n`
    return html`${words}${scrolling(
      `Board ${index + 1} of ${WORDS[entityType].many}`,
      html`<table class="board topic">
<thead><tr>${!isRetired && html`<th scope="col" class="n place">${term(site, 'place', 'place')}</th>`}<th scope="col" class="name">${WORDS[entityType].one}</th><th scope="col" class="skill">${boardAxis(reach)}<span class="value">${term(site, 'skill', 'skill')}</span></th><th scope="col" class="n">${term(site, 'shared-questions', 'shared questions')}</th><th scope="col" class="n">${term(site, 'calibration', 'calibration')}</th><th scope="col" class="n">${term(site, 'brier', 'Brier')}</th></tr></thead>
<tbody>
${(isRetired ? members : amongReferences(members, references, neighbours)).map((entry) => row(site, entityType, entry, reach))}</tbody></table>`,
    )}`
  })
}

function row(site: Site, entityType: EntityType, entry: NamedEntry | ReferenceRow, reach: number): Html {
  if ('reference' in entry) {
    return referenceRow(site, entry, { reach, isOverTime: false })
  }
  const { skill, board_interval: bounds, contested_questions: questions, brier, rank_interval: range } = entry
  const id = 'agent_id' in entry ? entry.agent_id : entry.user_id
  const link = html`${entityLink(site, entityType, id, entry.name)}${entry.name !== null && html` ${endOf(id)}`}`
  const place = range !== null && html`<td class="n place">${places(range)}</td>`
  return html`<tr>${place}<th scope="row" class="name">${link}</th><td class="skill">${boardBar(skill, bounds, reach)}<span class="value">${signed(skill)} <span class="under">${interval(bounds)}</span></span></td><td class="n">${questions}</td><td class="n">${orNone(entry.expected_calibration_error, plain)}</td><td class="n">${orNone(brier, plain)}</td></tr>
`
}
