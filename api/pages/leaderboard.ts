// The leaderboard page: who is ahead, and who cannot be told apart.
import type { LeaderboardFile } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { type Html, type HtmlPart, html } from './html.ts'
import { page } from './layout.ts'
import { LEADERBOARD_PATHS } from '../../schemas/entity-paths.ts'
import { withQuery } from './links.ts'
import { pager } from './pager.ts'
import { releaseLine } from './provenance.ts'
import type { Site } from './site.ts'
import {
  type Board,
  type Entry,
  type RankRules,
  WORDS,
  boardLine,
  boardsOf,
  contestedQuestions,
  rankedTable,
  retiredAt,
  retiredTable,
  unrankedTable,
} from './ranking.ts'
import { nothingScored } from './states.ts'

export interface LeaderboardView {
  site: Site
  entityType: EntityType
  /** The page in the release; undefined if there is no release, or nobody of the kind in it. */
  file: LeaderboardFile | undefined
  isReleased: boolean
  /** The first is 1. */
  pageNumber: number
  pages: number
  rules: RankRules
  /** How many entities of the kind the release has. */
  population: number
  /** The boards whose entries are on the page, in their order. */
  boards: readonly Board[]
  /** The pool of the last entry of the page before; undefined on the first page. */
  poolBefore: string | null | undefined
  nextReleaseAt: Date | undefined
}

export function leaderboardPage(view: LeaderboardView): Html {
  const { site, entityType, file, isReleased, pageNumber, pages } = view
  const { many } = WORDS[entityType]
  const title = `Leaderboard: ${many}`
  const path = pathOf(entityType, pageNumber)
  return page({
    site,
    title: pageNumber === 1 ? title : `${title}, page ${pageNumber}`,
    heading: title,
    description: `All ${many} in the order of their skill, with how sure each rank is.`,
    path,
    isIndexed: file !== undefined,
    alternates: { 'application/json': `/leaderboard/${entityType}` },
    content: html`${file ? rows(view, file) : html`<div class="state"><p>${isReleased ? nobody(entityType) : nothingScored(view.nextReleaseAt)}</p></div>`}
${pager(site, { pageNumber, pages, pathOf: (number) => pathOf(entityType, number) })}`,
    ...(file && { source: releaseLine(site, file) }),
  })
}

function nobody(entityType: EntityType): string {
  return `This release has no ${WORDS[entityType].many}.`
}

function pathOf(entityType: EntityType, pageNumber: number): string {
  return withQuery(LEADERBOARD_PATHS[entityType], { page: pageNumber === 1 ? undefined : pageNumber })
}

/** A table of each pool. */
function boardTables(view: LeaderboardView, ranked: readonly Entry[]): HtmlPart {
  const { site, entityType, poolBefore, population, boards } = view
  return boardsOf(ranked).map((members, index) => {
    const { pool } = members[0]!
    const board = boards[index]!
    const isAnother = index > 0 || (poolBefore !== undefined && poolBefore !== pool)
    const line = boardLine(entityType, board, population)
    if (!isAnother) return html`${line}\n${rankedTable(site, entityType, members, board)}`
    const name = `Ranked ${WORDS[entityType].many} of the pool ${pool}`
    return html`<h2>Another pool</h2>
<p>No chain of common questions ties it to the one above, so its ranks start anew.</p>
${line}
${rankedTable(site, entityType, members, board, name)}
`
  })
}

function rows(view: LeaderboardView, file: LeaderboardFile): HtmlPart {
  const { site, entityType, rules } = view
  const { many } = WORDS[entityType]
  const ranked = file.entries.filter(({ rank }) => rank !== null)
  const retired = file.entries.filter((entry) => retiredAt(entry) !== null)
  const early = file.entries.filter((entry) => entry.rank === null && retiredAt(entry) === null)
  // Version 2 of the method gives each entity a level of its own.
  const isOneLevel = ranked.every(({ board_interval: board }) => board !== undefined)
  return html`<p class="mute">${releaseLine(site, file)}</p>
${
  ranked.length > 0 &&
  html`<p>In the order of skill: 0 is the middle of the field, 1 would be perfect. Beside each skill stand the ends of its interval${isOneLevel && ' at the level 95\u00a0%'}, also as a bar from −0.5 to +0.5 with a tick at 0. <strong>Between two thick lines, nobody can be told apart from the first.</strong></p>
${boardTables(view, ranked)}
`
}${ranked.length === 0 && file.entries.length > 0 && html`<p>None of these ${many} is ranked.</p>\n`}${
    retired.length > 0 &&
    html`<h2>Retired</h2>
<p>They take part no more and have no rank; their titles and skills stay. In the order of how many contested questions they have.</p>
${retiredTable(site, entityType, retired)}
`
  }${
    early.length > 0 &&
    html`<h2>Not ranked yet</h2>
<p>Fewer than ${contestedQuestions(rules)}. So few could be luck. In the order of how many they have.</p>
${unrankedTable(site, entityType, early, rules.eligible_questions)}
`
  }${file.entries.length === 0 && html`<div class="state"><p>${nobody(entityType)}</p></div>\n`}`
}
