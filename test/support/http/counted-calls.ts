// Calls that count against a limit: reads what their answers say about it, and makes many of them at once.
import pMap from 'p-map'
import { expect } from 'vitest'
import type { PolicyName } from '../../../api/limits/admission.ts'
import { expectProblem } from './problem.ts'
import type { Answer, Client } from './service.ts'
import { forecasterId, uuidOf } from '../worlds/world.ts'

/** The verification of a published forecaster, and of one that is not published. */
export const FOUND = `/forecaster/${forecasterId(0)}/verification`
export const MISSING = `/forecaster/${uuidOf(7, 0)}/verification`
export const BULK = '/verification/bulk'

export const bulkOf = (count: number) => ({
  entity_type: 'forecaster',
  ids: Array.from({ length: count }, (_, index) => uuidOf(7, index)),
})

export const withKey = (key: string) => ({ 'X-API-Key': key })

export interface AnsweredQuota {
  policy: string
  quota: number
  windowS: number
  remaining: number
  resetS: number
}

/** Reads `RateLimit-Policy` and `RateLimit`, which must both be there and be about the same policy. */
export function quotaIn({ headers, status }: Answer): AnsweredQuota {
  const said = `${headers['ratelimit-policy']?.toString()} ${headers['ratelimit']?.toString()}`
  const match = /^"([a-z-]+)";q=(\d+);w=(\d+) "([a-z-]+)";r=(\d+);t=(\d+)$/.exec(said)
  if (!match) throw new Error(`an answer with status ${status} has the limits ${said}`)
  const [, policy, quota, windowS, again, remaining, resetS] = match
  expect(again).toBe(policy)
  return {
    policy: policy!,
    quota: Number(quota),
    windowS: Number(windowS),
    remaining: Number(remaining),
    resetS: Number(resetS),
  }
}

/** The number of calls that are left after an answer. */
export const remaining = async (answer: Promise<Answer>): Promise<number> => quotaIn(await answer).remaining

/** The public id of a key. */
export const idOf = (key: string): string => key.split('_')[2]!

export function expectLimited(answer: Answer, policy: PolicyName): AnsweredQuota {
  expectProblem(answer, 429, /; try again in \d+ (s|minutes|hours|days)$/)
  expect(answer.json()).toMatchObject({
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    'violated-policies': [policy],
  })
  const quota = quotaIn(answer)
  expect(quota).toMatchObject({ policy, remaining: 0 })
  expect(answer.headers['retry-after']).toBe(String(quota.resetS))
  return quota
}

export interface Storm {
  /** The number of calls answered with 200, by API key. */
  through: Map<string, number>
  notFound: number
  refused: number
  /** Calls with any other answer, or without one. */
  failed: number
}

/**
 * Sends `perKey` calls with each API key, the keys by turns, over all clients at once. Every fifth call asks
 * for something that does not exist. `onAnswer` is called with the number of answers so far.
 */
export async function storm(
  clients: readonly Client[],
  keys: readonly string[],
  perKey: number,
  onAnswer: (answered: number) => void = () => undefined,
): Promise<Storm> {
  const result: Storm = { through: new Map(), notFound: 0, refused: 0, failed: 0 }
  let answered = 0
  const calls = Array.from({ length: perKey * keys.length }, (_, index) => index)
  await pMap(
    calls,
    async (index) => {
      const key = keys[index % keys.length]!
      // With the clients simply by turns, a key could always meet the same one.
      const client = clients[Math.floor(index / keys.length + index) % clients.length]!
      const path = Math.floor(index / keys.length) % 5 === 4 ? MISSING : FOUND
      const status = await client.get(path, withKey(key)).then(
        (answer) => answer.status,
        () => 0,
      )
      if (status === 200) result.through.set(key, (result.through.get(key) ?? 0) + 1)
      else if (status === 404) result.notFound += 1
      else if (status === 429) result.refused += 1
      else result.failed += 1
      answered += 1
      onAnswer(answered)
    },
    { concurrency: 64 },
  )
  return result
}

/** The number of API keys for each number of calls answered with 200. */
export function timesThrough({ through }: Storm): Record<number, number> {
  const times: Record<number, number> = {}
  for (const count of through.values()) times[count] = (times[count] ?? 0) + 1
  return times
}
