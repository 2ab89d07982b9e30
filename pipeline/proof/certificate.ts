// Certificates: files that hold a verification, its proof and the keys of the log, so that the verification
// can be checked without the service.
import type { z } from 'zod'
import { CERTIFICATE_FORMAT, DOES_NOT_SHOW, anyCertificate } from '../../schemas/certificate.ts'
import type { openBadgeCredential } from '../../schemas/credentials.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { canonical, decoded } from './canonical.ts'
import { parseCheckpoint } from './checkpoint.ts'
import { type VerifierKey, parseVerifierKey, verifierKeyText } from './note-keys.ts'
import { heldSignatures } from './note-signatures.ts'
import { quoted } from './quoted.ts'
import { parseTlogProof } from './tlog-proof.ts'
import { type Trust, type VerifiedProof, parseCanonical, verifyProof } from './verify.ts'

export interface CertificateParts {
  /** The bytes of a verification, as they were published. */
  payload: Uint8Array
  /** The text of its proof, which ends in the checkpoint. */
  proof: string
  /** The keys of the log, of which those are left out that have not signed the checkpoint. */
  vkeys: readonly string[]
  /** An Open Badges credential, where there is one. */
  credential?: object | undefined
}

/** Returns the canonical JSON of a certificate. */
export function certificateBytes({ payload, proof, vkeys, credential }: CertificateParts): Uint8Array {
  const { note } = parseCheckpoint(parseTlogProof(proof).checkpoint)
  const signers = heldSignatures(note, vkeys.map(parseVerifierKey))
  const record = JSON.parse(decoded(payload)) as object
  return canonical({
    ...(credential && { credential }),
    does_not_show: DOES_NOT_SHOW['user_id' in record ? 'forecaster' : 'agent'],
    format: CERTIFICATE_FORMAT,
    payload: record,
    proof,
    vkeys: signers.map(({ key }) => verifierKeyText(key)),
  })
}

export interface VerifiedCertificate extends VerifiedProof {
  /** The bytes of the verification. */
  payload: Uint8Array
  /** The Open Badges credential in it, which is not checked. */
  credential: z.infer<typeof openBadgeCredential> | undefined
}

/**
 * Checks the proof of a certificate by the keys that the reader trusts; without `trust`, by those that the
 * certificate names itself, which shows only that its parts fit each other.
 *
 * @throws ServiceError `invalid` with the check that fails.
 */
export function verifyCertificate(bytes: Uint8Array, trust?: Trust): VerifiedCertificate {
  const members = parseCanonical(bytes, 'the certificate')
  const { format } = members
  if (format !== CERTIFICATE_FORMAT) {
    const found = typeof format === 'string' ? quoted(format) : 'none'
    throw new ServiceError('invalid', `the format is ${found}, and only ${CERTIFICATE_FORMAT} is known`)
  }
  const { data, error } = anyCertificate.safeParse(members)
  if (!data) {
    const { path, message } = error.issues[0]!
    throw new ServiceError('invalid', `the certificate does not fit at ${quoted(path.join('.'))}: ${message}`)
  }
  const payload = canonical(data.payload)
  const own = data.vkeys.map(parseVerifierKey)
  const found = verifyProof(payload, data.proof, trust ?? { keys: own, witnesses: [], leastCosignatures: 0 })
  const { note } = parseCheckpoint(parseTlogProof(data.proof).checkpoint)
  // A reader may copy a key from a certificate that holds.
  const isOfLog = ({ use, name }: VerifierKey) => use === 'log' && name === found.checkpoint.origin
  const other = own.find((key) => !isOfLog(key) || heldSignatures(note, [key]).length === 0)
  if (other === undefined) return { payload, credential: data.credential, ...found }
  const reason = `the certificate names the key ${quoted(verifierKeyText(other))}, which has not signed it`
  throw new ServiceError('invalid', reason)
}
