// Prepared answers are those of Koa: the same requests, sent to a service with them and to one without, get
// the same bytes, are counted the same, and are measured and logged the same. PREPARED_RUNS says how many
// conversations are generated.
import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MemoryStore } from '../../../../pipeline/store/memory.ts'
import { type BothWays, expectSame, expectSameNotes, startBothWays } from '../../../support/http/both-ways.ts'
import { conversation } from '../../../support/http/conversations.ts'
import { suiteFolder } from '../../../support/folder.ts'
import { usageOf } from '../../../support/http/limited-service.ts'
import { talk } from '../../../support/http/raw-talk.ts'
import { Clock, release, testComponents } from '../../../support/http/service.ts'
import { NOW, copyReleasedWorld, forecasterId } from '../../../support/worlds/world.ts'
import { LOG_SECRET, writeLog } from '../../../support/worlds/written-log.ts'

const RUNS = Number(process.env['PREPARED_RUNS'] ?? 200)

/** So small that a conversation uses them up. */
const LIMITS = {
  ANONYMOUS_PER_MINUTE: '6',
  ANONYMOUS_PER_MONTH: '9',
  READS_PER_MINUTE: '7',
  ATTEMPTS_PER_MINUTE: '4',
  FREE_MONTHLY_CALLS: '50',
  // All is written down at once, when the services stop.
  USAGE_FLUSH_MS: '600000',
  LOG_SIGNING_KEY: LOG_SECRET,
  // Each conversation has an address of its own.
  TRUSTED_PROXIES: 'loopback',
}

const folder = await suiteFolder()
const clock = new Clock(NOW)
const keys: string[] = []
let agentId: string
let ways: BothWays

beforeAll(async () => {
  const released = new MemoryStore()
  const world = await copyReleasedWorld(released)
  await writeLog(released, 1)
  agentId = world.agentId
  const { registry } = await testComponents({ store: released, folder, clock })
  for (let nth = 0; nth < 6; nth++) keys.push(await registry.createClientKey('a client', clock.now()))
  ways = await startBothWays(released, { folder, clock, settings: LIMITS })
})
afterAll(() => ways.stop())

const tagOf = (answer: string) => /^ETag: (.*)\r$/m.exec(answer)![1]!
const get = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: x', 'X-Forwarded-For: {address}', ...headers, '', ''].join('\r\n')
const headOf = (path: string) => get(path).replace('GET', 'HEAD')
const verification = () => `/agents/${agentId}/verification`

describe('a prepared answer', () => {
  test.for(['verification', 'metrics', 'rankings', 'advanced-metrics', 'profile', 'badge.svg', 'badge.json'])(
    'is that of Koa for %s, whole, its head and not modified, with a key and without',
    async (name) => {
      for (const entity of [`/agents/${agentId}`, `/forecaster/${forecasterId(1)}`]) {
        const path = name === 'profile' ? entity : `${entity}/${name}`
        const tag = tagOf(await expectSame(ways, [get(path), get(`${entity}/verification`)]))
        ways.early = 0
        const named = `If-None-Match: ${tag}`
        const key = `X-API-Key: ${keys[0]}`
        await expectSame(ways, [
          get(path),
          get(path, named),
          get(path, key),
          get(path, key, named),
          headOf(path),
        ])
        expect(ways.early).toBeGreaterThanOrEqual(name === 'verification' ? 4 : 5)
      }
    },
  )

  test.for(['/leaderboard/agent', '/leaderboard/forecaster', '/log/checkpoint'])(
    'is that of Koa for %s, whole, its head and not modified',
    async (path) => {
      const tag = tagOf(await expectSame(ways, [get(path)]))
      ways.early = 0
      await expectSame(ways, [get(path), get(path, `If-None-Match: ${tag}`), headOf(path)])
      expect(ways.early).toBe(3)
    },
  )

  test('is that of Koa in any conversation, and every call is counted, measured and logged the same', async () => {
    const tag = tagOf(await expectSame(ways, [get(verification())]))
    ways.early = 0
    const entities = [
      `/agents/${agentId}`,
      `/forecaster/${forecasterId(0)}`,
      `/forecaster/${forecasterId(1)}`,
    ]
    await fc.assert(
      fc.asyncProperty(conversation({ entities, keys, tag }), async (requests) => {
        await expectSame(ways, requests)
      }),
      { numRuns: RUNS, seed: 20260301 },
    )
    expect(ways.early).toBeGreaterThan(RUNS / 2)
    await expectSameNotes(ways)
  })

  test('is of the release that is current', async () => {
    const path = verification()
    await expectSame(ways, [get(path), get(path)])
    clock.set('2026-03-01T13:00:00.000Z')
    for (const { service } of ways.sides) {
      await release(service.components)
      while (
        !(await talk(service.url, [get(path).replace('{address}', ways.newAddress())])).includes('T13:00:00')
      )
        await pause(1)
    }
    ways.early = 0
    const answers = await expectSame(ways, [get(path), get(path)])
    expect(answers.match(/"as_of":"2026-03-01T13:00:00.000Z"/g)).toHaveLength(2)
    expect(ways.early).toBe(2)
  })

  test('is written down as used by its key, as that of Koa is', async () => {
    await ways.stop()
    const [before, koa] = ways.sides
    const used = await usageOf(before.store)
    expect(used).not.toEqual([])
    expect(used).toEqual(await usageOf(koa.store))
  })
})
