// `fvs verify FILE` of a certificate: checks it with public keys alone, and says what it does not show.
import { stat } from 'node:fs/promises'
import { type VerifiedCertificate, verifyCertificate } from '../pipeline/proof/certificate.ts'
import { parseVerifierKey } from '../pipeline/proof/note-keys.ts'
import { printable } from '../pipeline/printable.ts'
import { DOES_NOT_SHOW } from '../schemas/certificate.ts'
import { ServiceError } from '../schemas/errors.ts'
import { decisionOf, decisionText } from './decision.ts'
import { identityOf, identityText } from './identity.ts'
import type { Report } from './output.ts'
import { credentialWords } from './verify-credential.ts'
import { firstBytes, isUrl, smallFileBytes } from './read-place.ts'
import { type ProofOptions, originOf, proofFacts, proofWords, signersOf } from './verify-proof.ts'

/** A certificate of any version has it, and no text inside of JSON can. */
const MARK = '"format":"forecast-verification/certificate@'
const OWN_KEYS =
  'its parts fit each other, by the keys that it names itself, which shows nothing of who made it: give the key of the log, from elsewhere, with --vkey'

/** Whether a target is a certificate by its name or by its content, also one that is cut off. */
export async function isCertificate(target: string): Promise<boolean> {
  if (isUrl(target)) return false
  if (target.endsWith('.fvs')) return true
  // A pipe can be read only once.
  const isFile = await stat(target).then(
    (found) => found.isFile(),
    () => false,
  )
  return isFile && Buffer.from(await firstBytes(target)).includes(MARK)
}

/**
 * Without a key of the log the report is a failure, because anyone can make a certificate with keys of their
 * own, and a program that reads only the exit status must not take it for one of the log.
 *
 * @throws ServiceError `invalid` for wrong options and keys, and for a file that cannot be read.
 */
export async function runVerifyCertificate(
  target: string,
  { vkey, witness, proof, receipt, signature }: ProofOptions & { signature?: string },
): Promise<Report> {
  if ((proof ?? receipt ?? signature) !== undefined) {
    throw new ServiceError('invalid', 'a certificate has its proof in it: give only --vkey and --witness')
  }
  if (vkey.length === 0 && witness.length > 0) {
    throw new ServiceError('invalid', '--witness goes with --vkey: a witness does not vouch for the log')
  }
  const [keys, witnesses] = [vkey.map(parseVerifierKey), witness.map(parseVerifierKey)]
  const trust = { keys, witnesses, leastCosignatures: witnesses.length }
  const bytes = await smallFileBytes(target)
  try {
    const found = verifyCertificate(bytes, vkey.length === 0 ? undefined : trust)
    const { payload, credential } = found
    const words = credential && credentialWords(payload, credential)
    return reportOf(target, found, vkey.length > 0, words)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const json = { target, ok: false, reason: error.message }
    return { ok: false, json, text: `${target}: the certificate does not hold: ${printable(error.message)}` }
  }
}

/** Says what the certificate shows, what its title follows from, and what it does not show. */
function reportOf(
  target: string,
  found: VerifiedCertificate,
  isTrusted: boolean,
  credential: string | undefined,
): Report {
  const content = JSON.parse(new TextDecoder().decode(found.payload)) as Record<string, unknown>
  const record = { ...identityOf(content), ...originOf(found) }
  const doesNotShow = DOES_NOT_SHOW[found.tree === 'forecaster' ? 'forecaster' : 'agent']
  const { fault, ...award } = decisionOf(content) ?? {}
  const reason = fault ?? (isTrusted ? undefined : OWN_KEYS)
  const lines = [
    identityText(record),
    ...proofWords(found),
    ...('because' in award ? [decisionText(award)] : []),
    ...(credential === undefined ? [] : [credential]),
    ...doesNotShow.map((each) => `it does not show ${each}`),
  ]
  const ok = reason === undefined
  const text = [
    `${target}: ${ok ? 'the certificate holds' : printable(reason)}`,
    ...lines.map((line) => `  ${printable(line)}`),
  ].join('\n')
  const facts = { ...proofFacts(found), signed_by: signersOf(found.signatures) }
  const json = { target, ok, record, ...facts, award, does_not_show: doesNotShow }
  return { ok, json: ok ? json : { ...json, reason }, text }
}
