// The leaderboard page: who is ahead, and who cannot be told apart.
import { LEADERBOARD_PATHS, boardTablePath } from '../../schemas/entity-paths.ts'
import type { CategoryFacts } from '../../schemas/payloads.ts'
import type { ReferenceRow } from '../../schemas/references.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { type Html, type HtmlPart, html } from './html.ts'
import { page, pager, releaseLine } from './layout.ts'
import type { TitleRules } from './profile/subject.ts'
import {
  type PoolBoard,
  type BoardPage,
  type NamedEntry,
  WHO,
  WORDS,
  finding,
  reading,
  boardTable,
  boardsOf,
  contestedQuestions,
  reachOfPage,
  retiredAt,
} from './ranking.ts'
import { type Site, releasePath, withQuery, linkTo } from './site.ts'
import { topicChips } from './topics.ts'
import { grouped, nothingScored, dayOf } from './wording.ts'

export interface LeaderboardView {
  site: Site
  entityType: EntityType
  /** The page in the release; undefined if there is no release, or nobody of the kind in it. */
  file: BoardPage | undefined
  isReleased: boolean
  /** The first is 1. */
  pageNumber: number
  pages: number
  rules: TitleRules
  /** How many entities of the kind the release has. */
  population: number
  /** The boards whose entries are on the page, in their order. */
  boards: readonly PoolBoard[]
  /** The largest board, though it may be on other pages; undefined if nobody is ranked. */
  main: PoolBoard | undefined
  /** The last entry of the page before, and the first of the next one. */
  neighbours: { before?: NamedEntry | undefined; after?: NamedEntry | undefined }
  /** Of the pools of the ranked on the page. */
  references: readonly ReferenceRow[]
  /** The categories of the release. */
  categories: readonly CategoryFacts[]
  nextReleaseAt: Date | undefined
  /** Undefined where there is nothing to compare with. */
  moves?: { since: { release: number; as_of: string }; places: ReadonlyMap<string, number> } | undefined
}

export function leaderboardPage(view: LeaderboardView): Html {
  const { site, entityType, file, isReleased, pageNumber, pages } = view
  const { many } = WORDS[entityType]
  const title = `Leaderboard: ${many}`
  const path = pathOf(entityType, pageNumber)
  return page({
    site,
    title: pageNumber === 1 ? title : `${title}, page ${pageNumber}`,
    heading: `Which ${many} forecast best?`,
    description: `All ${many} in the order of their skill, with how sure each place is.`,
    path,
    isIndexed: file !== undefined,
    alternates: {
      'application/json': `/leaderboard/${entityType}`,
      ...(isReleased && { 'text/csv': boardTablePath(entityType) }),
    },
    intro: `${WHO[entityType]} Those come first who were less wrong than the others on the same questions. A name leads to the whole record, a topic to its own list.`,
    content: html`${topicChips(site, entityType, view.categories)}${file ? rows(view, file) : html`<div class="state"><p>${isReleased ? nobody(site, entityType) : nothingScored(view.nextReleaseAt)}</p></div>`}
${pager(site, { pageNumber, pages, pathOf: (number) => pathOf(entityType, number) })}`,
    ...(file && { source: releaseLine(site, file) }),
  })
}

function nobody(site: Site, entityType: EntityType): Html {
  const other = entityType === 'agent' ? 'forecaster' : 'agent'
  return html`This release has no ${WORDS[entityType].many}. <a href="${linkTo(site, LEADERBOARD_PATHS[other])}">Which ${WORDS[other].many} forecast best?</a>`
}

function pathOf(entityType: EntityType, pageNumber: number): string {
  return withQuery(LEADERBOARD_PATHS[entityType], { page: pageNumber === 1 ? undefined : pageNumber })
}

function rows(view: LeaderboardView, file: BoardPage): HtmlPart {
  const { site, entityType, rules, main, references } = view
  const { many } = WORDS[entityType]
  const ranked = file.entries.filter(({ rank }) => rank !== null)
  const retired = file.entries.filter((entry) => retiredAt(entry) !== null)
  const early = file.entries.filter((entry) => entry.rank === null && retiredAt(entry) === null)
  const reach = reachOfPage([...ranked, ...retired, ...references])
  return html`${file.entries.length > 0 && html`<p class="lead finding">${finding(site, entityType, main)}</p>\n`}${
    ranked.length > 0 && html`${reading(site, ranked, references)}\n${boardTables(view, ranked, reach)}`
  }${
    retired.length > 0 &&
    html`<h2>Retired</h2>
<p>They take part no more and have no place; their titles and skills stay. In the order of how many shared questions they have.</p>
${boardTable({ site, entityType, name: `Retired ${many}`, entries: retired, reach })}
`
  }${
    early.length > 0 &&
    html`<h2>Not enough questions yet</h2>
<p>A place takes ${contestedQuestions(rules)}. In the order of how many they have.</p>
${boardTable({ site, entityType, name: `Not ranked ${many}`, entries: early, needed: rules.eligible_questions })}
`
  }${
    file.entries.length > 0
      ? html`${movesLine(view)}<p class="mute">${NAMES[entityType]} ${releaseLine(site, file)}. <a href="${linkTo(site, boardTablePath(entityType))}">All as CSV</a></p>\n`
      : html`<div class="state"><p>${nobody(site, entityType)}</p></div>\n`
  }`
}

/** Nothing where nobody on the page has moved. */
function movesLine({ site, moves }: LeaderboardView): HtmlPart {
  if (!moves || ![...moves.places.values()].some((places) => places !== 0)) return undefined
  const { release, as_of: asOf } = moves.since
  return html`<p class="mute">▲ and ▼: places since <a href="${linkTo(site, releasePath(release))}">release ${release}</a> of ${dayOf(asOf)}.</p>\n`
}

/** Whoever chose the names, and not this service. */
const NAMES: Record<EntityType, string> = {
  agent: 'Names are chosen by their owners.',
  forecaster: 'Names are as the operator loaded them.',
}

/** A table of each pool. */
function boardTables(view: LeaderboardView, ranked: readonly NamedEntry[], reach: number): HtmlPart {
  const { site, entityType, references, neighbours, population, boards } = view
  const { many } = WORDS[entityType]
  return boardsOf(ranked).map((entries, index) => {
    const { pool } = entries[0]!
    const board = boards[index]!
    const isAnother = index > 0 || (neighbours.before !== undefined && neighbours.before.pool !== pool)
    const table = {
      site,
      entityType,
      entries,
      board,
      reach,
      moves: view.moves?.places,
      references,
      neighbours,
    }
    const among = `${grouped(board.size)} of ${grouped(population)} ${many}`
    if (!isAnother) {
      return html`<h2>${among} have a place</h2>
${boardTable({ ...table, name: `Ranked ${many}` })}
`
    }
    return html`<h2>Another pool: ${among}</h2>
<p>These answered other questions. Nobody here can be compared with those above, so places start anew. ${finding(site, entityType, board)}</p>
${boardTable({ ...table, name: `Ranked ${many} of the pool ${pool}` })}
`
  })
}
