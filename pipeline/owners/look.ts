// Looks for proofs of ownership at a domain: in a file that it serves, and in its TXT records.
import type { LookupAddress } from 'node:dns'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { z } from 'zod'
import { type Found, type OwnerClaim, PROOF_PATH, proofRecord } from '../access/owner-claims.ts'
import { checkedLookUp } from '../public-address.ts'

const MOST_ANSWER_BYTES = 64 * 1024
const REASON_CHARACTERS = 200
/** Failures of this machine's network. They say nothing about the domain. */
const OWN_FAILURES = new Set(['EAI_AGAIN', 'ENETUNREACH', 'ENETDOWN'])
/** Failures of this machine's resolver. A connection refused by the domain has one of these codes too. */
const RESOLVER_FAILURES = new Set(['ETIMEOUT', 'ECONNREFUSED', 'ESERVFAIL', 'ECANCELLED'])

/** The file: the token of each agent by its id. */
const proofFile = z.object({ agents: z.record(z.string(), z.unknown()) })

export interface Reach {
  /** Resolves to all addresses of a name. It must end when the signal does. */
  lookUp: (hostname: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>
  /** Resolves to the TXT records of a name, each in its parts. It must end when the signal does. */
  resolveTxt: (name: string, signal: AbortSignal) => Promise<readonly (readonly string[])[]>
  /** Whether any address may be called. Only tests allow it. */
  isPrivateAllowed: boolean
  /** The beginning of the address of a domain. */
  originOf: (domain: string) => string
  /** The time that a look at a domain may take. */
  timeoutMs: number
}

type NotFound = Exclude<Found, { kind: 'proved' }>
type Claimed<T> = { kind: 'shown'; value: T } | NotFound

/** The tokens at a domain, for the claims of all agents that name it. */
export interface DomainLook {
  file: Claimed<Record<string, unknown>>
  records: Claimed<readonly string[]>
}

/**
 * Reads the file and the TXT records of a domain at the same time, so that neither takes time from the other.
 */
export async function lookAtDomain(domain: string, reach: Reach, ending: AbortSignal): Promise<DomainLook> {
  const signal = AbortSignal.any([ending, AbortSignal.timeout(reach.timeoutMs)])
  const [file, records] = await Promise.all([
    inFile(domain, reach, signal).catch((error: unknown) => failed('the file', error)),
    inRecords(domain, reach, signal).catch((error: unknown) => failed('the TXT record', error)),
  ])
  return { file, records }
}

/** Finds the proof of a claim in a look at its domain. */
export function proofIn({ file, records }: DomainLook, { agent_id, token }: OwnerClaim): Found {
  if (file.kind === 'shown' && file.value[agent_id] === token) return { kind: 'proved' }
  if (records.kind === 'shown' && records.value.includes(token)) return { kind: 'proved' }
  const reasons = [
    file.kind === 'shown' ? 'the file does not have the token of the agent under its id' : file.reason,
    records.kind === 'shown' ? 'no TXT record has the token' : records.reason,
  ]
  // The proof may be in the place where the service could not look.
  const isUnknown = file.kind === 'unknown' || records.kind === 'unknown'
  return { kind: isUnknown ? 'unknown' : 'missing', reason: reasons.join('; ') }
}

async function inFile(domain: string, reach: Reach, signal: AbortSignal): Promise<DomainLook['file']> {
  const text = await fileOf(`${reach.originOf(domain)}${PROOF_PATH}`, reach, signal)
  const parsed = proofFile.safeParse(jsonOf(text))
  if (parsed.success) return { kind: 'shown', value: parsed.data.agents }
  return { kind: 'missing', reason: 'the file is not JSON with the object “agents”' }
}

async function inRecords(
  domain: string,
  { resolveTxt }: Reach,
  signal: AbortSignal,
): Promise<DomainLook['records']> {
  const records = await resolveTxt(proofRecord(domain), signal)
  return { kind: 'shown', value: records.map((parts) => parts.join('')) }
}

function failed(part: string, error: unknown): NotFound {
  const { code = '', syscall, message } = error as NodeJS.ErrnoException
  const isOfResolver = syscall?.startsWith('query') === true && RESOLVER_FAILURES.has(code)
  const kind = isOfResolver || OWN_FAILURES.has(code) ? 'unknown' : 'missing'
  return { kind, reason: `${part} could not be read: ${message}`.slice(0, REASON_CHARACTERS) }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Returns the file at an address.
 *
 * @throws Error for any status but 200, so that redirects are not followed, for more than 64 KiB, and if the
 *   file is not complete in time.
 */
async function fileOf(
  address: string,
  { lookUp, isPrivateAllowed }: Reach,
  signal: AbortSignal,
): Promise<string> {
  // Look the name up before the request, so that a silent resolver is not taken for a silent domain.
  const addresses = await lookUp(new URL(address).hostname, signal)
  const request = address.startsWith('https:') ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const outgoing = request(address, {
      headers: { Accept: 'application/json' },
      lookup: checkedLookUp(() => Promise.resolve(addresses), isPrivateAllowed),
      agent: false,
      signal,
    })
    outgoing.on('error', reject)
    outgoing.on('response', (answer) => {
      const give = (error: Error) => {
        answer.destroy()
        reject(error)
      }
      if (answer.statusCode !== 200) return give(new Error(`the domain answered ${answer.statusCode}`))
      const chunks: Buffer[] = []
      let size = 0
      answer.on('error', reject)
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > MOST_ANSWER_BYTES) give(new Error(`it has more than ${MOST_ANSWER_BYTES} bytes`))
        else chunks.push(chunk)
      })
      answer.on('end', () => resolve(Buffer.concat(chunks).toString()))
      return undefined
    })
    outgoing.end()
  })
}
