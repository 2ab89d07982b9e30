// Checks what stands behind a credential: a key of its issuer, its dates, and that it was not revoked. Pages
// and commands run this one check, and put its results into their own words.
import { ServiceError } from '../../schemas/errors.ts'
import { type Secured, isSignedBy } from './data-integrity.ts'

/** The issuer, as its document names it. */
export interface Issuer {
  id: string
  /** Whatever it issues has an address below this one. */
  url: string
  /** The keys that may sign. */
  keys: readonly { id: string; publicKeyMultibase: string }[]
}

/** The document that a fault is in. */
type Checked = 'credential' | 'list'

/** A thing that holds, with the values that show it. */
export type Held =
  | { kind: 'signed'; key: Issuer['keys'][number] }
  | { kind: 'in time'; from: string; until: string }
  | { kind: 'not revoked'; list: string; since: string }

/** A thing that does not hold, with the values that show it. */
export type Fault = { document: Checked } & (
  | { kind: 'no proof' }
  | { kind: 'unknown key'; key: unknown }
  | { kind: 'other form'; error: ServiceError }
  | { kind: 'forged' }
  | { kind: 'no dates' }
  | { kind: 'too early'; from: string; until: string }
  | { kind: 'ran out'; from: string; until: string }
  | { kind: 'no status' }
  | { kind: 'another list' }
  | { kind: 'no place'; index: number }
  | { kind: 'revoked'; since: string }
)

export class CredentialFault extends Error {
  readonly fault: Fault

  constructor(fault: Fault) {
    super(`the ${fault.document}: ${fault.kind}`)
    this.fault = fault
  }
}

/** Any JSON object: whoever gives it may mean ill. */
type AnyObject = Readonly<Record<string, unknown>>

interface Circumstances {
  issuer: Issuer
  now: Date
  /** Returns the JSON object at an address of the issuer. */
  documentAt: (address: string) => Promise<object>
}

/**
 * Yields each thing that holds, in the order of the checks.
 *
 * @throws CredentialFault for the first thing that does not, and whatever `documentAt` throws.
 */
export async function* heldBy(
  credential: object,
  { issuer, now, documentAt }: Circumstances,
): AsyncGenerator<Held> {
  yield { kind: 'signed', key: await signerOf(credential, issuer, 'credential') }
  yield { kind: 'in time', ...datesOf(credential, now, 'credential') }
  const { address, index } = placeOfStatus(credential as AnyObject, issuer)
  const list = await documentAt(address)
  assertStatusList(list as AnyObject, address, issuer)
  await signerOf(list, issuer, 'list')
  const { from: since } = datesOf(list, now, 'list')
  const { encodedList } = (list as AnyObject)['credentialSubject'] as { encodedList?: unknown }
  const isSet = await isSetIn(String(encodedList), index)
  if (isSet === undefined) throw new CredentialFault({ document: 'list', kind: 'no place', index })
  if (isSet) throw new CredentialFault({ document: 'credential', kind: 'revoked', since })
  yield { kind: 'not revoked', list: address, since }
}

/** Returns the key that signed a document. */
async function signerOf(
  secured: object,
  { keys }: Issuer,
  document: Checked,
): Promise<Issuer['keys'][number]> {
  const { proof: proofs } = secured as { proof?: unknown }
  const [proof, ...others] = Array.isArray(proofs) ? (proofs as unknown[]) : []
  const isOne =
    isObject(proof) &&
    others.length === 0 &&
    proof['type'] === 'DataIntegrityProof' &&
    proof['cryptosuite'] === 'eddsa-rdfc-2022' &&
    proof['proofPurpose'] === 'assertionMethod' &&
    typeof proof['proofValue'] === 'string'
  if (!isOne) throw new CredentialFault({ document, kind: 'no proof' })
  const { verificationMethod } = proof
  const key = keys.find(({ id }) => id === verificationMethod)
  if (!key) throw new CredentialFault({ document, kind: 'unknown key', key: verificationMethod })
  try {
    if (await isSignedBy(secured as Secured, key.publicKeyMultibase)) return key
  } catch (error) {
    if (error instanceof ServiceError) throw new CredentialFault({ document, kind: 'other form', error })
    throw error
  }
  throw new CredentialFault({ document, kind: 'forged' })
}

function datesOf(dated: object, now: Date, document: Checked): { from: string; until: string } {
  const { validFrom: from, validUntil: until } = dated as AnyObject
  if (typeof from !== 'string' || typeof until !== 'string' || !(Date.parse(from) < Date.parse(until))) {
    throw new CredentialFault({ document, kind: 'no dates' })
  }
  if (now < new Date(from)) throw new CredentialFault({ document, kind: 'too early', from, until })
  if (now > new Date(until)) throw new CredentialFault({ document, kind: 'ran out', from, until })
  return { from, until }
}

function placeOfStatus(
  { credentialStatus: status }: AnyObject,
  { url }: Issuer,
): { address: string; index: number } {
  const { statusListCredential: address, statusListIndex, statusPurpose } = isObject(status) ? status : {}
  const isWhole =
    statusPurpose === 'revocation' &&
    typeof address === 'string' &&
    address.startsWith(`${url}/`) &&
    /^\d{1,6}$/.test(String(statusListIndex))
  if (!isWhole) throw new CredentialFault({ document: 'credential', kind: 'no status' })
  return { address, index: Number(statusListIndex) }
}

function assertStatusList(
  { id, issuer: by, type, credentialSubject: subject }: AnyObject,
  address: string,
  { id: issuer }: Issuer,
): void {
  const isStatusList =
    id === address &&
    by === issuer &&
    [type].flat().includes('BitstringStatusListCredential') &&
    isObject(subject) &&
    subject['statusPurpose'] === 'revocation'
  if (!isStatusList) throw new CredentialFault({ document: 'list', kind: 'another list' })
}

function isObject(value: unknown): value is AnyObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The bytes of the lists that this service makes. */
const LIST_BYTES = 16_384

/** Whether the bit of an index is set in a list; undefined if the text is no list, or the list too short. */
export async function isSetIn(encodedList: string, index: number): Promise<boolean | undefined> {
  const byte = (await bytesOfList(encodedList))?.[index >> 3]
  return byte === undefined ? undefined : (byte & (0x80 >> (index & 7))) !== 0
}

/** Returns the bytes of a list; undefined for a text that is none, or that unpacks to more bytes. */
async function bytesOfList(encodedList: string): Promise<Uint8Array | undefined> {
  if (!/^u[\w-]+$/.test(encodedList)) return undefined
  let packed: string
  try {
    packed = atob(encodedList.slice(1).replaceAll('-', '+').replaceAll('_', '/'))
  } catch {
    return undefined
  }
  const stream = new Blob([Uint8Array.from(packed, (character) => character.charCodeAt(0))]).stream()
  // Not `for await`: Safari cannot iterate over a stream.
  const parts = stream.pipeThrough(new DecompressionStream('gzip')).getReader()
  const bytes = new Uint8Array(LIST_BYTES)
  for (let read = 0; ;) {
    const part = await parts.read().catch(() => undefined)
    if (!part) return undefined
    if (part.done) return bytes.subarray(0, read)
    if (read + part.value.byteLength > LIST_BYTES) {
      await parts.cancel()
      return undefined
    }
    bytes.set(part.value, read)
    read += part.value.byteLength
  }
}
