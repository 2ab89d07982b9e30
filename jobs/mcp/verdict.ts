// Verifies what `fvs mcp` reads by the keys of the log: a record by its proof, a submission by its receipt.
import { z } from 'zod'
import { type Answered, type ApiCall, type Verdict, readAnswer } from '../../api/mcp/api-call.ts'
import type { Call } from '../../clients/typescript/caller.ts'
import { bytesOfBase64 } from '../../pipeline/proof/base64.ts'
import { canonical, decoded } from '../../pipeline/proof/canonical.ts'
import type { VerifierKey } from '../../pipeline/proof/note-keys.ts'
import type { HeldSignature } from '../../pipeline/proof/note-signatures.ts'
import { quoted } from '../../pipeline/proof/quoted.ts'
import { type Trust, verifyProof, verifyReceipt } from '../../pipeline/proof/verify.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { assertRecord } from '../../pipeline/proof/reader.ts'

/** A call as it was made, and its answer. */
export interface Made {
  apiCall: ApiCall
  /** The path with its parameters. */
  path: string
  answered: Answered
  /** Makes a further call of the service, which ends when the caller gives up. */
  send: (call: Pick<Call, 'path' | 'query'>) => Promise<Answered>
}

type Members = Readonly<Record<string, unknown>>
/** A forecast as it was acknowledged, with the exact bytes that the receipt is of. */
interface Acknowledged {
  body: () => Uint8Array
  members: Members
  receipt: string | null | undefined
}

const NO_KEY: Verdict = { isVerified: false, because: 'no key of the log is set' }

/**
 * Returns the function that verifies an answer. It returns undefined where the service has no evidence for
 * such an answer, and throws a ServiceError `corrupt` with the record and the check that fails.
 *
 * @param keys those of the log, and of witnesses, each of which must have signed the checkpoint of a record.
 */
export function verdicts(url: string, keys: readonly VerifierKey[]) {
  const witnesses = keys.filter(({ use }) => use === 'witness')
  const trust: Trust = {
    keys: keys.filter(({ use }) => use === 'log'),
    witnesses,
    leastCosignatures: witnesses.length,
  }
  return async ({ apiCall, path, answered, send }: Made): Promise<Verdict | undefined> => {
    const { evidence } = apiCall
    if (evidence === undefined) return undefined
    if (keys.length === 0) return NO_KEY
    const content = JSON.parse(decoded(answered.bytes)) as Members
    if (evidence === 'proof') {
      const proof = await proofOf(path, content['release'], send)
      return recordVerdict(`${url}${path}`, { content, body: answered.bytes, proof }, trust)
    }
    return receiptVerdict(apiCall, acknowledgedIn(answered, content), trust)
  }
}

async function proofOf(path: string, release: unknown, send: Made['send']): Promise<string> {
  const proofPath = `${path}/proof`
  const answered = await send({ path: proofPath, query: { release } })
  if (answered.status === 200) return new TextDecoder().decode(answered.bytes)
  try {
    readAnswer({ path: proofPath, answer: z.looseObject({}) }, answered)
    throw new ServiceError('unavailable', `the service answered ${answered.status}`)
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause
    const { kind, message, retryAfterS } = cause
    throw new ServiceError(kind, `not verified, because ${proofPath} has no proof: ${message}`, {
      cause,
      ...(retryAfterS === undefined ? {} : { retryAfterS }),
    })
  }
}

function recordVerdict(
  address: string,
  { content, body, proof }: { content: Members; body: Uint8Array; proof: string },
  trust: Trust,
): Promise<Verdict> {
  return orRefused(`${address} of release ${String(Number(content['release']))} does not stand`, async () => {
    const { statement, checkpoint, signatures, cosignatures } = await verifyProof(body, proof, trust)
    assertRecord(address, body)
    const signers = signersOf([...signatures, ...cosignatures])
    const entry = `entry ${statement.release - 1} of ${checkpoint.size}`
    return { isVerified: true, because: `in the public log, ${entry}, signed by ${signers}` }
  })
}

/** Verifies every forecast that was taken; undefined if none was. */
async function receiptVerdict(
  apiCall: ApiCall,
  all: readonly Acknowledged[],
  trust: Trust,
): Promise<Verdict | undefined> {
  const checks = all.map(({ body, members, receipt }) => {
    const named = `the forecast ${quoted(String(members['forecast_id']))} on the question ${quoted(String(members['question_id']))}`
    const why = `${named} was taken, and must not be submitted again, but its receipt does not stand`
    return orRefused(why, async () => {
      if (typeof receipt !== 'string') throw new ServiceError('invalid', 'there is none')
      const { signatures } = await verifyReceipt(body(), decoded(bytesOfBase64(receipt)), trust)
      assertSubmitted(apiCall, members)
      return signersOf(signatures)
    })
  })
  const signers = await Promise.all(checks)
  if (signers.length === 0) return undefined
  const which = signers.length === 1 ? 'its receipt holds' : `all ${signers.length} receipts hold`
  return { isVerified: true, because: `${which}, signed by ${[...new Set(signers)].join(' and ')}` }
}

function signersOf(signatures: readonly HeldSignature[]): string {
  return signatures.map(({ key: { name, keyId } }) => `${name}+${keyId}`).join(' and ')
}

/** Returns the forecasts of an answer: of a batch those that were taken, and otherwise the one that it is. */
function acknowledgedIn({ bytes, headers }: Answered, content: Members): Acknowledged[] {
  const { results } = content
  if (!Array.isArray(results))
    return [{ body: () => bytes, members: content, receipt: headers.get('x-service-receipt') }]
  return (results as Members[])
    .filter(({ status }) => status === 'ok')
    .map(({ receipt, status: _status, ...members }) => ({
      body: () => canonicalBody(members),
      members,
      receipt: receipt as string | undefined,
    }))
}

/** @throws ServiceError `invalid` for text that is no Unicode, which has no canonical form. */
function canonicalBody(members: Members): Uint8Array {
  try {
    return canonical(members)
  } catch (cause) {
    throw new ServiceError('invalid', 'the forecast has no canonical form', { cause })
  }
}

/** The receipt of another forecast would hold too. @throws ServiceError `invalid`. */
function assertSubmitted({ params = {}, body = {} }: ApiCall, acknowledged: Members): void {
  const { forecasts, ...single } = body as Members
  const sent = [...((forecasts ?? []) as Members[]), { ...params, ...single }]
  const question = acknowledged['question_id']
  const found = sent.find(({ question_id: id }) => String(id).toLowerCase() === question)
  const [given, taken] = [found?.['probability'] ?? null, acknowledged['probability']]
  const isSame = given === taken || Math.abs(Number(given) - Number(taken)) <= HALF_A_DECIMAL
  if (
    found &&
    acknowledged['agent_id'] === params['agent_id'] &&
    isSame &&
    (given === null) === (taken === null)
  )
    return
  throw new ServiceError('invalid', 'it is of another forecast than was sent')
}

/** Probabilities are held to six decimals. */
const HALF_A_DECIMAL = 0.500_001e-6

/** @throws ServiceError `corrupt` with these words and the reason, if a check fails. */
async function orRefused<T>(words: string, check: () => Promise<T>): Promise<T> {
  try {
    return await check()
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause
    throw new ServiceError('corrupt', `not verified: ${words}: ${cause.message}`, { cause })
  }
}
