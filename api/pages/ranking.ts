// Rows of the leaderboard, each with the places that its bar leaves open.
import type { ReleaseCounts } from '../../schemas/manifests.ts'
import type { LeaderboardFile } from '../../schemas/payloads.ts'
import type { ReferenceRow } from '../../schemas/references.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { awarded, titleOf } from './award.ts'
import { boardAxis, boardBar, reachOf, sparkline } from './charts/interval-bar.ts'
import { type Html, type HtmlPart, html } from './html.ts'
import { grouped, percent, plain, signed } from './numbers.ts'
import type { Site } from './site.ts'
import { type Neighbours, amongReferences, referenceRow } from './references.ts'
import { scrolling } from './table.ts'
import { type TitleRules, entityLink } from './profile/subject.ts'
import { term } from './terms.ts'
import { dayOf, endOf, interval, named, orNone, places } from './wording.ts'

/** An entry with its name: that of an agent is signed, that of a person is not. */
export type NamedEntry = LeaderboardFile['entries'][number] & { name: string | null }
/** A page of the leaderboard as published, with the names of today. */
export type BoardPage = Omit<LeaderboardFile, 'entries'> & { entries: NamedEntry[] }

export const WORDS: Record<EntityType, { one: string; many: string }> = {
  agent: { one: 'agent', many: 'agents' },
  forecaster: { one: 'forecaster', many: 'forecasters' },
}

/** Returns words such as “25 shared questions: those on which at least 5 others stood at …”. */
export function contestedQuestions({ eligible_questions: least, ...rules }: TitleRules): string {
  return `${least} shared questions: those on which at least ${rules.least_others} others stood at the same time, in the first ${percent(rules.judged_share)} of the question’s life`
}

/** How many entities of a kind the release has. */
export function populationOf(
  { agents, forecasters }: Pick<ReleaseCounts, 'agents' | 'forecasters'>,
  entityType: EntityType,
): number {
  return entityType === 'agent' ? agents : forecasters
}

/** All who are ranked among each other; a page may show only some of them. */
export interface PoolBoard {
  pool: string | null
  size: number
  /** The first two, or the only one. */
  first: readonly NamedEntry[]
}

/** The ranked by pool, in their order. */
export function boardsOf(ranked: readonly NamedEntry[]): NamedEntry[][] {
  return [...Map.groupBy(ranked, ({ pool }) => pool).values()]
}

/** The members of an entry, or of a reference, that are drawn. */
type Barred = Pick<NamedEntry, 'skill' | 'board_interval'>

/** Returns the end of the axis that all tables of a page share. */
export function reachOfPage(entries: readonly Barred[]): number {
  return reachOf(entries.map(({ skill, board_interval: bounds }) => ({ skill, bounds })))
}

export function idOf(entry: NamedEntry): string {
  return 'agent_id' in entry ? entry.agent_id : entry.user_id
}

/** Links to a profile by its name. */
export function nameLink(site: Site, entityType: EntityType, entry: NamedEntry): Html {
  return entityLink(site, entityType, idOf(entry), entry.name)
}

function nameCell(site: Site, entityType: EntityType, entry: NamedEntry): Html {
  const title = titleOf(entry) !== 'none' && awarded(entry)
  const retired = retiredAt(entry)
  const until = retired !== null && html`retired ${dayOf(retired)}`
  const under = title && until ? html`${title}, ${until}` : title || until
  // A name anyone can claim; where there is none, the end of the id stands for it.
  const end = entry.name !== null && html` ${endOf(idOf(entry))}`
  return html`<th scope="row" class="name">${nameLink(site, entityType, entry)}${end}${under && html`<span class="under">${under}</span>`}${madeOf(entry)}</th>`
}

/** The model of an agent and its organisation, as registered. Boards show two lines of them. */
function madeOf(entry: NamedEntry): HtmlPart {
  if (!('agent_id' in entry)) return undefined
  const words = [entry.model_type, entry.organization_name].filter(Boolean)
  return words.length > 0 && html` <span class="made">${named(words.join(' · '))}</span>`
}

/** Returns when an entity retired; null while it takes part. */
export function retiredAt(entry: NamedEntry): string | null {
  return 'retired_at' in entry ? entry.retired_at : null
}

