// Looks at a domain for the proof that it answers for an agent: in a file that it serves, or in a TXT record.
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { z } from 'zod'
import { type Found, type OwnerClaim, PROOF_PATH, proofRecord } from '../access/owner-claims.ts'
import { type LookUp, checkedLookUp } from '../public-address.ts'

const MOST_BYTES = 64 * 1024
const REASON_CHARACTERS = 200
/** Failures of this machine's network, which say nothing of the domain. */
const OWN_FAILURES = new Set(['EAI_AGAIN', 'ENETUNREACH', 'ENETDOWN'])

/** The file: the token of each agent by its id. */
const proofFile = z.object({ agents: z.record(z.string(), z.unknown()) })

export interface Reach {
  lookUp: LookUp
  /** Resolves to the TXT records of a name, each in its parts. */
  resolveTxt: (name: string) => Promise<readonly (readonly string[])[]>
  /** Whether any address may be called. Only tests allow it. */
  isPrivateAllowed: boolean
  /** The beginning of the address of a domain. */
  originOf: (domain: string) => string
  /** The time that one look at the file may take. */
  timeoutMs: number
}

/** Looks for the proof of a claim, first in the file of its domain. */
export async function lookForProof(claim: OwnerClaim, reach: Reach): Promise<Found> {
  const inFile = await lookInFile(claim, reach)
  if (inFile.kind === 'proved') return inFile
  const inRecord = await lookInRecord(claim, reach)
  if (inRecord.kind === 'proved') return inRecord
  const kind = inFile.kind === 'unknown' && inRecord.kind === 'unknown' ? 'unknown' : 'missing'
  return { kind, reason: `${inFile.reason}; ${inRecord.reason}` }
}

async function lookInFile({ domain, agent_id, token }: OwnerClaim, reach: Reach): Promise<Found> {
  try {
    const text = await fileOf(`${reach.originOf(domain)}${PROOF_PATH}`, reach)
    const parsed = proofFile.safeParse(jsonOf(text))
    if (!parsed.success) return missing('the file is not JSON with the object “agents”')
    return parsed.data.agents[agent_id] === token
      ? { kind: 'proved' }
      : missing('the file does not have the token of the agent under its id')
  } catch (error) {
    return failed('the file', error)
  }
}

async function lookInRecord({ domain, token }: OwnerClaim, { resolveTxt }: Reach): Promise<Found> {
  try {
    const records = await resolveTxt(proofRecord(domain))
    return records.some((parts) => parts.join('') === token)
      ? { kind: 'proved' }
      : missing('no TXT record has the token')
  } catch (error) {
    return failed('the TXT record', error)
  }
}

const missing = (reason: string): Found & { kind: 'missing' } => ({ kind: 'missing', reason })

function failed(what: string, error: unknown): Found & { reason: string } {
  const { code, message } = error as NodeJS.ErrnoException
  const kind = OWN_FAILURES.has(code ?? '') ? 'unknown' : 'missing'
  return { kind, reason: `${what} could not be read: ${message}`.slice(0, REASON_CHARACTERS) }
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
 * @throws Error for any answer but 200, so that a redirect leads nowhere, for one of more than 64 KiB, or if
 *   it is not complete in time.
 */
function fileOf(address: string, { lookUp, isPrivateAllowed, timeoutMs }: Reach): Promise<string> {
  const request = address.startsWith('https:') ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const asked = request(address, {
      headers: { Accept: 'application/json' },
      lookup: checkedLookUp(lookUp, isPrivateAllowed),
      agent: false,
      signal: AbortSignal.timeout(timeoutMs),
    })
    asked.on('error', reject)
    asked.on('response', (answer) => {
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
        if (size > MOST_BYTES) give(new Error(`it has more than ${MOST_BYTES} bytes`))
        else chunks.push(chunk)
      })
      answer.on('end', () => resolve(Buffer.concat(chunks).toString()))
      return undefined
    })
    asked.end()
  })
}
