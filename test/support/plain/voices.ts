// Which entities are voices, and which of its owner's agents an agent is (METHODOLOGY §1 and §3).

export interface PlainEntityRecord {
  id: string
  kind: 'agent' | 'forecaster'
  owner: string | null
  registered_at_ms: number
}

export type VoiceRule = 'recorded' | 'everyone'

const LEAST_VOICES = 6

/** `scored` holds the entities with a scored pair. */
export function voicesOf(
  entities: readonly PlainEntityRecord[],
  scored: ReadonlySet<string>,
): { voices: Set<string>; rule: VoiceRule } {
  const owned = Map.groupBy(
    entities.filter(({ kind, owner }) => kind === 'agent' && owner !== null),
    ({ owner }) => owner,
  )
  const firsts = [...owned.values()].map(
    (agents) =>
      agents.toSorted((a, b) => a.registered_at_ms - b.registered_at_ms || (a.id < b.id ? -1 : 1))[0]!.id,
  )
  const people = entities.filter(({ kind }) => kind === 'forecaster').map(({ id }) => id)
  const recorded = new Set([...people, ...firsts])
  if ([...recorded].filter((id) => scored.has(id)).length >= LEAST_VOICES) {
    return { voices: recorded, rule: 'recorded' }
  }
  return { voices: new Set(entities.map(({ id }) => id)), rule: 'everyone' }
}

/**
 * For each agent how many of its owner's agents have a scored pair, and which of them it is, null without
 * one. Agents without an owner count as those of one owner. `firstResolvedMs` is when the first scored
 * question of each resolved.
 */
export function attemptsOf(
  entities: readonly PlainEntityRecord[],
  firstResolvedMs: ReadonlyMap<string, number>,
): Map<string, { owner_agents: number; attempt: number | null }> {
  const agents = entities.filter(({ kind }) => kind === 'agent')
  return new Map(
    [...Map.groupBy(agents, ({ owner }) => owner).values()].flatMap((siblings) => {
      const tried = siblings
        .filter(({ id }) => firstResolvedMs.has(id))
        .sort((a, b) => firstResolvedMs.get(a.id)! - firstResolvedMs.get(b.id)! || (a.id < b.id ? -1 : 1))
        .map(({ id }) => id)
      return siblings.map(({ id }) => {
        const attempt = tried.includes(id) ? tried.indexOf(id) + 1 : null
        return [id, { owner_agents: tried.length, attempt }] as const
      })
    }),
  )
}
