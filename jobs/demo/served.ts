// Asks the service of `fvs demo` as any user would: over HTTP, with only its URL and a key.
import { setTimeout as pause } from 'node:timers/promises'
import pMap from 'p-map'
import type { z } from 'zod'
import { acknowledgedForecast, bulkResults, problem, registered } from '../../schemas/answers.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { agentRankings, forecasterRankings, owner } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'

const POLL_MS = 100
const REQUESTS_AT_ONCE = 128

/** An entity with its name and how it was simulated. */
export interface Entrant {
  id: string
  name: string
  traits: string
  /** Null for people, and for agents without a recorded owner. */
  owner: string | null
}

export type RankedEntity = Awaited<ReturnType<typeof rankedEntities>>[number]
export type ServedOwner = z.infer<typeof owner>

export interface Served {
  url: string
  /** A key of a client. */
  apiKey: string
  release: number
  /** Ends the wait for the release. */
  signal: AbortSignal
}

/**
 * Asks until the service serves the release. Returns its entities by skill, the most skilled first, and those
 * without a skill last.
 */
export async function rankedEntities(
  { url, apiKey, release, signal }: Served,
  entity_type: EntityType,
  entrants: readonly Entrant[],
) {
  const verifications = async () => {
    const body = { entity_type, ids: entrants.map(({ id }) => id) }
    const { results } = await post(`${url}/verification/bulk`, bulkResults, body, { 'X-API-Key': apiKey })
    return results.flatMap((result) =>
      result.status === 'ok' && result.verification.release === release ? [result] : [],
    )
  }
  let current = await verifications()
  while (current.length < entrants.length) {
    await pause(POLL_MS, undefined, { signal })
    current = await verifications()
  }
  const places = await pMap(
    entrants,
    async (entrant, place) => {
      const { verification, signature } = current[place]!
      const { rank, rank_interval, board_interval, pool } =
        entity_type === 'agent'
          ? await call(`${url}/agents/${entrant.id}/rankings`, agentRankings)
          : await call(`${url}/forecaster/${entrant.id}/rankings`, forecasterRankings)
      return { ...entrant, verification, signature, rank, rank_interval, board_interval, pool }
    },
    { concurrency: REQUESTS_AT_ONCE },
  )
  return places.sort((a, b) => (b.verification.skill ?? -Infinity) - (a.verification.skill ?? -Infinity))
}

export function servedOwner(url: string, id: string): Promise<ServedOwner> {
  return call(`${url}/owners/${encodeURIComponent(id)}`, owner)
}

/**
 * Registers an agent and submits two forecasts for it: on an open question, and on one whose outcome is
 * known. Returns the answer to the second.
 */
export async function refusalOfLate(url: string, open: string, resolved: string): Promise<string> {
  const agent = { name: 'simulated-late-agent', model_type: 'simulated: comes too late' }
  const { agent_id, api_key } = await post(`${url}/agents/register`, registered, agent)
  const submit = (question_id: string) =>
    post(
      `${url}/agents/${agent_id}/forecast`,
      acknowledgedForecast.or(problem),
      { question_id, probability: 0.99 },
      { Authorization: `Bearer ${api_key}` },
    )
  const answer = await submit(open)
  if ('detail' in answer) throw new ServiceError('conflict', `a forecast was refused: ${answer.detail}`)
  const late = await submit(resolved)
  if ('detail' in late) return late.detail
  throw new ServiceError('corrupt', 'a forecast on a resolved question was accepted')
}

function post<T>(url: string, answer: z.ZodType<T>, body: object, headers: object = {}): Promise<T> {
  return call(url, answer, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

async function call<T>(url: string, answer: z.ZodType<T>, request: RequestInit = {}): Promise<T> {
  const response = await fetch(url, request)
  if (response.ok || response.status === 409) return answer.parse(await response.json())
  throw new ServiceError('unavailable', `${url} answered ${response.status}: ${await response.text()}`)
}
