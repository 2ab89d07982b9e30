// Checks that a credential in a certificate says what the verification beside it says.
import { type Secured, isSignedBy } from '../pipeline/credentials/data-integrity.ts'
import { credentialOf, isCertifiedTitle } from '../pipeline/credentials/documents.ts'
import { ENTRIES_PER_LIST } from '../pipeline/credentials/status-list.ts'
import { canonicalText } from '../pipeline/proof/canonical.ts'
import type { VerifiedCertificate } from '../pipeline/proof/certificate.ts'
import { ServiceError } from '../schemas/errors.ts'
import { agentVerification, forecasterVerification } from '../schemas/payloads.ts'

/**
 * Returns who has signed the credential, and where the key has to be compared.
 *
 * @throws ServiceError `invalid` for a credential that says something else, or has no such signature.
 */
export function credentialWords(
  payload: Uint8Array,
  credential: NonNullable<VerifiedCertificate['credential']>,
): string {
  const { proof, ...document } = credential as typeof credential & Secured
  const content: unknown = JSON.parse(new TextDecoder().decode(payload))
  const agent = agentVerification.safeParse(content).data
  const record = agent ?? forecasterVerification.parse(content)
  const title = 'badge' in record ? record.badge : record.certification
  const { skill, skill_interval, contested_questions } = record
  const { id, url } = credential.issuer
  const { statusListCredential, statusListIndex } = credential.credentialStatus
  const list = Number(statusListCredential.split('/').at(-1))
  if (!isCertifiedTitle(title) || skill === null || skill_interval === null || typeof url !== 'string') {
    throw new ServiceError('invalid', `there is a credential, and none is made for the title ${title}`)
  }
  const entityId = 'badge' in record ? record.user_id : record.agent_id
  const expected = credentialOf({ ...record, url }, agent ? 'agent' : 'forecaster', entityId, {
    index: list * ENTRIES_PER_LIST + Number(statusListIndex),
    title,
    name: agent ? agent.name : null,
    skill,
    skill_interval,
    contested_questions,
  })
  if (canonicalText(document) !== canonicalText(expected)) {
    throw new ServiceError('invalid', 'the credential says something else than the verification')
  }
  const key = proof.verificationMethod.slice(id.length + 1)
  if (proof.verificationMethod !== `${id}#${key}` || !isSignedBy({ ...expected, proof }, key)) {
    throw new ServiceError('invalid', 'the credential is not signed by the key that it names')
  }
  return `the credential says the same, signed by the key ${key} of ${id}: compare it with the document of the issuer`
}
