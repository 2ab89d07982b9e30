// Finds the voices, by which others are measured, and the number of each agent among its owner's (METHODOLOGY
// §1 and §3).
import type { VoiceRule } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'

/** The facts of an entity that are known before scoring. */
export interface KnownEntity {
  entityType: EntityType
  entityId: string
  /**
   * The owner of an agent, as recorded by the operator or proved by a domain; null for an agent without one,
   * and for a forecaster.
   */
  ownerId: string | null
  /**
   * The agent that its owner registered first, which may have no scores. Null unless the operator has
   * recorded the owner, because only such owners measure others.
   */
  firstOfOwner: string | null
}

/** The own voice of each entity: itself if it is a voice, else its owner's; −1 without one. */
export type Voices = Int32Array

export function isVoice(voices: Voices, entity: number): boolean {
  return voices[entity] === entity
}

/**
 * By the rule `recorded`, the voices are all forecasters and the first agent of each owner. By the rule
 * `everyone`, each entity is its own voice.
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

/** The standing of an agent among its owner's agents; both null for a forecaster. */
export interface Attempt {
  /** How many of its owner's agents have a scored pair. */
  owner_agents: number | null
  /** k, if the agent is its owner's k-th with a contested pair; null without a contested pair. */
  attempt: number | null
}

/**
 * For each entity, how many pairs it has, and when its first contested question was settled; Infinity without
 * one.
 */
export interface Settlements {
  pairs: Int32Array
  firstContestedMs: Float64Array
}

/**
 * Numbers each owner's agents in the order (settlement of the first contested question, id). All agents
 * without a recorded owner count as one owner's.
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
