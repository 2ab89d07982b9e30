// Tells apart the texts that people paste to have them checked or found: links, ids, codes and records.
import { type CheckCode, parseCheckCode } from '../../pipeline/proof/check-code.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { type Environment, uuid } from '../../schemas/values.ts'
import { MOUNTS, environmentOf } from '../mounts.ts'
import type { Site } from './site.ts'

export type Pasted =
  | { kind: 'code'; environment: Environment; code: CheckCode }
  /** An id alone does not say whose it is. */
  | { kind: 'id'; id: string }
  | { kind: 'entity'; environment: Environment; entityType: EntityType; id: string }
  | { kind: 'question'; environment: Environment; id: string }
  | { kind: 'owner'; environment: Environment; id: string }
  /** A record or a file, which browsers check. */
  | { kind: 'record' }
  | { kind: 'unknown'; why: string }

/** @param site of the page on which it was pasted. */
export function pastedIn(site: Site, text: string): Pasted {
  const given = text.trim()
  if (/^[{[<]/.test(given)) return { kind: 'record' }
  const code = parseCheckCode(given)
  if (code) return { kind: 'code', environment: site.environment, code }
  if (uuid.safeParse(given).success) return { kind: 'id', id: given.toLowerCase() }
  return given.includes('/') ? linkedBy(site, given) : { kind: 'unknown', why: NOTHING_KNOWN }
}

const NOTHING_KNOWN =
  'That is no link, no id and no code. A code is the number of a release and twelve letters and digits, such as 21-4F9A-2C81-B7D3; an id is 32 digits and letters with dashes between. The field in the head of the page finds agents and forecasters by name.'

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
  const code = parseCheckCode(decoded(/^\/view\/check\/([^/]+)$/.exec(inside)?.[1] ?? ''))
  if (code) return { kind: 'code', environment, code }
  const owner = decoded(/^\/(?:view\/)?owners\/([^/]+)/.exec(inside)?.[1] ?? '')
  if (owner !== '') return { kind: 'owner', environment, id: owner }
  const [, room = '', id] = /^\/((?:view\/)?[a-z]+)\/([^/]+)/.exec(inside) ?? []
  const of = ROOMS[room]
  if (of === undefined || !uuid.safeParse(id).success) return { kind: 'unknown', why: NO_ONE_THERE }
  const found = { environment, id: id!.toLowerCase() }
  return of === 'question' ? { kind: 'question', ...found } : { kind: 'entity', entityType: of, ...found }
}

const NO_ONE_THERE =
  'That link leads to no agent, forecaster, question or code of this service. Copy the whole address of their page.'

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
