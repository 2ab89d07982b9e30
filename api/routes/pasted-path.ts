// Tells apart the texts that people paste to have them checked or found (links, ids, names and records), and
// finds the page that each leads to.
import pMap from 'p-map'
import { READS_AT_ONCE } from '../../pipeline/store/store.ts'
import { profilePath } from '../../schemas/entity-paths.ts'
import { SEARCHED_CHARACTERS } from '../../schemas/requests.ts'
import { type EntityType, ENTITY_TYPES } from '../../schemas/tables.ts'
import { type Environment, uuid } from '../../schemas/values.ts'
import type { ApiContext } from '../http/context.ts'
import { MOUNTS, environmentOf } from '../mounts.ts'
import { type Site, ownerPath, questionPath, linkTo } from '../pages/site.ts'
import { isHidden } from '../published/hidden.ts'
import { nameOfEntity } from '../published/people.ts'
import type { Release } from '../published/release-payloads.ts'
import type { Asker } from '../turns.ts'

export type Pasted =
  /** An id alone does not say whose it is. */
  | { kind: 'id'; id: string }
  | { kind: 'entity'; environment: Environment; entityType: EntityType; id: string }
  | { kind: 'question'; environment: Environment; id: string }
  | { kind: 'owner'; environment: Environment; id: string }
  /** Perhaps that of somebody, which a search finds out. */
  | { kind: 'name' }
  /** A record or a file, which browsers check. */
  | { kind: 'record' }
  | { kind: 'unknown'; why: string }

/** @param site of the page on which it was pasted. */
export function pastedIn(site: Site, text: string): Pasted {
  const given = text.trim()
  if (/^[{[<]/.test(given)) return { kind: 'record' }
  if (uuid.safeParse(given).success) return { kind: 'id', id: given.toLowerCase() }
  if (given.includes('/')) return linkedBy(site, given)
  return given.length <= SEARCHED_CHARACTERS ? { kind: 'name' } : { kind: 'unknown', why: TOO_LONG }
}

const TOO_LONG =
  'That is no link and no id, and too long for a name. An id is 32 digits and letters with dashes between. A record begins with {.'

/** The rooms of the service that have ids, in pages and in calls. */
const ROOMS: Record<string, EntityType | 'question'> = {
  'view/agents': 'agent',
  agents: 'agent',
  'view/forecasters': 'forecaster',
  forecaster: 'forecaster',
  'view/questions': 'question',
  questions: 'question',
}

function linkedBy({ publicUrl }: Site, given: string): Pasted {
  // Links are often copied without their beginning.
  const url = URL.parse(
    /^https?:\/\//i.test(given) || given.startsWith('/') ? given : `https://${given}`,
    'https://none.invalid',
  )
  if (!url)
    return {
      kind: 'unknown',
      why: 'That link cannot be read. Copy it again, from its first to its last character.',
    }
  const own = publicUrl === undefined ? undefined : new URL(publicUrl)
  if (own && url.hostname !== 'none.invalid' && url.host !== own.host) {
    return {
      kind: 'unknown',
      why: `That link leads to ${url.host}, and this service is ${own.host}. This service says nothing of what others publish.`,
    }
  }
  const folder = own?.pathname.replace(/\/$/, '') ?? ''
  const path = url.pathname.startsWith(`${folder}/`) ? url.pathname.slice(folder.length) : url.pathname
  const environment = environmentOf(path)
  const inside = path.slice(MOUNTS[environment].length)
  const owner = decoded(/^\/(?:view\/)?owners\/([^/]+)/.exec(inside)?.[1] ?? '')
  if (owner !== '') return { kind: 'owner', environment, id: owner }
  const [, room = '', id] = /^\/((?:view\/)?[a-z]+)\/([^/]+)/.exec(inside) ?? []
  const subjectKind = ROOMS[room]
  if (subjectKind === undefined || !uuid.safeParse(id).success) return { kind: 'unknown', why: NO_ONE_THERE }
  const found = { environment, id: id!.toLowerCase() }
  return subjectKind === 'question'
    ? { kind: 'question', ...found }
    : { kind: 'entity', entityType: subjectKind, ...found }
}

const NO_ONE_THERE =
  'That link leads to no agent, forecaster or question of this service. Copy the whole address of their page.'

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

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
