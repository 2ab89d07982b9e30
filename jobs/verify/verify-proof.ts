// `fvs verify --vkey`: checks a proof or a receipt with public keys alone, without any secret and without the
// service.
import { parseVerifierKey } from '../../pipeline/proof/note-keys.ts'
import {
  type VerifiedProof,
  type VerifiedReceipt,
  verifyProof,
  verifyReceipt,
} from '../../pipeline/proof/verify.ts'
import { ServiceError } from '../../schemas/errors.ts'
import {
  type Identity,
  askedAt,
  differenceOf,
  identityOf,
  identityText,
  proofAddressOf,
  recordAt,
} from '../../pipeline/proof/identity.ts'
import { printable } from '../../pipeline/printable.ts'
import type { Report } from '../command-line/output.ts'
import { fetched, isUrl, smallFileBytes } from '../command-line/read-place.ts'
import { credentialIn } from './verify-credential.ts'

export interface ProofOptions {
  /** The keys of the log that the reader knows. */
  vkey: readonly string[]
  /**
   * The URL or file of the proof. For a payload fetched from the service, the default is the service's own.
   */
  proof?: string | undefined
  /** A file with the value of the receipt's header. */
  receipt?: string | undefined
  /** The keys of witnesses, all of which must have signed the checkpoint too. */
  witness: readonly string[]
}

/** @throws ServiceError `invalid` for wrong options and keys, and for places that cannot be read. */
export async function runVerifyProof(target: string, options: ProofOptions): Promise<Report> {
  const { vkey, proof, receipt, witness } = options
  if (vkey.length === 0)
    throw new ServiceError('invalid', 'give the key of the log with --vkey, as its operator publishes it')
  if (proof !== undefined && receipt !== undefined) {
    throw new ServiceError('invalid', 'give --proof or --receipt, not both')
  }
  if (receipt !== undefined && witness.length > 0) {
    throw new ServiceError('invalid', '--witness goes with --proof: no witness sees receipts')
  }
  const [keys, witnesses] = [vkey.map(parseVerifierKey), witness.map(parseVerifierKey)]
  const expected = [
    ...(isUrl(target) ? [recordAt(target)] : []),
    ...(proof !== undefined && isUrl(proof) ? [askedAt(proof) ?? {}] : []),
  ]
  const body = await bytesAt(target)
  const text = textOf(await bytesAt(receipt ?? proof ?? proofUrlOf(target, body)))
  try {
    const found =
      receipt === undefined
        ? await verifyProof(body, text, { keys, witnesses, leastCosignatures: witnesses.length })
        : await verifyReceipt(body, headerText(text), { keys })
    return reportOf(target, expected, body, found)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const what = receipt === undefined ? 'proof' : 'receipt'
    const json = { target, ok: false, reason: error.message }
    return { ok: false, json, text: `${target}: the ${what} does not hold: ${printable(error.message)}` }
  }
}

/**
 * Returns the URL at which the service that answered a payload has its proof.
 *
 * @throws ServiceError `invalid` for a file, and for anything but a payload.
 */
function proofUrlOf(target: string, body: Uint8Array): string {
  if (credentialIn(body)) {
    throw new ServiceError(
      'invalid',
      `${target} is a credential, which the key of its issuer vouches for, and no log: leave out --vkey and --witness`,
    )
  }
  if (!isUrl(target))
    throw new ServiceError('invalid', 'give the proof of the file with --proof, or its --receipt')
  const address = proofAddressOf(target, body)
  if (address !== undefined) return address
  throw new ServiceError('invalid', `${target} answers no payload of a release: give its proof with --proof`)
}

/** The keys that signed, by name and id. */
const signersOf = (signatures: VerifiedProof['signatures']) =>
  signatures.map(({ key: { name, keyId } }) => `${name}+${keyId}`)

/** Says what a proof or a receipt vouches for. It is a failure if that is not the record asked for. */
function reportOf(
  target: string,
  expected: readonly Identity[],
  body: Uint8Array,
  found: VerifiedProof | VerifiedReceipt,
): Report {
  const content = JSON.parse(textOf(body)) as Record<string, unknown>
  const isProof = 'statement' in found
  const what = isProof ? 'proof' : 'receipt'
  // A forecast does not say its environment and release: the statement does.
  const record = { ...identityOf(content), ...(isProof && originOf(found)) }
  const difference = expected.map((each) => differenceOf(each, record)).find((each) => each !== undefined)
  const words = isProof ? proofWords(found) : receiptWords(found, content)
  const lines = [
    difference === undefined ? `${target}: the ${what} holds` : `${target}: ${difference}`,
    ...[identityText(record), ...forecastWords(content), ...words].map((line) => `  ${printable(line)}`),
  ]
  const ok = difference === undefined
  const facts = isProof ? proofFacts(found) : { batch: found.batch }
  const json = { target, ok, record, ...facts, signed_by: signersOf(found.signatures) }
  return { ok, json: ok ? json : { ...json, reason: difference }, text: lines.join('\n') }
}

/** The facts that a statement says of all its records. */
function originOf({ statement: { environment, release, as_of } }: VerifiedProof): Identity {
  return { environment, release, as_of }
}

/** As in: by the agent 0198…, on the question 0198…, at 2026-03-01T12:00:00.000Z. */
function forecastWords({
  forecast_id: id,
  agent_id: agent,
  user_id: user,
  question_id: question,
  forecast_at: at,
}: Record<string, unknown>): string[] {
  const by = `${user === undefined ? 'agent' : 'forecaster'} ${String(user ?? agent)}`
  return id === undefined ? [] : [`by the ${by}, on the question ${String(question)}, at ${String(at)}`]
}

/** Says in lines what a proof shows of a record. */
function proofWords({ checkpoint, tree, statement, signatures, cosignatures }: VerifiedProof): string[] {
  const what = tree === 'forecasts' ? 'taken it in as a forecast' : `published it of this ${tree}`
  return [
    `that release has ${what}`,
    `it is entry ${statement.release - 1} of the log ${checkpoint.origin}, whose checkpoint has ${checkpoint.size} entries`,
    `the checkpoint is signed by ${signersOf(signatures).join(' and ')}`,
    ...cosignatures.map(
      ({ key: { name }, time }) =>
        `the witness ${name} saw it at ${time?.toISOString() ?? 'a time that it does not say'}`,
    ),
  ]
}

/** The same for programs. */
function proofFacts({ checkpoint, tree, statement, cosignatures }: VerifiedProof): object {
  const { origin, size } = checkpoint
  return { tree, statement, checkpoint: { origin, size }, cosigned_by: signersOf(cosignatures) }
}

/** A person’s forecast may come ten minutes after it was made, and has as much time more. */
function receiptWords(
  { checkpoint, batch, signatures }: VerifiedReceipt,
  { user_id: user }: Record<string, unknown>,
): string[] {
  const minutes = user === undefined ? 'ten' : 'twenty'
  return [
    `the service has acknowledged it in batch ${batch}, of ${checkpoint.size}, signed by ${signersOf(signatures).join(' and ')}`,
    `the first release with an as_of ${minutes} minutes after its forecast_at, or one before, must have it`,
  ]
}

async function bytesAt(place: string): Promise<Uint8Array> {
  return isUrl(place) ? (await fetched(place)).bytes : smallFileBytes(place)
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

/**
 * Decodes a receipt from the Base64 of the header, also if the name of the header or a line end was copied
 * with it.
 */
function headerText(text: string): string {
  const value = text.trim().replace(/^x-service-receipt:\s*/i, '')
  return textOf(Buffer.from(value, 'base64'))
}
