// The entities of simulated worlds.
import type { KnownEntity } from '../../pipeline/scoring/voices.ts'

let registered = 0

const newId = (): string => {
  registered += 1
  return String(registered).padStart(9, '0')
}

/** People, who are voices. */
export function people(count: number): KnownEntity[] {
  return Array.from({ length: count }, () => ({
    entityType: 'forecaster',
    entityId: newId(),
    ownerId: null,
    firstOfOwner: null,
  }))
}

/** An agent with an owner of its own, which is a voice. */
export function ownedAgent(owner: string): KnownEntity {
  return agentsOf(owner, 1)[0]!
}

/** Agents of one owner, of which the first is a voice; of nobody, and none is. */
export function agentsOf(owner: string | null, count: number): KnownEntity[] {
  const ids = Array.from({ length: count }, newId)
  return ids.map((entityId) => ({
    entityType: 'agent',
    entityId,
    ownerId: owner,
    firstOfOwner: owner === null ? null : ids[0]!,
  }))
}
