// The boards: who leads, the rows of those who are ranked, and the reference forecasts among them.
import type { ReleaseCounts } from '../../schemas/manifests.ts'
import type { LeaderboardFile } from '../../schemas/payloads.ts'
import type { ReferenceRow, Reference } from '../../schemas/references.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { boardAxis, boardBar, reachOf, sparkline } from './charts/interval-bar.ts'
import { type Html, type HtmlPart, html, scrolling } from './html.ts'
import { type TitleRules, entityLink } from './profile/subject.ts'
import type { Site } from './site.ts'
import { term } from './terms.ts'
import {
  NONE,
  grouped,
  awarded,
  titleOf,
  percent,
  plain,
  signed,
  dayOf,
  endOf,
  interval,
  named,
  orNone,
  places,
} from './wording.ts'

/**
 * Says who leads, by the bars of the whole board, so that it holds on each of its pages. Surely behind is
 * whoever has a bar that lies wholly below the first one's.
 */
export function finding(site: Site, entityType: EntityType, board: PoolBoard | undefined): Html {
  const { one, many } = WORDS[entityType]
  const [leader, second] = board?.first ?? []
  if (!board || !leader) return html`None of these ${many} has a place yet.`
  const { size } = board
  const name = nameLink(site, entityType, leader)
  if (size === 1) return html`${name} is the only ${one} with a place.`
  if (second?.rank === leader.rank) {
    return html`Nobody leads: ${name} and ${nameLink(site, entityType, second)} have the same skill.`
  }
  const others = size - 1
  const behind = size - leader.rank_interval!.upper
  const all = ALL[others] ?? `all ${grouped(others)} others`
  const among = (count: number) =>
    count === others ? all : `${grouped(count)} of the ${grouped(others)} others`
  return behind * 2 >= others
    ? html`${name} leads, and is ahead of ${among(behind)} for sure.`
    : html`Nobody leads for sure: ${name} is in front, but it is too close to call with ${among(others - behind)}.`
}

/** Names all others, by how many they are. */
const ALL: Record<number, string> = { 1: 'the other', 2: 'both others' }

/** Says once how to read a row: its dot and bar, and its title. */
export function reading(
  site: Site,
  ranked: readonly NamedEntry[],
  references: readonly ReferenceRow[] = [],
): Html {
  const bars = ranked.filter(({ board_interval: bar }) => bar !== null).length
  const bar = html`The bar is what luck leaves open: we are 95\u00a0% sure that the true skill lies on it. <strong>Bars that overlap: too close to call.</strong> A ${term(site, 'place', 'place')} such as 2–3 is the best and the worst that the bars leave open.`
  return html`<p>● is the ${term(site, 'skill', 'skill')}: 0 is as good as the average of ${term(site, 'others', 'the others')}, 1 is perfect. ${bars > 0 && bar}${bars < ranked.length && html` ${withoutBar(site, bars === 0)}`}</p>
<ul class="reading"><li>✓\u00a0${term(site, 'title', 'certified')}: luck is very unlikely as the reason for the skill. ○\u00a0measured: a skill and a place, and nothing proved.</li>${references.length > 0 && html`<li>${aboutReferences(site)}</li>`}</ul>`
}

/** Says why somebody has no bar, or why nobody has. */
export function withoutBar(site: Site, nobodyHas: boolean): Html {
  return html`${nobodyHas ? 'Nobody here has a bar: the' : 'Who has none: their'} questions are all of one ${term(site, 'groups', 'event')}, so nothing says how much of the skill is luck.`
}

/** An entry with its name: that of an agent is signed, that of a person is not. */
export type NamedEntry = LeaderboardFile['entries'][number] & { name: string | null }
/** A page of the leaderboard as published, with the names of today. */
export type BoardPage = Omit<LeaderboardFile, 'entries'> & { entries: NamedEntry[] }

