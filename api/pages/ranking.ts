// Rows of the leaderboard. Entries that cannot be told apart form a band.
import type { LeaderboardFile } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { awarded } from './award.ts'
import { intervalBar } from './charts/interval-bar.ts'
import { type Html, html } from './html.ts'
import { profilePath } from './links.ts'
import { plain, signed } from './numbers.ts'
import { type Site, linkTo } from './site.ts'
import { scrolling } from './table.ts'
import { endOf, interval, named, orNone, ranks } from './wording.ts'

export type Entry = LeaderboardFile['entries'][number]

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

/**
 * Groups the ranked entries in bands. A band begins with the first entry that is told apart from the first
 * entry of the band before. Two entries are not told apart if the rank interval of each holds the rank of the
 * other (METHODOLOGY §3).
 */
export function bandsOf(ranked: readonly Entry[]): Entry[][] {
  const bands: Entry[][] = []
  for (const entry of ranked) {
    const band = bands.at(-1)
    if (band && holdsRankOf(band[0]!, entry) && holdsRankOf(entry, band[0]!)) band.push(entry)
    else bands.push([entry])
  }
  return bands
}

function holdsRankOf({ rank_interval: held }: Entry, { rank }: Entry): boolean {
  return held !== null && rank !== null && held.lower <= rank && rank <= held.upper
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

export function rankedTable(site: Site, entityType: EntityType, ranked: readonly Entry[]): Html {
  const rows = bandsOf(ranked).map(
    (band, index) => html`<tbody class="${index % 2 === 0 ? 'tie-a' : 'tie-b'}">
${band.map((entry) => rankedRow(site, entityType, entry))}</tbody>
`,
  )
  const { one, many } = WORDS[entityType]
  return scrolling(
    `Ranked ${many}`,
    html`<table class="ranking">
<thead><tr><th scope="col" class="n">rank</th><th scope="col">${one}, as registered</th><th scope="col">skill</th><th scope="col" class="n">contested questions</th><th scope="col" class="n">peer score</th><th scope="col" class="n">Brier</th></tr></thead>
${rows}</table>`,
  )
}

function rankedRow(site: Site, entityType: EntityType, entry: Entry): Html {
  const { skill, skill_interval: bounds } = entry
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
