// The page of what a reader pasted, if there is one.
import pMap from 'p-map'
import { profilePath } from '../../schemas/entity-paths.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import type { ApiContext } from '../http/context.ts'
import type { Release } from '../published/release-payloads.ts'
import { ownerPath, questionPath } from '../pages/links.ts'
import { type Pasted, pastedIn } from '../pages/pasted.ts'
import { type Site, linkTo } from '../pages/site.ts'
import type { Asker } from '../turns.ts'
import { isHidden } from '../published/hidden.ts'
import { nameOfEntity } from '../published/people.ts'
import { READS_AT_ONCE } from '../../pipeline/store/store.ts'

/** An agent or a forecaster of the current release. */
export interface ReleasedEntity {
  entityType: EntityType
  entityId: string
  name: string | null
}

/** Returns undefined for an id that the current release does not have. */
export async function releasedEntity(
  { people }: Pick<ApiContext, 'people'>,
  release: Release,
  entityId: string,
  asker: Asker,
  entityTypes: readonly EntityType[] = ENTITY_TYPES,
): Promise<ReleasedEntity | undefined> {
  for (const entityType of entityTypes) {
    const profile = await release.find(entityType, entityId, 'profile', asker)
    if (profile) {
      return { entityType, entityId, name: nameOfEntity(people, entityType, entityId, profile.payload) }
    }
  }
  return undefined
}

/** Returns the names that entities of the release have today, by id; none for those who have none. */
export async function releasedNames(
  context: Pick<ApiContext, 'people'>,
  release: Release,
  entities: readonly { entityType: EntityType; entityId: string }[],
  asker: Asker,
): Promise<Map<string, string>> {
  const found = await pMap(
    entities,
    async ({ entityType, entityId }) =>
      (await isHidden(release.earlierThan, entityType, entityId))
        ? undefined
        : releasedEntity(context, release, entityId, asker, [entityType]),
    {
      concurrency: READS_AT_ONCE,
    },
  )
  return new Map(
    found.flatMap((one) => (one && one.name !== null ? [[one.entityId, one.name] as const] : [])),
  )
}

/**
 * Returns the path of a page from the host on; undefined for a text that names none. Only of a page of the
 * other environment nobody knows whether it is there.
 */
export async function pastedPath(
  context: ApiContext,
  release: Release,
  text: string,
  asker: Asker,
): Promise<string | undefined> {
  const { site } = context
  const pasted = pastedAnywhere(site, text)
  if (isNamed(pasted) && pasted.environment !== site.environment) {
    return linkTo({ ...site, environment: pasted.environment }, namedPath(pasted))
  }
  const path = await pathIn(context, release, pasted, asker)
  return path && linkTo(site, path)
}

/** A node has other names than its public one, such as that of a container. */
export function pastedAnywhere(site: Site, text: string): Pasted {
  const pasted = pastedIn(site, text)
  return pasted.kind === 'unknown' ? pastedIn({ ...site, publicUrl: undefined }, text) : pasted
}

/** A text that names a page by the path of a link. */
type PastedName = Extract<Pasted, { kind: 'entity' | 'question' | 'owner' }>

function isNamed(pasted: Pasted): pasted is PastedName {
  return pasted.kind === 'entity' || pasted.kind === 'question' || pasted.kind === 'owner'
}

/** Returns the path inside its environment, whether or not the page is there. */
export function namedPath(pasted: PastedName): string {
  switch (pasted.kind) {
    case 'entity':
      return profilePath(pasted.entityType, pasted.id)
    case 'question':
      return questionPath(pasted.id)
    case 'owner':
      return ownerPath(pasted.id)
  }
}

async function pathIn(
  context: ApiContext,
  release: Release,
  pasted: Pasted,
  asker: Asker,
): Promise<string | undefined> {
  switch (pasted.kind) {
    case 'id':
      return (await entityPath(context, release, pasted.id, asker)) ?? questionPathIn(context, pasted.id)
    case 'entity':
      return entityPath(context, release, pasted.id, asker, [pasted.entityType])
    case 'question':
      return questionPathIn(context, pasted.id)
    case 'owner':
      return (await release.findOwner(pasted.id)) && ownerPath(pasted.id)
    default:
      return undefined
  }
}

/** An agent without a name is hidden, and nobody is led to it. */
async function entityPath(
  context: ApiContext,
  release: Release,
  id: string,
  asker: Asker,
  entityTypes: readonly EntityType[] = ENTITY_TYPES,
): Promise<string | undefined> {
  const found = await releasedEntity(context, release, id, asker, entityTypes)
  if (found) {
    const isNameless = found.entityType === 'agent' && found.name === null
    return isNameless ? undefined : profilePath(found.entityType, id)
  }
  const isRegistered = entityTypes.includes('agent') && (await context.registry.findAgent(id))
  return isRegistered ? profilePath('agent', id) : undefined
}

async function questionPathIn({ questions }: ApiContext, id: string): Promise<string | undefined> {
  const [found] = await questions.findAll([id])
  return found && questionPath(id)
}