/** Says to a reader who is new who they are. */
export const WHO: Record<EntityType, string> = {
  agent: 'Agents are programs that say how likely it is that things happen.',
  forecaster: 'Forecasters are people who say how likely it is that things happen.',
}

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
function nameLink(site: Site, entityType: EntityType, entry: NamedEntry): Html {
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

interface BoardTable {
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
${withReferences(table).map((entry) => ('reference' in entry ? referenceIn(table, entry) : boardRow(table, reachOverTime, entry)))}</tbody></table>`,
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

function boardRow(table: BoardTable, reachOverTime: number, entry: NamedEntry): Html {
  const { site, entityType, board, moves, reach, needed } = table
  const { contested_questions: questions, answered_share: answered, peer_score, brier } = entry
  const place = board && html`<td class="n place">${placesOf(entry)}${moved(moves?.get(idOf(entry)))}</td>`
  const skill = reach !== undefined && skillCell(entry, reach, reachOverTime)
  const ofNeeded = needed !== undefined && ` of ${needed}`
  const share = answered !== null && html` <span class="under">answered ${percent(answered)}</span>`
  return html`<tr>${place}${nameCell(site, entityType, entry)}${skill}<td class="n">${questions}${ofNeeded}${share}</td><td class="n">${orNone(peer_score, (value) => signed(value, 1))}</td><td class="n">${orNone(brier, plain)}</td></tr>
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

const NAMES: Record<Reference, string> = {
  always_half: 'Always 50\u00a0%',
  base_rate: 'The usual share of yes',
  median: 'The median',
  market: 'The market',
}

/** The facts of an entry that decide which references stand above it. */
interface Placed {
  rank: number | null
  pool: string | null
  skill: number | null
}

/** The entries around those of a page, in the order of the board; undefined at its ends. */
export interface Neighbours {
  before?: Placed | undefined
  after?: Placed | undefined
}

/**
 * Puts references among the ranked of one pool that a page shows, each above the first entry with a lower
 * skill. Over all pages of a board each reference comes once.
 */
export function amongReferences<Row extends Placed>(
  entries: readonly Row[],
  references: readonly ReferenceRow[],
  { before, after }: Neighbours,
): (Row | ReferenceRow)[] {
  const { pool } = entries[0]!
  const inPool = (one: Placed | undefined) =>
    one && one.rank !== null && one.pool === pool ? one : undefined
  const [above, below] = [inPool(before), inPool(after)]
  const placed = references
    .filter((row) => row.pool === pool)
    .toSorted((a, b) => b.skill - a.skill)
    .flatMap((row) => {
      const at = entries.findIndex(({ skill }) => skill! < row.skill)
      const isHere = at < 0 ? !below : at > 0 || !above || above.skill! >= row.skill
      return isHere ? [{ row, at: at < 0 ? entries.length : at }] : []
    })
  const aboveAt = (at: number) => placed.filter((one) => one.at === at).map(({ row }) => row)
  return [...entries.flatMap((entry, at) => [...aboveAt(at), entry]), ...aboveAt(entries.length)]
}

interface BoardShape {
  /** The end of its axis. */
  reach: number
  /** Whether its rows have lines over time. */
  isOverTime: boolean
}

/** Shows a reference in the row of a board. */
export function referenceRow(site: Site, row: ReferenceRow, { reach, isOverTime }: BoardShape): Html {
  const { reference, skill, board_interval: bounds } = row
  return html`<tr class="reference"><td class="n place">${NONE}</td><th scope="row" class="name">${NAMES[reference]}<span class="under">${term(site, 'grey-rows', 'for comparison')}</span></th><td class="skill">${boardBar(skill, bounds, reach)}${isOverTime && html`<span class="spark"></span>`}<span class="value">${signed(skill)} <span class="under">${interval(bounds)}</span></span></td><td class="n">${row.contested_questions}</td><td class="n">${NONE}</td><td class="n">${NONE}</td></tr>
`
}

/** Says once what the grey rows are. */
export function aboutReferences(site: Site): Html {
  return html`${term(site, 'grey-rows', 'Grey rows')} take no part and have no place; each stands where its skill does, here or on another page. They are forecasts that anybody could make, and show what a skill is worth.`
}
