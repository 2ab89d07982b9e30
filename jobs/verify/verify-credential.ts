// Checks credentials without a secret, by the keys and the status list of their issuer.
import type { z } from 'zod'
import { credentialInPicture } from '../../pipeline/credentials/baking.ts'
import { CredentialFault, type Fault, type Held, heldBy } from '../../pipeline/credentials/check.ts'
import { issuerOf } from '../../pipeline/credentials/documents.ts'
import { printable } from '../../pipeline/printable.ts'
import { quoted } from '../../pipeline/proof/quoted.ts'
import { didDocument, openBadgeCredential, statusListCredential } from '../../schemas/credentials.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { type Identity, differenceOf, identityOf, identityText } from '../../pipeline/proof/identity.ts'
import type { Report } from '../command-line/output.ts'
import { fetched, jsonOf } from '../command-line/read-place.ts'

type Credential = z.infer<typeof openBadgeCredential>

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
  expected: Identity,
  now: Date,
): Promise<Report> {
  const record = identityOf(content)
  const { data: credential, error } = openBadgeCredential.safeParse(content)
  const held: string[] = []
  let reason = differenceOf(expected, record)
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
  const { id, issuer, credentialSubject } = credential
  const url = String(issuer['url'])
  const own = addressFault(url, issuer.id)
  if (own !== undefined) return own
  const entity = credentialSubject.id
  if (!entity.startsWith(`${url}/`) || !id.startsWith(`${entity}/credential#`))
    return `its id ${quoted(id)} and its subject ${quoted(entity)} are not of ${url}`
  const place = `${url}${new URL(url).pathname === '/' ? '/.well-known' : ''}/did.json`
  const did = await fetchedDocument(place, didDocument)
  if (did.id !== issuer.id) return `${place} is of ${quoted(did.id)}, not of ${issuer.id}`
  const keys = did.verificationMethod.filter((key) => did.assertionMethod.includes(key.id))
  const documentAt = (address: string) => fetchedDocument(address, statusListCredential)
  try {
    for await (const held of heldBy(credential, { issuer: { id: issuer.id, url, keys }, now, documentAt })) {
      step(heldWords(held, place))
    }
    return undefined
  } catch (error) {
    if (!(error instanceof CredentialFault)) throw error
    const { fault } = error
    const list = credential.credentialStatus.statusListCredential
    const words = faultWords(fault, { list, place, url, now })
    return fault.document === 'list' && !words.startsWith(list) ? `its status list ${list}: ${words}` : words
  }
}

function heldWords(held: Held, place: string): string {
  switch (held.kind) {
    case 'signed':
      return `it is signed by the key ${held.key.id}, which ${place} names`
    case 'in time':
      return `it is good from ${held.from} until ${held.until}`
    case 'not revoked':
      return `it is not revoked, says ${held.list} of ${held.since}`
  }
}

function faultWords(
  fault: Fault,
  { list, place, url, now }: { list: string; place: string; url: string; now: Date },
): string {
  switch (fault.kind) {
    case 'no proof':
      return 'it has not one proof of eddsa-rdfc-2022'
    case 'unknown key':
      return `${place} names no key ${quoted(String(fault.key))}, or no longer`
    case 'other form':
      return fault.error.message
    case 'forged':
      return 'it was changed, or another key has signed it'
    case 'no dates':
      return 'it does not say from when until when it is good'
    case 'too early':
    case 'ran out':
      return `it is good from ${fault.from} until ${fault.until}, and the clock of this computer says ${now.toISOString()}`
    case 'no status':
      return `it names no place of ${url} that says whether it is revoked`
    case 'another list':
      return `${list} is not the status list that it should be`
    case 'no place':
      return `${list} has no place ${fault.index}`
    case 'revoked':
      return `it is revoked, says ${list} of ${fault.since}`
  }
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
async function fetchedDocument<T>(url: string, schema: z.ZodType<T>): Promise<T> {
  const { data, error } = schema.safeParse(jsonOf((await fetched(url)).bytes))
  if (data !== undefined) return data
  const { path, message } = error!.issues[0]!
  throw new ServiceError('invalid', `${url} answers with another document (${path.join('.')}: ${message})`)
}
