// Rows of the leaderboard. Entries that cannot be told apart form a band.
import type { ReleaseCounts } from '../../schemas/manifests.ts'
import type { LeaderboardFile } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { awarded } from './award.ts'
import { intervalBar } from './charts/interval-bar.ts'
import { type Html, type HtmlPart, html } from './html.ts'
import { profilePath } from '../../schemas/entity-paths.ts'
import { grouped, percent, plain, signed } from './numbers.ts'
import { type Site, linkTo } from './site.ts'
import type { Stored } from './stored.ts'
import { scrolling } from './table.ts'
import { dayOf, endOf, interval, named, orNone, otherRanks } from './wording.ts'

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
  /** The last share of a question's time, in which a first forecast comes too late to contest it. */
  latest_start: number
}

/** Returns words such as “25 contested questions: those with answers of at least 5 other voices and …”. */
export function contestedQuestions({ eligible_questions: least, ...rules }: RankRules): string {
  return `${least} contested questions: those with answers of at least ${rules.contest_voices} other voices and a first forecast before the last ${percent(rules.latest_start)} of their time`
}

/** How many entities of a kind the release has. */
export function populationOf(
  { agents, forecasters }: Pick<ReleaseCounts, 'agents' | 'forecasters'>,
  entityType: EntityType,
): number {
  return entityType === 'agent' ? agents : forecasters
}

/** All who are ranked among each other; a page may show only some of them. */
export interface Board {
  /** Undefined for a release of version 2 of the method, which has one board for all. */
  pool: string | undefined
  size: number
}

/** Says who is ranked among whom. */
export function boardLine(entityType: EntityType, { pool, size }: Board, population: number): HtmlPart {
  const { many } = WORDS[entityType]
  const tied = pool !== undefined && html`, whom common questions tie together in the pool ${endOf(pool)}`
  return html`<p>Ranked among each other: ${grouped(size)} of ${grouped(population)} ${many}${tied}.</p>`
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
  // An entity that is not eligible has no title.
  const title = entry.skill !== null && awarded(entry)
  const retired = retiredAt(entry)
  const until = retired !== null && html`retired ${dayOf(retired)}`
  const under = title && until ? html`${title}, ${until}` : title || until
  return html`<th scope="row" class="name"><a href="${path}">${entry.name === null ? 'without a name' : named(entry.name)}</a> ${endOf(id)}${under && html`<span class="under">${under}</span>`}</th>`
}

/** Returns when an entity retired; null while it takes part. */
export function retiredAt(entry: Entry): string | null {
  return 'retired_at' in entry ? (entry.retired_at ?? null) : null
}

/** @param name tells the table from others on its page. */
export function rankedTable(
  site: Site,
  entityType: EntityType,
  ranked: readonly Entry[],
  { size }: Board,
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
<thead><tr><th scope="col" class="n">rank of\u00a0${grouped(size)}</th><th scope="col">${one}, as registered</th><th scope="col">skill</th><th scope="col" class="n">contested questions</th><th scope="col" class="n">peer score</th><th scope="col" class="n">Brier</th></tr></thead>
${rows}</table>`,
  )
}

function rankedRow(site: Site, entityType: EntityType, entry: Entry): Html {
  const { rank, rank_interval: range } = entry
  const others = otherRanks(range)
  return html`<tr><td class="n">${rank}${others !== undefined && html` <span class="under">${others}</span>`}</td>${nameCell(site, entityType, entry)}${skillCell(entry)}${scores(entry)}</tr>
`
}

function skillCell(entry: Entry): Html {
  const { skill } = entry
  const bounds = barOf(entry)
  return html`<td><div class="skill"><span class="number">${orNone(skill, signed)}</span>${skill !== null && html`${intervalBar(skill, bounds)}<span class="under">${interval(bounds)}</span>`}</div></td>`
}

function scores({ contested_questions: questions, peer_score, brier }: Entry, needed?: number): Html {
  return html`<td class="n">${questions}${needed !== undefined && ` of ${needed}`}</td><td class="n">${orNone(peer_score, (value) => signed(value, 1))}</td><td class="n">${orNone(brier, plain)}</td>`
}

/** Shows the retired, who have no rank, with their titles. */
export function retiredTable(site: Site, entityType: EntityType, retired: readonly Entry[]): Html {
  const { one, many } = WORDS[entityType]
  const rows = retired.map(
    (entry) => html`<tr>${nameCell(site, entityType, entry)}${skillCell(entry)}${scores(entry)}</tr>
`,
  )
  return scrolling(
    `Retired ${many}`,
    html`<table class="ranking">
<thead><tr><th scope="col">${one}, as registered</th><th scope="col">skill</th><th scope="col" class="n">contested questions</th><th scope="col" class="n">peer score</th><th scope="col" class="n">Brier</th></tr></thead>
<tbody>
${rows}</tbody></table>`,
  )
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