export interface BoardTable {
  site: Site
  entityType: EntityType
  /** Tells the table from others on its page. */
  name: string
  entries: readonly NamedEntry[]
  /** The board whose places the table shows; left out for entries without a place. */
  board?: PoolBoard
  /** Rows that are no entrants. With them all entries are of one pool. */
  references?: readonly ReferenceRow[]
  neighbours?: Neighbours
  /** How many places each has gone up since an earlier release, by id; nothing where that is not known. */
  moves?: ReadonlyMap<string, number> | undefined
  /** The end of the axis; left out for a table without skills. */
  reach?: number
  /** The shared questions that a place takes, if the entries have too few. */
  needed?: number
}

/** Shows entries in rows, each with its place, its skill and its bar, as far as the table has them. */
export function boardTable(table: BoardTable): Html {
  const { site, entityType, name, entries, board, reach } = table
  const points = entries.flatMap(({ trend }) => trend)
  // The bars reach further than the skills, which would make each line flat.
  const reachOverTime = reachOf(points.map((skill) => ({ skill, bounds: null })))
  const axis =
    reach !== undefined &&
    html`<th scope="col" class="skill">${boardAxis(reach)}${points.length > 0 && html`<span class="spark">over time</span> `}<span class="value">${term(site, 'skill', 'skill')}</span></th>`
  return scrolling(
    name,
    html`<table class="board">
<thead><tr>${board && placeHead(site, board)}<th scope="col" class="name">${WORDS[entityType].one}</th>${axis}<th scope="col" class="n">${term(site, 'shared-questions', 'shared questions')}</th><th scope="col" class="n">${term(site, 'peer-score', 'peer score')}</th><th scope="col" class="n">${term(site, 'brier', 'Brier')}</th></tr></thead>
<tbody>
${withReferences(table).map((entry) => ('reference' in entry ? referenceIn(table, entry) : row(table, reachOverTime, entry)))}</tbody></table>`,
  )
}

function withReferences({
  entries,
  references = [],
  neighbours = {},
}: BoardTable): readonly (NamedEntry | ReferenceRow)[] {
  return references.length === 0 ? entries : amongReferences(entries, references, neighbours)
}

function referenceIn({ site, reach, entries }: BoardTable, reference: ReferenceRow): Html {
  const isOverTime = entries.some(({ trend }) => trend.length > 1)
  return referenceRow(site, reference, { reach: reach!, isOverTime })
}

function placeHead(site: Site, { size }: PoolBoard): Html {
  return html`<th scope="col" class="n place">${term(site, 'place', 'place')} of\u00a0${grouped(size)}</th>`
}

/** Writes the places that a ranked entry may have by the bars, as in 2–3. */
export function placesOf({ rank_interval: range }: NamedEntry): string {
  return places(range!)
}

function row(table: BoardTable, reachOverTime: number, entry: NamedEntry): Html {
  const { site, entityType, board, moves, reach, needed } = table
  const { contested_questions: questions, answered_share: answered, peer_score, brier } = entry
  const place = board && html`<td class="n place">${placesOf(entry)}${moved(moves?.get(idOf(entry)))}</td>`
  const skill = reach !== undefined && skillCell(entry, reach, reachOverTime)
  const of = needed !== undefined && ` of ${needed}`
  const share = answered !== null && html` <span class="under">answered ${percent(answered)}</span>`
  return html`<tr>${place}${nameCell(site, entityType, entry)}${skill}<td class="n">${questions}${of}${share}</td><td class="n">${orNone(peer_score, (value) => signed(value, 1))}</td><td class="n">${orNone(brier, plain)}</td></tr>
`
}

function moved(up: number | undefined): HtmlPart {
  if (up === undefined || up === 0) return undefined
  const [sign, word] = up > 0 ? ['▲', 'up'] : ['▼', 'down']
  const by = grouped(Math.abs(up))
  return html`<span class="under"><span aria-hidden="true">${sign}\u00a0${by}</span><span class="unseen">${word} ${by}</span></span>`
}

function skillCell(entry: NamedEntry, reach: number, reachOverTime: number): Html {
  const { skill, board_interval: bounds, trend } = entry
  return html`<td class="skill">${skill !== null && boardBar(skill, bounds, reach)}${sparkline(trend, reachOverTime)}<span class="value">${orNone(skill, signed)}${skill !== null && html` <span class="under">${interval(bounds)}</span>`}</span></td>`
}
