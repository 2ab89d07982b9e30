// Rows of the leaderboard. Entries that cannot be told apart form a band.
import type { LeaderboardFile } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { awarded } from './award.ts'
import { intervalBar } from './charts/interval-bar.ts'
import { type Html, html } from './html.ts'
import { profilePath } from './links.ts'
import { plain, signed } from './numbers.ts'
import { type Site, linkTo } from './site.ts'
import type { Stored } from './stored.ts'
import { scrolling } from './table.ts'
import { endOf, interval, named, orNone, ranks } from './wording.ts'

export type Entry = Stored<LeaderboardFile['entries'][number]>

export const WORDS: Record<EntityType, { one: string; many: string }> = {
  agent: { one: 'agent', many: 'agents' },
  forecaster: { one: 'forecaster', many: 'forecasters' },
}

/** The requirements of the method for a rank. */
export interface RankRules {
  /** Contested questions that make an entity ranked. */
  eligible_questions: number
  /** Other voices that make a question contested. */
  contest_voices: number
}

/** Returns words such as “25 contested questions: those that at least 5 other voices answered”. */
export function contestedQuestions({ eligible_questions, contest_voices }: RankRules): string {
  return `${eligible_questions} contested questions: those that at least ${contest_voices} other voices answered`
}

/** The ranked by pool, in their order. */
export function boardsOf(ranked: readonly Entry[]): Entry[][] {
  return [...Map.groupBy(ranked, ({ pool }) => pool).values()]
}

/**
 * The ranked of a pool in bands. A band begins with the first row that is told apart from the first row of
 * the band before: two rows are not told apart when their intervals overlap (METHODOLOGY §3).
 */
export function bandsOf(ranked: readonly Entry[]): Entry[][] {
  const bands: Entry[][] = []
  for (const entry of ranked) {
    const band = bands.at(-1)
    if (band && overlap(barOf(band[0]!), barOf(entry))) band.push(entry)
    else bands.push([entry])
  }
  return bands
}

/** The interval at the level of the board; a release of version 2 of the method has only the entity's own. */
function barOf({
  board_interval: board,
  skill_interval: own,
}: Entry): { lower: number; upper: number } | null {
  return board === undefined ? own : board
}

/** Whoever has no interval is told apart from nobody. */
function overlap(one: ReturnType<typeof barOf>, other: ReturnType<typeof barOf>): boolean {
  return one === null || other === null || (one.lower <= other.upper && other.lower <= one.upper)
}

export function idOf(entry: Entry): string {
  return 'agent_id' in entry ? entry.agent_id : entry.user_id
}

function nameCell(site: Site, entityType: EntityType, entry: Entry): Html {
  const id = idOf(entry)
  const path = linkTo(site, profilePath(entityType, id))
  // An entity without a rank has no title.
  const title = entry.rank !== null && html`<span class="under">${awarded(entry)}</span>`
  return html`<th scope="row" class="name"><a href="${path}">${entry.name === null ? 'without a name' : named(entry.name)}</a> ${endOf(id)}${title}</th>`
}

/** @param name tells the table from others on its page. */
export function rankedTable(
  site: Site,
  entityType: EntityType,
  ranked: readonly Entry[],
  name = `Ranked ${WORDS[entityType].many}`,
): Html {
  const rows = bandsOf(ranked).map(
    (band, index) => html`<tbody class="${index % 2 === 0 ? 'tie-a' : 'tie-b'}">
${band.map((entry) => rankedRow(site, entityType, entry))}</tbody>
`,
  )
  const { one } = WORDS[entityType]
  return scrolling(
    name,
    html`<table class="ranking">
<thead><tr><th scope="col" class="n">rank</th><th scope="col">${one}, as registered</th><th scope="col">skill</th><th scope="col" class="n">contested questions</th><th scope="col" class="n">peer score</th><th scope="col" class="n">Brier</th></tr></thead>
${rows}</table>`,
  )
}

function rankedRow(site: Site, entityType: EntityType, entry: Entry): Html {
  const { skill } = entry
  const bounds = barOf(entry)
  return html`<tr><td class="n">${ranks(entry.rank_interval)}</td>${nameCell(site, entityType, entry)}<td><div class="skill"><span class="number">${orNone(skill, signed)}</span>${skill !== null && intervalBar(skill, bounds)}<span class="under">${interval(bounds)}</span></div></td>${scores(entry)}</tr>
`
}

function scores({ contested_questions: questions, peer_score, brier }: Entry, needed?: number): Html {
  return html`<td class="n">${questions}${needed !== undefined && ` of ${needed}`}</td><td class="n">${orNone(peer_score, (value) => signed(value, 1))}</td><td class="n">${orNone(brier, plain)}</td>`
}

export function unrankedTable(
  site: Site,
  entityType: EntityType,
  unranked: readonly Entry[],
  eligibleQuestions: number,
): Html {
  const { one, many } = WORDS[entityType]
  const rows = unranked.map(
    (entry) => html`<tr>${nameCell(site, entityType, entry)}${scores(entry, eligibleQuestions)}</tr>
`,
  )
  return scrolling(
    `Not ranked ${many}`,
    html`<table>
<thead><tr><th scope="col">${one}, as registered</th><th scope="col" class="n">contested questions</th><th scope="col" class="n">peer score</th><th scope="col" class="n">Brier</th></tr></thead>
<tbody>
${rows}</tbody></table>`,
  )
}
