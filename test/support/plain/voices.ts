// Who measures whom, and which of its owner's agents an agent is (METHODOLOGY §1 and §3).
import { inByteOrder } from './order.ts'

export interface WorldEntity {
  id: string
  kind: 'agent' | 'forecaster'
  owner: string | null
  registered_at_ms: number
  retired_at_ms?: number | null
}

export interface Voices {
  rule: 'recorded' | 'everyone'
  of: ReadonlySet<string>
  /** The voices that do not measure an entity. */
  leftOut: (entity: string) => readonly string[]
}

const LEAST_VOICES = 6

const hasRecordedOwner = ({ owner }: WorldEntity) => owner !== null && !owner.startsWith('domain:')

/** Every forecaster, and of every owner that the operator recorded the agent that was registered first. */
export function recordedVoices(entities: readonly WorldEntity[]): Voices {
  const people = entities.filter(({ kind }) => kind === 'forecaster').map(({ id }) => id)
  const owned = entities.filter((entity) => entity.kind === 'agent' && hasRecordedOwner(entity))
  const voiceOf = new Map<string, string>()
  for (const agents of Map.groupBy(owned, ({ owner }) => owner).values()) {
    const inOrder = agents.toSorted(
      (a, b) => a.registered_at_ms - b.registered_at_ms || inByteOrder(a.id, b.id),
    )
    for (const { id } of agents) voiceOf.set(id, inOrder[0]!.id)
  }
  return {
    rule: 'recorded',
    of: new Set([...people, ...voiceOf.values()]),
    leftOut: (entity) => [entity, ...(voiceOf.has(entity) ? [voiceOf.get(entity)!] : [])],
  }
}

/** `scored` has the entities with a settled, scored pair. */
export function voicesOf(entities: readonly WorldEntity[], scored: ReadonlySet<string>): Voices {
  const recorded = recordedVoices(entities)
  if ([...recorded.of].filter((id) => scored.has(id)).length >= LEAST_VOICES) return recorded
  return { rule: 'everyone', of: new Set(entities.map(({ id }) => id)), leftOut: (entity) => [entity] }
}

export interface Attempt {
  /** How many agents of the owner have a scored pair. */
  ownerAgents: number
  /** Null without a contested pair. */
  attempt: number | null
}

/** For each agent. Agents without an owner count as those of one owner. */
export function attemptsOf(
  entities: readonly WorldEntity[],
  scored: ReadonlySet<string>,
  /** When the first contested question of each entity was settled. */
  firstSettledMs: ReadonlyMap<string, number>,
): Map<string, Attempt> {
  const agents = entities.filter(({ kind }) => kind === 'agent')
  return new Map(
    [...Map.groupBy(agents, ({ owner }) => owner).values()].flatMap((siblings) => {
      const ids = siblings.map(({ id }) => id)
      const tried = ids
        .filter((id) => firstSettledMs.has(id))
        .sort((a, b) => firstSettledMs.get(a)! - firstSettledMs.get(b)! || inByteOrder(a, b))
      const ownerAgents = ids.filter((id) => scored.has(id)).length
      return ids.map((id): [string, Attempt] => {
        return [id, { ownerAgents, attempt: tried.includes(id) ? tried.indexOf(id) + 1 : null }]
      })
    }),
  )
}
