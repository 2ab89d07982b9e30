// Compares the facts that a published record says of itself with those that an address of the API asks for,
// because a signature and a proof hold for every record that was published.
import { ServiceError } from '../../schemas/errors.ts'
import { quoted } from './quoted.ts'

/** The facts that a record says of itself; those that it does not say are absent. */
export interface Identity {
  /** As the JSON schemas call it, such as `agent-verification`. */
  kind?: string
  /** The id of the agent, the forecaster, the owner or the forecast. */
  id?: string
  environment?: string
  release?: number
  /** The instant, or the day of a snapshot. */
  as_of?: string
}

/** A member that the payloads of one kind have, and those of no other. */
const MARKS = {
  verification: 'voice_rule',
  metrics: 'baseline_score',
  rankings: 'board_interval',
  'advanced-metrics': 'conviction',
  profile: 'open_forecasts',
  snapshot: 'date',
}

type Members = Readonly<Record<string, unknown>>

export function identityOf(record: unknown): Identity {
  if (typeof record !== 'object' || record === null) return {}
  const members = record as Members
  if ('forecast_id' in members) return identityFrom({ kind: 'forecast', id: members['forecast_id'] })
  if ('snapshots' in members) return historyIdentity(members)
  if ('credentialSubject' in members) return credentialIdentity(members)
  const { environment, release, as_of = members['date'], agent_id: agent, user_id: user } = members
  const origin = { environment, release, as_of }
  if ('agents' in members) return identityFrom({ kind: 'owner', id: members['owner_id'], ...origin })
  const [kind] = Object.entries(MARKS).find(([, member]) => member in members) ?? []
  const entity = user === undefined ? 'agent' : 'forecaster'
  return identityFrom({ kind: kind && `${entity}-${kind}`, id: user ?? agent, ...origin })
}

/** A history is what all its rows are, and as of the last one. */
function historyIdentity({ entity_type: entity, entity_id: id, snapshots }: Members): Identity {
  const rows = (Array.isArray(snapshots) ? snapshots : []).map(identityOf)
  const last = rows.at(-1)
  const isWhole = rows.every(
    (row) =>
      row.id === id && row.kind === `${String(entity)}-snapshot` && row.environment === last?.environment,
  )
  return identityFrom({ ...last, kind: isWhole ? `${String(entity)}-snapshots` : undefined, id })
}

/** A credential says all of it by its id, as …/agents/{agent_id}/credential#12, and by its first instant. */
function credentialIdentity({ id, validFrom: as_of }: Members): Identity {
  if (typeof id !== 'string' || !URL.canParse(id)) return {}
  return identityFrom({ ...askedAt(id), release: Number(new URL(id).hash.slice(1)), as_of })
}

function identityFrom(facts: Record<keyof Identity, unknown> | Record<string, unknown>): Identity {
  const { kind, id, environment, release, as_of } = facts
  return {
    ...(typeof kind === 'string' && { kind }),
    ...(typeof id === 'string' && { id }),
    ...(typeof environment === 'string' && { environment }),
    ...(typeof release === 'number' && { release }),
    ...(typeof as_of === 'string' && { as_of }),
  }
}

const CALLS = ['verification', 'metrics', 'rankings', 'advanced-metrics']
/** The path of each kind of record, with what lies before it and the id. */
const PATHS = [
  ['agent-snapshots', '/snapshots/agent/ID'],
  ['forecaster-snapshots', '/snapshots/forecaster/ID'],
  ...[
    ['agent', '/agents/ID'],
    ['forecaster', '/forecaster/ID'],
  ].flatMap(([entity, path]) => [
    [`${entity}-profile`, path],
    ...CALLS.map((call) => [`${entity}-${call}`, `${path}/${call}`]),
    [`${entity}-credential`, `${path}/(?:credential|badge[.](?:svg|png))`],
  ]),
  ['owner', '/owners/ID'],
  ['forecast', '/forecasts/ID'],
].map(([kind, path]) => ({ kind: kind!, path: new RegExp(`^(.*)${path!.replace('ID', '([^/]+)')}$`) }))

/**
 * Returns what an address of a record, or of its proof, asks for; undefined for every other address.
 *
 * @throws ServiceError `invalid` for what is no URL.
 */
export function askedAt(address: string): Identity | undefined {
  if (!URL.canParse(address)) throw new ServiceError('invalid', `${quoted(address)} is not a URL`)
  const { pathname, searchParams } = new URL(address)
  const pathOfRecord = pathname.replace(/\/proof$/, '')
  for (const { kind, path } of PATHS) {
    const [, mount, id] = path.exec(pathOfRecord) ?? []
    if (mount === undefined || id === undefined) continue
    const release = searchParams.get('release')
    return {
      kind,
      id: kind === 'owner' ? decodedPart(id) : id.toLowerCase(),
      environment: mount.endsWith('/sandbox') ? 'sandbox' : 'production',
      ...(release !== null && { release: Number(release) }),
    }
  }
  return undefined
}

/** @throws ServiceError `invalid` for an address that asks for no record, because any could answer it. */
export function recordAt(address: string): Identity {
  const identity = askedAt(address)
  if (identity) return identity
  throw new ServiceError(
    'invalid',
    `${address} is no address of a record, such as …/agents/{agent_id}/verification, so that any record could be its answer: save the answer, and give the file`,
  )
}

/** Returns the address of the proof of a record; undefined for a body that names no release. */
export function proofAddressOf(address: string, body: Uint8Array): string | undefined {
  const release = /"release":([1-9][0-9]*)/.exec(new TextDecoder().decode(body))?.[1]
  if (release === undefined) return undefined
  const url = new URL(address)
  url.pathname += '/proof'
  url.search = `?release=${release}`
  return url.href
}

function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/**
 * Says in which facts a record is another one than was asked for; undefined if in none. A history without a
 * row does not say its environment.
 */
export function differenceOf(expected: Identity, found: Identity): string | undefined {
  const isEmpty = found.kind?.endsWith('-snapshots') === true && found.environment === undefined
  const wrong = (['kind', 'id', 'environment', 'release'] as const).filter(
    (name) =>
      expected[name] !== undefined && expected[name] !== found[name] && !(isEmpty && name === 'environment'),
  )
  if (wrong.length === 0) return undefined
  const parts = wrong.map((name) => `the ${name} ${shown(found[name])}, not ${shown(expected[name])}`)
  return `another record than was asked for: it has ${parts.join(', and ')}`
}

function shown(value: string | number | undefined): string {
  return value === undefined ? 'that is unknown' : typeof value === 'string' ? quoted(value) : String(value)
}

/** As in: agent-verification of 0198…, release 3 of production, as of 2026-03-01T12:00:00.000Z. */
export function identityText({ kind = 'a record of an unknown kind', id, ...origin }: Identity): string {
  const subject = kind === 'owner' ? quoted(id ?? '') : (id ?? 'nobody')
  return [`${kind} of ${subject}`, ...originText(origin)].join(', ')
}

export function originText({ environment, release, as_of }: Omit<Identity, 'kind' | 'id'>): string[] {
  const place = [release === undefined ? [] : [`release ${release}`], environment ?? []].flat().join(' of ')
  return [...(place === '' ? [] : [place]), ...(as_of === undefined ? [] : [`as of ${as_of}`])]
}
