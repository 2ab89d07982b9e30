// The voices, against which others are measured, and the number of an agent among its owner's (METHODOLOGY §1
// and §3).
import type { VoiceRule } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'

/** The facts of an entity that are known before anything is scored. */
export interface KnownEntity {
  entityType: EntityType
  entityId: string
  /**
   * The owner of an agent, as the operator has recorded it or a domain has proved it; null for an agent
   * without one, and for a forecaster.
   */
  ownerId: string | null
  /**
   * The agent that its owner registered first, which may be none of those that are scored; null without an
   * owner that the operator has recorded, because only such owners measure others.
   */
  firstOfOwner: string | null
}

/** For each entity its own voice: itself if it is a voice, else that of its owner; −1 without one. */
export type Voices = Int32Array

export function isVoice(voices: Voices, entity: number): boolean {
  return voices[entity] === entity
}

/**
 * Every forecaster is a voice, and the first agent of each owner, which is the owner's; or every one of the
 * entities is, and leaves out nobody but itself.
 */
export function voicesOf(entities: readonly KnownEntity[], rule: VoiceRule): Voices {
  if (rule === 'everyone') return Int32Array.from(entities.keys())
  const first = new Map<string, number>()
  entities.forEach(({ entityId, firstOfOwner }, index) => {
    if (firstOfOwner === entityId) first.set(entityId, index)
  })
  return Int32Array.from(entities, ({ entityType, firstOfOwner }, index) => {
    if (entityType === 'forecaster') return index
    return firstOfOwner === null ? -1 : (first.get(firstOfOwner) ?? -1)
  })
}

/** How an agent stands among those of its owner; both null for a forecaster. */
export interface Attempt {
  /** How many of its owner's agents have a scored pair. */
  owner_agents: number | null
  /** The agent is the k-th of its owner's with a contested pair; null for one without. */
  attempt: number | null
}

/**
 * Of each entity: how many pairs it has, and when the first contested one was settled; Infinity without one.
 */
export interface Settlements {
  pairs: Int32Array
  firstContestedMs: Float64Array
}

/**
 * Numbers each owner's agents in the order in which the first contested question of each was settled, then of
 * their ids. Agents without a recorded owner are counted together as one owner's.
 */
export function attemptsOf(
  entities: readonly KnownEntity[],
  { pairs, firstContestedMs }: Settlements,
): Attempt[] {
  const agents = Array.from(entities.keys()).filter((index) => entities[index]!.entityType === 'agent')
  const scored = new Map<string | null, number>()
  for (const index of agents) {
    const { ownerId } = entities[index]!
    if (pairs[index]! > 0) scored.set(ownerId, (scored.get(ownerId) ?? 0) + 1)
  }
  const contested = agents
    .filter((index) => firstContestedMs[index]! < Infinity)
    .sort(
      (a, b) =>
        firstContestedMs[a]! - firstContestedMs[b]! ||
        (entities[a]!.entityId < entities[b]!.entityId ? -1 : 1),
    )
  const attempts = new Map<number, number>()
  const counts = new Map<string | null, number>()
  for (const index of contested) {
    const { ownerId } = entities[index]!
    const attempt = (counts.get(ownerId) ?? 0) + 1
    counts.set(ownerId, attempt)
    attempts.set(index, attempt)
  }
  return entities.map(({ entityType, ownerId }, index) =>
    entityType === 'agent'
      ? { owner_agents: scored.get(ownerId) ?? 0, attempt: attempts.get(index) ?? null }
      : { owner_agents: null, attempt: null },
  )
}
