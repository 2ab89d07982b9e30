// Checks credentials without a secret, by the keys and the status list of their issuer.
import type { z } from 'zod'
import { credentialInPicture } from '../../pipeline/credentials/baking.ts'
import { isSignedBy } from '../../pipeline/credentials/data-integrity.ts'
import { issuerOf } from '../../pipeline/credentials/documents.ts'
import { isSetIn } from '../../pipeline/credentials/status-list.ts'
import { printable } from '../../pipeline/printable.ts'
import { quoted } from '../../pipeline/proof/quoted.ts'
import { didDocument, openBadgeCredential, statusListCredential } from '../../schemas/credentials.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { type Identity, differenceOf, identityOf, identityText } from '../../pipeline/proof/identity.ts'
import type { Report } from '../command-line/output.ts'
import { fetched, jsonOf } from '../command-line/read-place.ts'

type Credential = z.infer<typeof openBadgeCredential>
type Documented = z.infer<typeof statusListCredential> | Credential

/** Returns the credential that a file or an answer is, or carries as a picture; undefined if none. */
export function credentialIn(bytes: Uint8Array): object | undefined {
  const picture = credentialInPicture(bytes)
  const content = jsonOf(picture === undefined ? bytes : Buffer.from(picture)) as { type?: unknown } | null
  return [content?.type].flat().includes('OpenBadgeCredential') ? content! : undefined
}

/**
 * Checks a credential by what its issuer answers at the address in it. It is a failure also if the issuer
 * does not answer; the report then says what could not be checked.
 */
export async function runVerifyCredential(
  target: string,
  content: object,
  asked: Identity,
  now: Date,
): Promise<Report> {
  const record = identityOf(content)
  const { data: credential, error } = openBadgeCredential.safeParse(content)
  const held: string[] = []
  let reason = differenceOf(asked, record)
  let isChecked = true
  if (error) {
    const { path, message } = error.issues[0]!
    reason = `it has not the form of those of this service (${path.join('.')}: ${message}): take a verifier of Open Badges, such as that of 1EdTech`
  } else {
    try {
      reason ??= await faultOf(credential, now, (words) => held.push(words))
    } catch (cause) {
      if (!(cause instanceof ServiceError)) throw cause
      isChecked = false
      reason = cause.message
    }
  }
  const ok = reason === undefined
  const notShown = credential && ok ? limitsOf(credential) : []
  const result = ok ? 'holds' : isChecked ? `does not hold: ${reason}` : `could not be checked: ${reason}`
  const lines = [
    `${target}: the credential ${result}`,
    `  ${[identityText(record), ...(credential ? [credential.name] : [])].join(', ')}`,
    ...[...held, ...notShown.map((each) => `it does not show ${each}`)].map((each) => `  ${each}`),
  ]
  const json = { target, ok, record, issuer: credential?.issuer.id, held, does_not_show: notShown }
  return { ok, json: ok ? json : { ...json, reason }, text: lines.map(printable).join('\n') }
}

function limitsOf({ issuer, credentialSubject, id }: Credential): string[] {
  const release = new URL(id).hash.slice(1)
  return [
    `that ${issuer.id} is the service that you mean: compare it with the address that you know`,
    `that the public log has the record: for that, give the key of the log, fvs verify '${credentialSubject.id}/verification?release=${release}' --vkey KEY`,
  ]
}

/**
 * Returns the first thing that does not hold, and calls `step` with each that does.
 *
 * @throws ServiceError if the issuer does not answer with what is asked for.
 */
