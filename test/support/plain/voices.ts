// Which entities are voices, whom each of them measures, and which of its owner's agents an agent is
// (METHODOLOGY §1 and §3).
import { inByteOrder } from './order.ts'

export interface PlainEntityRecord {
  id: string
  kind: 'agent' | 'forecaster'
  owner: string | null
  registered_at_ms: number
  retired_at_ms?: number | null
}

export type VoiceRule = 'recorded' | 'everyone'

export interface Measures {
  rule: VoiceRule
  /** The entities that others are measured against. */
  voices: ReadonlySet<string>
  /** For each entity the voice that does not measure it: itself, or the voice of its owner. */
  leftOut: ReadonlyMap<string, string>
}

export function isMeasuredBy({ voices, leftOut }: Measures, entity: string, other: string): boolean {
  return other !== entity && voices.has(other) && leftOut.get(entity) !== other
}

const LEAST_VOICES = 6

/** Every forecaster, and of every owner the agent that was registered first. */
export function recordedVoices(entities: readonly PlainEntityRecord[]): Measures {
  const people = entities.filter(({ kind }) => kind === 'forecaster').map(({ id }) => id)
  const owned = entities.filter(({ kind, owner }) => kind === 'agent' && owner !== null)
  const leftOut = new Map(people.map((id) => [id, id]))
  for (const agents of Map.groupBy(owned, ({ owner }) => owner).values()) {
    const [first] = agents.toSorted(
      (a, b) => a.registered_at_ms - b.registered_at_ms || inByteOrder(a.id, b.id),
    )
    for (const { id } of agents) leftOut.set(id, first!.id)
  }
  return { rule: 'recorded', voices: new Set(leftOut.values()), leftOut }
}

/** The recorded voices, or everyone where fewer than six of those are among `scored`. */
export function voicesOf(
  entities: readonly PlainEntityRecord[],
  /** The entities with a settled, scored pair. */
  scored: ReadonlySet<string>,
): Measures {
  const recorded = recordedVoices(entities)
  if ([...recorded.voices].filter((id) => scored.has(id)).length >= LEAST_VOICES) return recorded
  const ids = entities.map(({ id }) => id)
  return { rule: 'everyone', voices: new Set(ids), leftOut: new Map(ids.map((id) => [id, id])) }
}

/**
 * For each agent how many of its owner's agents have a scored pair, and which of those with a contested pair
 * it is, null without one. Agents without an owner count as those of one owner.
 */
export function attemptsOf(
  entities: readonly PlainEntityRecord[],
  /** The entities with a scored pair, settled or not. */
  scored: ReadonlySet<string>,
  /** When the first contested question of each entity was settled. */
  firstSettledMs: ReadonlyMap<string, number>,
): Map<string, { owner_agents: number; attempt: number | null }> {
  const agents = entities.filter(({ kind }) => kind === 'agent')
  return new Map(
    [...Map.groupBy(agents, ({ owner }) => owner).values()].flatMap((siblings) => {
      const tried = siblings
        .map(({ id }) => id)
        .filter((id) => firstSettledMs.has(id))
        .sort((a, b) => firstSettledMs.get(a)! - firstSettledMs.get(b)! || inByteOrder(a, b))
      const owner_agents = siblings.filter(({ id }) => scored.has(id)).length
      return siblings.map(({ id }) => {
        const attempt = tried.includes(id) ? tried.indexOf(id) + 1 : null
        return [id, { owner_agents, attempt }] as const
      })
    }),
  )
}
