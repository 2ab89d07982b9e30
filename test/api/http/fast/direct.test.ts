// A POST that goes to its route directly is answered as Koa answers it: the same requests, sent to a service
// that does so and to one that does not, get the same bytes, leave the same rows, and are counted, measured
// and logged the same. DIRECT_RUNS says how many conversations are generated.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type BothWays,
  expectSame,
  expectSameNotes,
  expectSameStored,
} from '../../../support/http/both-ways.ts'
import { suiteFolder } from '../../../support/folder.ts'
import { inboxRows } from '../../../support/inbox-rows.ts'
import { postedConversation } from '../../../support/http/posted-conversations.ts'
import {
  OPEN_QUESTIONS,
  type PostingWorld,
  type Words,
  postingWorld,
  worded,
} from '../../../support/worlds/posting-world.ts'
import { CHUNKED, bearer, chunked, on, post } from '../../../support/http/posts.ts'
import {
  FOUND,
  LEFT_TO_KOA,
  PLAIN,
  VALID,
  bulkOf,
  forecastOf,
  forecastsOf,
  ofBody,
} from '../../../support/http/single-posts.ts'
import { QUESTION } from '../../../support/worlds/world.ts'

const RUNS = Number(process.env['DIRECT_RUNS'] ?? 100)
/** More than there are tests and conversations. */
const AGENTS = RUNS + 200

const folder = await suiteFolder()
let world: PostingWorld
let ways: BothWays
beforeAll(async () => {
  world = await postingWorld(folder, AGENTS)
  ways = await world.bothWays()
})
afterAll(() => ways.stop())

/** A caller that nobody has seen before. */
const newCaller = () => ({ words: world.nextWords(), address: ways.newAddress() })

/**
 * Sends requests of one caller to both on a connection, and returns the status of each answer and the texts
 * of all.
 */
async function same(
  requests: readonly string[],
  { words, ...how }: { words: Words; address?: string; hangsUp?: boolean } = newCaller(),
): Promise<{ statuses: number[]; text: string }> {
  const sent = requests.map((request) => worded(request, words))
  ways.early = 0
  const text = await expectSame(ways, sent, how)
  expectSameStored(ways)
  return { statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status)), text }
}

