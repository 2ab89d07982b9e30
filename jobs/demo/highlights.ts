// The highlights of the world of `fvs demo`, a line each with the address that shows it.
import { OWNERS } from '../sandbox/simulated-agents.ts'
import type { RankedEntity, ServedOwner } from './served.ts'

interface Highlight {
  text: string
  path: string
}

/** The entities and owners of a release, as served. */
export interface Highlights {
  agents: readonly RankedEntity[]
  forecasters: readonly RankedEntity[]
  owners: readonly ServedOwner[]
}

export function describeHighlights({ agents, forecasters, owners }: Highlights, url: string): string[] {
  const group = tieGroupOf(forecasters)
  const several = owners.filter(({ owner_id }) => owner_id === OWNERS.several)
  const shown = (owner: string, what: string): Highlight[] =>
    agents
      .filter((agent) => agent.owner === owner)
      .map((agent) => ({
        text: `${what}, and is ${titleOf(agent)}: ${agent.name}, ${skillsOf(agent)}`,
        path: `/agents/${agent.id}/verification`,
      }))
  const highlights: Highlight[] = [
    ...group.slice(0, 1).map(({ id }) => ({
      text: `a tie group, in which the board intervals of any two overlap: ${namesOf(group)}`,
      path: `/forecaster/${id}/rankings`,
    })),
    ...several.map(({ owner_id, agents: own, certified: count }) => ({
      text: `an owner of ${own.length} agents, ${count} of them certified: ${owner_id}`,
      path: `/owners/${owner_id}`,
    })),
    ...shown(OWNERS.copying, 'copies the crowd'),
    ...shown(OWNERS.late, 'copies the crowd, says every outcome in the last quarter'),
  ]
  return highlights.map(({ text, path }) => `  ${text}  ${url}${path}`)
}

/** Returns the first group of entities by skill whose intervals all overlap (METHODOLOGY §3). */
export function tieGroupOf(ranked: readonly RankedEntity[]): RankedEntity[] {
  const groups = ranked.map((_, start) => {
    const group: RankedEntity[] = []
    for (const next of ranked.slice(start)) {
      if (!group.every((member) => overlap(member, next))) break
      group.push(next)
    }
    return group
  })
  return groups.find(({ length }) => length > 1) ?? []
}

function overlap({ board_interval: one }: RankedEntity, { board_interval: other }: RankedEntity): boolean {
  return one !== null && other !== null && one.lower <= other.upper && other.lower <= one.upper
}

export function titleOf({ verification }: Pick<RankedEntity, 'verification'>): string {
  return 'certification' in verification ? verification.certification : verification.badge
}

export function spanOf(interval: RankedEntity['verification']['skill_interval']): string {
  return interval ? `${interval.lower.toFixed(3)} to ${interval.upper.toFixed(3)}` : '-'
}

/** As in: skill 0.004 (-0.061 to 0.069), median skill 0.021 (-0.052 to 0.094). */
function skillsOf({ verification }: RankedEntity): string {
  const { skill, skill_interval, median_skill, median_skill_interval } = verification
  const text = (value: number | null, interval: typeof skill_interval) =>
    `${value?.toFixed(3) ?? '-'} (${spanOf(interval)})`
  return `skill ${text(skill, skill_interval)}, median skill ${text(median_skill, median_skill_interval)}`
}

/** Lists simulated names; after the first only their numbers. */
function namesOf(entities: readonly RankedEntity[]): string {
  return entities.map(({ name }, place) => (place === 0 ? name : /-\d+$/.exec(name)![0])).join(', ')
}
