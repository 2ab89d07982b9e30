// Makes the code of what a release said of an entity, and finds the entity again by such a code.
import { leafHash } from '../../pipeline/proof/merkle.ts'
import { type CheckCode, codeText, hashStartOf } from '../../pipeline/proof/check-code.ts'
import type { EntityType } from '../../schemas/tables.ts'
import type { Release } from './release-payloads.ts'

/** Returns undefined for an entity that the release does not have. */
export async function codeOf(
  release: Release,
  entityType: EntityType,
  entityId: string,
): Promise<string | undefined> {
  const position = await release.positionOf(entityType, entityId)
  const found = await release.find(entityType, entityId, 'verification')
  if (!release.current || position === undefined || !found) return undefined
  const hashStart = hashStartOf(leafHash(found.bytes))
  return codeText({ release: release.current.release, entityType, position, hashStart })
}

/**
 * Returns the entity whose code it is; undefined if the release has none with this code.
 *
 * @param release the one that the code names.
 */
export async function entityOf(
  release: Release,
  { entityType, position, hashStart }: CheckCode,
): Promise<string | undefined> {
  const entityId = await release.entityAt(entityType, position)
  const found = entityId === undefined ? undefined : await release.find(entityType, entityId, 'verification')
  return found && hashStartOf(leafHash(found.bytes)) === hashStart ? entityId : undefined
}