describe('a POST that goes to its route directly', () => {
  test.for(PLAIN)('is answered as by Koa: %s', async ([, request, status]) => {
    const { statuses, text } = await same([request])
    expect(statuses[0], text).toBe(status)
    expect(ways.early).toBe(1)
  })

  test.for(LEFT_TO_KOA)('is left to Koa unless it is plain: %s', async ([, request, status]) => {
    const { statuses, text } = await same([request])
    expect(statuses[0], text).toBe(status)
    expect(ways.early).toBe(0)
  })

  test('is answered in its turn among requests that are sent ahead', async () => {
    const standing = post({
      path: '/agents/{agent}/forecasts',
      method: 'GET',
      type: [],
      framing: [],
      key: bearer(),
    })
    const published = post({
      path: `/forecaster/${FOUND[0]}/verification`,
      method: 'GET',
      type: [],
      framing: [],
    })
    const { statuses, text } = await same([
      forecastOf(),
      standing,
      forecastOf({ framing: CHUNKED, body: chunked(VALID, 20) }),
      published,
      bulkOf(FOUND),
      ofBody(on(QUESTION.closed)),
      published,
      forecastsOf(OPEN_QUESTIONS.slice(0, 2).map((id) => on(id))),
      standing,
      forecastOf(),
    ])
    expect(statuses).toEqual([200, 200, 200, 200, 200, 409, 200, 200, 200, 200, 200])
    const types = [...text.matchAll(/^RateLimit: "([a-z-]+)";r=(\d+)/gm)].map(
      ([, name, left]) => `${name} ${left}`,
    )
    // The last request only ends the conversation.
    expect(types.pop()).toMatch(/^other-calls/)
    expect(types).toEqual([
      'forecasts 7',
      'reads 6',
      'forecasts 6',
      'verifications 5',
      'monthly-calls 6',
      'forecasts 6',
      'verifications 4',
      'forecasts 4',
      'reads 5',
      'forecasts 3',
    ])
    // All but the chunked one and those that read what stands; a published payload is prepared from its
    // second call on.
    expect(ways.early).toBeGreaterThanOrEqual(6)
  })

  test('takes effect once for an Idempotency-Key, whichever way its repetition goes', async () => {
    const inChunks = { framing: CHUNKED, body: chunked(VALID, 20) }
    const key = { more: ['Idempotency-Key: a-key'] }
    const { statuses, text } = await same([
      forecastOf(key),
      forecastOf({ more: ['Idempotency-Key: "a-key"'] }),
      forecastOf({ ...key, ...inChunks }),
      forecastOf({ ...key, path: '/agents/{AGENT}/forecast' }),
      forecastOf({ ...key, body: JSON.stringify(on(QUESTION.open, 0.5)) }),
      forecastsOf([on(QUESTION.open)], key),
      forecastsOf([on(QUESTION.open)], key),
    ])
    expect(statuses).toEqual([200, 200, 200, 200, 422, 200, 200, 200])
    const ids = [...text.matchAll(/"forecast_id":"([\w-]{36})"/g)].map(([, id]) => id)
    expect([ids.length, new Set(ids.slice(0, 4)).size, new Set(ids).size]).toEqual([6, 1, 2])
  })

  test.for<[string, string, number]>([
    ['forecasts of an agent', forecastOf(), 8],
    ['batches of forecasts', forecastsOf(OPEN_QUESTIONS.slice(0, 4).map((id) => on(id))), 2],
    ['calls of an address', bulkOf(FOUND, { key: [] }), 6],
    ['calls of a key', bulkOf(FOUND), 7],
  ])('is refused as by Koa once there are too many %s', async ([, request, most]) => {
    const caller = newCaller()
    const within = await same(Array<string>(most).fill(request), caller)
    expect([within.statuses, ways.early]).toEqual([[...Array<number>(most).fill(200), 200], most])
    for (let more = 0; more < 2; more += 1) {
      const { statuses, text } = await same([request], caller)
      expect([statuses[0], ways.early]).toEqual([429, 1])
      expect(text).toMatch(/^Retry-After: \d+\r$/m)
    }
  })

  test.for<[string, string, number]>([
    ['with its key', ofBody('{}'), 422],
    ['with its key at another agent', forecastOf({ path: '/agents/{other-agent}/forecast' }), 403],
    ['without a key', bulkOf([], { key: [] }), 422],
    ['with a wrong key', forecastOf({ key: bearer('fv_live_x') }), 401],
  ])('is refused as by Koa once a caller has failed too often %s', async ([, request, status]) => {
    const caller = newCaller()
    // From then on its key is known to be good.
    await same([forecastOf()], caller)
    const statuses: unknown[] = []
    for (const next of [...Array<string>(5).fill(request), forecastOf(), bulkOf(FOUND, { key: [] })]) {
      statuses.push((await same([next], caller)).statuses[0])
      expect(ways.early).toBe(1)
    }
    expect(statuses.slice(0, 5)).toEqual([status, status, status, status, 429])
    // A good key pays for itself, and an address for whoever has none.
    const isOfKey = request.includes('{key}')
    expect(statuses.slice(5)).toEqual(isOfKey ? [429, 200] : [200, 429])
  })

  test('is not done once the answer before it has ended the connection', async () => {
    const { statuses } = await same([forecastOf({ more: ['Connection: close'] }), forecastOf()])
    expect([statuses, ways.early]).toEqual([[200], 1])
    const refused = await same([forecastOf({ key: [] }), forecastOf()])
    expect([refused.statuses, ways.early]).toEqual([[401], 1])
  })

  test.for<[string, string, boolean]>([
    ['in its body', forecastOf({ framing: [`Content-Length: ${VALID.length + 1}`] }), true],
    ['before its body', forecastOf({ body: '', framing: [`Content-Length: ${VALID.length}`] }), true],
    ['in its body, of a bulk call', bulkOf(FOUND, { framing: ['Content-Length: 500'] }), true],
    ['in its head', forecastOf().slice(0, 60), false],
    ['in its last chunk', forecastOf({ framing: CHUNKED, body: '99\r\n{' }), false],
  ])('is answered as by Koa if it ends %s', async ([, request, isEarly]) => {
    const { text } = await same([forecastOf(), request], { ...newCaller(), hangsUp: true })
    expect(text).toMatch(/^HTTP\/1\.1 200 OK/)
    expect(ways.early).toBe(isEarly ? 2 : 1)
  })

  test('is answered as by Koa in any conversation', async () => {
    let early = 0
    await fc.assert(
      fc.asyncProperty(postedConversation, async (connections) => {
        const caller = newCaller()
        for (const requests of connections) {
          await same(requests, caller)
          early += ways.early
        }
      }),
      { numRuns: RUNS, seed: 20260301 },
    )
    expect(early).toBeGreaterThan(3 * RUNS)
  })

  test('is counted, measured and logged as by Koa, and leaves the same rows', async () => {
    await expectSameNotes(ways)
    await ways.stop()
    const [before, koa] = ways.sides
    for (const table of ['forecasts', 'usage'] as const) {
      const rows = await inboxRows(before.store, table)
      expect(rows).not.toEqual([])
      expect(rows).toEqual(await inboxRows(koa.store, table))
    }
  })
})
