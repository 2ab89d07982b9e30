// `fvs verify --vkey`: checks a proof or a receipt with public keys alone, without any secret and without the
// service.
import { parseVerifierKey } from '../pipeline/proof/note-keys.ts'
import {
  type VerifiedProof,
  type VerifiedReceipt,
  verifyProof,
  verifyReceipt,
} from '../pipeline/proof/verify.ts'
import { ServiceError } from '../schemas/errors.ts'
import type { Report } from './output.ts'
import { fetched, fileBytes, isUrl } from './read-place.ts'

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

/** More than any payload, proof or receipt has. */
const MOST_BYTES = 16 * 1024 * 1024

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
  const body = await bytesAt(target)
  const text = textOf(await bytesAt(receipt ?? proof ?? proofUrlOf(target, body)))
  try {
    const found =
      receipt === undefined
        ? verifyProof(body, text, { keys, witnesses, leastCosignatures: witnesses.length })
        : verifyReceipt(body, headerText(text), { keys })
    return 'statement' in found ? proofReport(target, found) : receiptReport(target, found)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const what = receipt === undefined ? 'proof' : 'receipt'
    const json = { target, ok: false, reason: error.message }
    return { ok: false, json, text: `${target}: the ${what} does not hold: ${error.message}` }
  }
}

/**
 * Returns the URL at which the service that answered a payload has its proof.
 *
 * @throws ServiceError `invalid` for a file, and for anything but a payload.
 */
function proofUrlOf(target: string, body: Uint8Array): string {
  if (!isUrl(target))
    throw new ServiceError('invalid', 'give the proof of the file with --proof, or its --receipt')
  const release = /"release":([1-9][0-9]*)/.exec(textOf(body))?.[1]
  if (release === undefined) {
    throw new ServiceError(
      'invalid',
      `${target} answers no payload of a release: give its proof with --proof`,
    )
  }
  const url = new URL(target)
  url.pathname += '/proof'
  url.search = `?release=${release}`
  return url.href
}

const signersOf = (signatures: VerifiedProof['signatures']) =>
  signatures.map(({ key: { name, keyId } }) => `${name}+${keyId}`)

function proofReport(target: string, found: VerifiedProof): Report {
  const { checkpoint, tree, statement, signatures, cosignatures } = found
  const { release, as_of, environment } = statement
  const what = tree === 'forecasts' ? `has taken it in as a forecast` : `has published it of this ${tree}`
  const lines = [
    `${target}: the proof holds`,
    `  release ${release} of ${environment}, as of ${as_of}, ${what}`,
    `  it is entry ${release - 1} of the log ${checkpoint.origin}, whose checkpoint has ${checkpoint.size} entries`,
    `  the checkpoint is signed by ${signersOf(signatures).join(' and ')}`,
    ...cosignatures.map(
      ({ key: { name }, time }) =>
        `  the witness ${name} saw it at ${time?.toISOString() ?? 'a time that it does not say'}`,
    ),
  ]
  const json = {
    target,
    ok: true,
    tree,
    statement,
    checkpoint: { origin: checkpoint.origin, size: checkpoint.size },
    signed_by: signersOf(signatures),
    cosigned_by: signersOf(cosignatures),
  }
  return { ok: true, json, text: lines.join('\n') }
}

function receiptReport(target: string, { checkpoint, batch, signatures }: VerifiedReceipt): Report {
  const lines = [
    `${target}: the receipt holds`,
    `  the service has acknowledged it in batch ${batch}, of ${checkpoint.size}, signed by ${signersOf(signatures).join(' and ')}`,
    '  the first release with an as_of ten minutes after its forecast_at, or one before, must have it',
  ]
  const json = { target, ok: true, batch, signed_by: signersOf(signatures) }
  return { ok: true, json, text: lines.join('\n') }
}

async function bytesAt(place: string): Promise<Uint8Array> {
  const bytes = isUrl(place) ? await answered(place) : await fileBytes(place)
  if (bytes.byteLength <= MOST_BYTES) return bytes
  throw new ServiceError('invalid', `${place} has ${bytes.byteLength} bytes, more than any payload or proof`)
}

async function answered(url: string): Promise<Uint8Array> {
  const { response, bytes } = await fetched(url)
  if (response.ok) return bytes
  throw new ServiceError('invalid', `${url} answered ${response.status}`)
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
