// The agent or forecaster that a reader means by a name, an id or an address.
import { ENTITY_TYPES } from '../../schemas/tables.ts'
import type { ApiContext } from '../http/context.ts'
import type { Release } from '../published/release-payloads.ts'
import { callsOfLookups } from '../limits/page-calls.ts'
import { idOf } from '../pages/ranking.ts'
import { type ReleasedEntity, pastedAnywhere, releasedEntity } from './pasted-path.ts'
import type { Asker } from '../turns.ts'

/** Of each kind, to choose from. */
const MOST_CHOICES = 10

export type Sought =
  | { entity: ReleasedEntity }
  /** All who may be meant, or the first of them; nobody if the list is empty. */
  | { choices: readonly ReleasedEntity[]; total: number }

const NOBODY: Sought = { choices: [], total: 0 }

/** A name that only one has is theirs, also if it is a part of other names. */
export async function soughtEntity(
  context: ApiContext,
  release: Release,
  text: string,
  asker: Asker,
): Promise<Sought> {
  const { site, leaderboard } = context
  const { manifest } = release
  const pasted = pastedAnywhere(site, text)
  if (pasted.kind === 'entity' && pasted.environment !== site.environment) return NOBODY
  if (pasted.kind === 'entity' || pasted.kind === 'id') {
    const entity = await releasedEntity(context, release, pasted.id, asker)
    return entity && (entity.entityType === 'forecaster' || entity.name !== null) ? { entity } : NOBODY
  }
  if (!manifest) return NOBODY
  await asker.countMore(callsOfLookups(ENTITY_TYPES.length * MOST_CHOICES))
  const choices: ReleasedEntity[] = []
  const whole: ReleasedEntity[] = []
  let total = 0
  for (const entityType of ENTITY_TYPES) {
    const found = await leaderboard.found(manifest, entityType, text, { most: MOST_CHOICES })
    const entities = found.entries.map((entry) => ({ entityType, entityId: idOf(entry), name: entry.name }))
    choices.push(...entities)
    whole.push(...entities.slice(0, found.whole))
    total += found.total
  }
  const only = whole.length === 1 ? whole[0] : total === 1 ? choices[0] : undefined
  return only ? { entity: only } : { choices, total }
}
