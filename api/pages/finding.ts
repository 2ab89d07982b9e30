// The words above a board: who leads, how sure that is, and how to read a row.
import type { ReferenceRow } from '../../schemas/references.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { type Html, html } from './html.ts'
import { grouped } from './numbers.ts'
import { type PoolBoard, type NamedEntry, WORDS, nameLink } from './ranking.ts'
import { aboutReferences } from './references.ts'
import type { Site } from './site.ts'
import { term } from './terms.ts'

/**
 * Says it by the bars of the whole board, so that it holds on each of its pages. Surely behind is whoever has
 * a bar that lies wholly below the first one's.
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