async function faultOf(
  credential: Credential,
  now: Date,
  step: (words: string) => void,
): Promise<string | undefined> {
  const { id, issuer, credentialSubject, credentialStatus } = credential
  const url = String(issuer['url'])
  const own = addressFault(url, issuer.id)
  if (own !== undefined) return own
  const entity = credentialSubject.id
  if (!entity.startsWith(`${url}/`) || !id.startsWith(`${entity}/credential#`))
    return `its id ${quoted(id)} and its subject ${quoted(entity)} are not of ${url}`
  const place = `${url}${new URL(url).pathname === '/' ? '/.well-known' : ''}/did.json`
  const did = await documentAt(place, didDocument)
  if (did.id !== issuer.id) return `${place} is of ${quoted(did.id)}, not of ${issuer.id}`
  const keys = did.verificationMethod.filter((key) => did.assertionMethod.includes(key.id))
  const forged = await proofFault(credential, keys, place)
  if (forged !== undefined) return forged
  step(`it is signed by the key ${credential.proof[0]!.verificationMethod}, which ${place} names`)
  const outOfTime = timeFault(credential, now)
  if (outOfTime !== undefined) return outOfTime
  step(`it is good from ${credential.validFrom} until ${credential.validUntil}`)
  const { statusListCredential: listUrl, statusListIndex: index, statusPurpose } = credentialStatus
  if (statusPurpose !== 'revocation' || !listUrl.startsWith(`${url}/`) || !/^\d{1,6}$/.test(index))
    return `it names no place of ${url} that says whether it is revoked`
  const list = await documentAt(listUrl, statusListCredential)
  if (
    list.id !== listUrl ||
    list.issuer !== issuer.id ||
    !list.type.includes('BitstringStatusListCredential')
  )
    return `${listUrl} is not the status list that it should be`
  const listFault = (await proofFault(list, keys, place)) ?? timeFault(list, now)
  if (listFault !== undefined) return `its status list ${listUrl}: ${listFault}`
  const isRevoked = isSetIn(list.credentialSubject.encodedList, Number(index))
  if (isRevoked === undefined) return `${listUrl} has no place ${index}`
  if (isRevoked) return `it is revoked, says ${listUrl} of ${list.validFrom}`
  step(`it is not revoked, says ${listUrl} of ${list.validFrom}`)
  return undefined
}

/** Whether anyone but the issuer could answer at its address, as anyone on the way can without TLS. */
function addressFault(url: string, issuer: string): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const isPlain = parsed && parsed.href.replace(/\/$/, '') === url && parsed.search + parsed.hash === ''
  if (!isPlain || issuerOf(url) !== issuer) return `its address ${quoted(url)} is not that of ${issuer}`
  const isLocal = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(parsed.hostname)
  if (parsed.protocol === 'https:' || (parsed.protocol === 'http:' && isLocal)) return undefined
  return `its address ${quoted(url)} is not https://, so that anyone on the way could answer for ${issuer}`
}

/** @throws ServiceError if there is no answer, or no such document. */
async function documentAt<T>(url: string, schema: z.ZodType<T>): Promise<T> {
  const { data, error } = schema.safeParse(jsonOf((await fetched(url)).bytes))
  if (data !== undefined) return data
  const { path, message } = error!.issues[0]!
  throw new ServiceError('invalid', `${url} answers with another document (${path.join('.')}: ${message})`)
}

async function proofFault(
  secured: Documented,
  keys: readonly { id: string; publicKeyMultibase: string }[],
  place: string,
): Promise<string | undefined> {
  const { verificationMethod } = secured.proof[0]!
  const key = keys.find(({ id }) => id === verificationMethod)
  if (!key) return `${place} names no key ${quoted(verificationMethod)}, or no longer`
  try {
    if (await isSignedBy(secured, key.publicKeyMultibase)) return undefined
    return 'it was changed, or another key has signed it'
  } catch (error) {
    if (error instanceof ServiceError) return error.message
    throw error
  }
}

function timeFault({ validFrom, validUntil }: Documented, now: Date): string | undefined {
  if (now >= new Date(validFrom) && now <= new Date(validUntil)) return undefined
  return `it is good from ${validFrom} until ${validUntil}, and the clock of this computer says ${now.toISOString()}`
}
