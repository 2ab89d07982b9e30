// The voices, against which others are measured, and the number of an agent among its owner's (METHODOLOGY §1
// and §3).
import type { VoiceRule } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'

/** The facts of an entity that are known before anything is scored. */
export interface KnownEntity {
  entityType: EntityType
  entityId: string
  /**
   * The owner of an agent, as the operator has recorded it; null for an agent without one, and for a
   * forecaster.
   */
  ownerId: string | null
  registeredAtMs: number
}

/**
 * For each entity 1 if it is a voice: every forecaster, and the first agent of each owner; or every one of
 * them.
 */
export function voicesOf(entities: readonly KnownEntity[], rule: VoiceRule): Uint8Array {
  const first = new Map<string, number>()
  entities.forEach(({ ownerId }, index) => {
    if (ownerId === null) return
    const known = first.get(ownerId)
    if (known === undefined || isBefore(entities[index]!, entities[known]!)) first.set(ownerId, index)
  })
  const firsts = new Set(first.values())
  return Uint8Array.from(entities, ({ entityType }, index) =>
    rule === 'everyone' || entityType === 'forecaster' || firsts.has(index) ? 1 : 0,
  )
}

function isBefore(a: KnownEntity, b: KnownEntity): boolean {
  return (
    a.registeredAtMs < b.registeredAtMs || (a.registeredAtMs === b.registeredAtMs && a.entityId < b.entityId)
  )
}

/** How an agent stands among those of its owner; both null for a forecaster. */
export interface Attempt {
  /** How many of its owner's agents have a scored pair. */
  owner_agents: number | null
  /** The agent is the k-th of them; null for one without a scored pair. */
  attempt: number | null
}

/**
 * Numbers each owner's agents in the order in which the first scored question of each resolved, then of their
 * ids. `firstResolvedMs` has that instant for each entity, Infinity for one without a scored pair. Agents
 * without a recorded owner are counted together as one owner's.
 */
export function attemptsOf(entities: readonly KnownEntity[], firstResolvedMs: Float64Array): Attempt[] {
  const agents = Array.from(entities.keys()).filter((index) => entities[index]!.entityType === 'agent')
  const scored = agents
    .filter((index) => firstResolvedMs[index]! < Infinity)
    .sort(
      (a, b) =>
        firstResolvedMs[a]! - firstResolvedMs[b]! || (entities[a]!.entityId < entities[b]!.entityId ? -1 : 1),
    )
  const attempts = new Map<number, number>()
  const counts = new Map<string | null, number>()
  for (const index of scored) {
    const { ownerId } = entities[index]!
    const attempt = (counts.get(ownerId) ?? 0) + 1
    counts.set(ownerId, attempt)
    attempts.set(index, attempt)
  }
  return entities.map(({ entityType, ownerId }, index) =>
    entityType === 'agent'
      ? { owner_agents: counts.get(ownerId) ?? 0, attempt: attempts.get(index) ?? null }
      : { owner_agents: null, attempt: null },
  )
}
