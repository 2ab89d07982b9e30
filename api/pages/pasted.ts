// Tells apart the texts that people paste to have them checked or found: links, ids, names and records.
import { SEARCHED_CHARACTERS } from '../../schemas/requests.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { type Environment, uuid } from '../../schemas/values.ts'
import { MOUNTS, environmentOf } from '../mounts.ts'
import type { Site } from './site.ts'

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
  const of = ROOMS[room]
  if (of === undefined || !uuid.safeParse(id).success) return { kind: 'unknown', why: NO_ONE_THERE }
  const found = { environment, id: id!.toLowerCase() }
  return of === 'question' ? { kind: 'question', ...found } : { kind: 'entity', entityType: of, ...found }
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
