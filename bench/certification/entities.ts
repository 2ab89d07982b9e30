// The entities of simulated worlds.
import type { KnownEntity } from '../../pipeline/scoring/voices.ts'

let registered = 0

const entityOf = (entityType: KnownEntity['entityType'], ownerId: string | null): KnownEntity => {
  registered += 1
  return { entityType, entityId: String(registered).padStart(9, '0'), ownerId, registeredAtMs: registered }
}

/** People, who are voices. */
export function people(count: number): KnownEntity[] {
  return Array.from({ length: count }, () => entityOf('forecaster', null))
}

/** An agent with an owner of its own, which is a voice. */
export function ownedAgent(owner: string): KnownEntity {
  return entityOf('agent', owner)
}

/** Agents of one owner, of which the first is a voice; of nobody, and none is. */
export function agentsOf(owner: string | null, count: number): KnownEntity[] {
  return Array.from({ length: count }, () => entityOf('agent', owner))
}
