// `fvs verify`: checks the signatures of answers of the API and of published files, and that every
// certification and badge in a verification follows from its numbers.
import { z } from 'zod'
import { signatureHolds } from '../pipeline/proof/hmac.ts'
import { canonical } from '../pipeline/proof/canonical.ts'
import { type OwnSettings, secretsInForce } from '../schemas/config.ts'
import { bulkResults } from '../schemas/answers.ts'
import { ServiceError } from '../schemas/errors.ts'
import {
  agentVerification,
  forecasterVerification,
  ownerShard,
  releaseShard,
  snapshotShard,
} from '../schemas/payloads.ts'
import { METHODOLOGY } from '../pipeline/scoring/methodology.ts'
import { badgeOf, certificationOf } from '../pipeline/scoring/ranking.ts'
import type { Report } from './output.ts'
import { fetched, fileBytes, isUrl } from './read-place.ts'

interface Signed {
  name: string
  bytes: Uint8Array
  signature: string | null
  /** True if the payload is filed under another entity's id, because no signature covers that id. */
  misplaced?: boolean
}

interface Publication {
  payload: { agent_id: string } | { user_id: string }
  signature: string | null
}

/** The award of a verification, and its reason. */
interface Decision {
  name: string
  award: string
  because: string
}

const SHOWN = 20

/** @throws ServiceError `invalid` if there is nothing to check, or no secret to check it with. */
export async function runVerify(
  settings: OwnSettings,
  target: string,
  signature: string | undefined,
): Promise<Report> {
  const secrets = secretsInForce(settings)
  if (secrets.length === 0) {
    throw new ServiceError(
      'invalid',
      'set VERIFICATION_SIGNING_SECRET, or SANDBOX_VERIFICATION_SIGNING_SECRET with --environment sandbox, to the secret that the service signs with',
    )
  }
  const signed = isUrl(target) ? [await fetchSigned(target)] : await readSigned(target, signature)
  if (signed.length === 0) throw new ServiceError('invalid', `${target} holds no payload to check`)
  const bad: { name: string; reason: string }[] = []
  const awards: Decision[] = []
  for (const item of signed) {
    const decision = decisionOf(item)
    const reason = faultOf(item, secrets) ?? decision?.fault
    if (reason !== undefined) bad.push({ name: item.name, reason })
    else if (decision) awards.push({ name: item.name, award: decision.award, because: decision.because })
  }
  const ok = bad.length === 0
  const lines = ok
    ? [
        `${target}: ${signed.length === 1 ? 'the signature holds' : `all ${signed.length} signatures hold`}`,
        ...shown(
          awards.map(
            ({ name, award, because }) =>
              `${signed.length === 1 ? '' : `${name}: `}${award}, because ${because}`,
          ),
        ),
      ]
    : [
        `${target}: ${bad.length} of ${signed.length} payloads do not hold`,
        ...shown(bad.map(({ name, reason }) => `${name}: ${reason}`)),
      ]
  const failed = bad.map(({ name }) => name)
  const json = { target, ok, checked: signed.length, failed, awards }
  return { ok, json, text: lines.join('\n') }
}

/** Returns the first lines, indented, and the number of further ones. */
function shown(lines: readonly string[]): string[] {
  const more = lines.length > SHOWN ? [`… and ${lines.length - SHOWN} more`] : []
  return [...lines.slice(0, SHOWN), ...more].map((line) => `  ${line}`)
}

const verification = z.union([agentVerification, forecasterVerification])

/**
 * Derives the award of a verification, with its reason and its fault, if any; undefined for other payloads.
 */
function decisionOf({ bytes }: Signed): (Omit<Decision, 'name'> & { fault?: string }) | undefined {
  const { data } = verification.safeParse(jsonOf(bytes))
  if (!data) return undefined
  const award = 'badge' in data ? data.badge : data.certification
  if (data.methodology_version !== METHODOLOGY.version) {
    const because = `method ${data.methodology_version} says so, which this version of the service does not have`
    return { award, because }
  }
  const { title, because } = 'badge' in data ? badgeOf(METHODOLOGY, data) : certificationOf(METHODOLOGY, data)
  return title === award
    ? { award, because }
    : { award, because, fault: `it says ${award}, and its numbers give ${title}, because ${because}` }
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

function faultOf({ bytes, signature, misplaced }: Signed, secrets: readonly string[]): string | undefined {
  if (signature === null) return 'unsigned'
  if (!signatureHolds(bytes, signature, secrets)) return 'not signed with this secret, or changed since'
  return misplaced ? 'the payload of another entity' : undefined
}

async function fetchSigned(url: string): Promise<Signed> {
  const { response, bytes } = await fetched(url)
  if (!response.ok) throw new ServiceError('invalid', `${url} answered ${response.status}, not a payload`)
  return { name: url, bytes, signature: response.headers.get('x-service-signature') }
}

async function readSigned(path: string, signature: string | undefined): Promise<Signed[]> {
  const bytes = await fileBytes(path)
  if (signature !== undefined) return [{ name: path, bytes, signature }]
  const content = jsonOf(bytes)
  if (content === undefined) throw new ServiceError('invalid', `${path} is not JSON`)
  const { data } = z.union([releaseShard, ownerShard, snapshotShard, bulkResults]).safeParse(content)
  if (!data) {
    throw new ServiceError('invalid', `${path} holds no signatures: give the payload's with --signature`)
  }
  if ('results' in data) {
    return data.results.flatMap((result) =>
      result.status === 'ok'
        ? [signedOf(result.id, result.id, { ...result, payload: result.verification })]
        : [],
    )
  }
  if ('owners' in data) {
    return data.owners.map(({ payload, ...given }) => ({
      name: `owner ${payload.owner_id}`,
      bytes: canonical(payload),
      ...given,
    }))
  }
  return Object.entries(data.entities).flatMap(([id, entity]) =>
    Object.entries<Publication | undefined>('payload' in entity ? { snapshot: entity } : entity).flatMap(
      ([kind, given]) => (given ? [signedOf(`${kind} of ${id}`, id, given)] : []),
    ),
  )
}

function signedOf(name: string, entityId: string, { payload, signature }: Publication): Signed {
  const ownId = 'agent_id' in payload ? payload.agent_id : payload.user_id
  return { name, bytes: canonical(payload), signature, misplaced: ownId !== entityId }
}
