// Prepared answers are those of Koa: the same requests, sent to a service with them and to one without, get the same bytes, are
// counted the same, and are measured and logged the same. PREPARED_RUNS says how many conversations are generated.
import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { conversation } from '../../support/conversations.ts'
import { suiteFolder } from '../../support/folder.ts'
import { usageOf } from '../../support/limited-service.ts'
import { talk } from '../../support/raw-talk.ts'
import { Clock, type TestService, release, startTestService, testComponents } from '../../support/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { NOW, copyReleasedWorld, forecasterId } from '../../support/world.ts'
import { LOG_SECRET, writeLog } from '../../support/written-log.ts'

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

interface Side {
  service: TestService
  store: MemoryStore
  logged: string[]
}

const folder = await suiteFolder()
const clock = new Clock(NOW)
const keys: string[] = []
let agentId: string
let sides: { prepared: Side; koa: Side }
/** Requests that were answered before Koa. */
let early = 0

async function startSide(store: MemoryStore, isPrepared: boolean): Promise<Side> {
  const logged: string[] = []
  const logger = pino({ level: 'debug', base: null }, { write: (line) => logged.push(line) })
  const components = { ...(await testComponents({ store, folder, clock, settings: LIMITS })), logger }
  const service = await startTestService(components, {
    answerFirst: (prepared) =>
      isPrepared
        ? (request, response, otherwise) => {
            early += 1
            prepared(request, response, (...left) => {
              early -= 1
              otherwise(...left)
            })
          }
        : undefined,
  })
  return { service, store, logged }
}

beforeAll(async () => {
  const released = new MemoryStore()
  const world = await copyReleasedWorld(released)
  await writeLog(released, 1)
  agentId = world.agentId
  const { registry } = await testComponents({ store: released, folder, clock })
  for (let nth = 0; nth < 6; nth++) keys.push(await registry.createClientKey('a client', clock.now()))
  sides = { prepared: await startSide(copyOf(released), true), koa: await startSide(copyOf(released), false) }
})
afterAll(() => Promise.all([sides.prepared.service.stop(), sides.koa.service.stop()]))

/** Without what differs from one answer to the next: ids, and the time. */
const steady = (text: string) =>
  text
    .replace(/^X-Request-Id: [\w-]{36}\r$/gm, 'X-Request-Id: <id>\r')
    .replace(/^Date: .*\r$/gm, 'Date: <now>\r')
    .replace(/;t=\d+\r$/gm, ';t=<seconds>\r')
    .replace(/^Retry-After: \d+\r$/gm, 'Retry-After: <seconds>\r')
    .replace(/try again in \d+ s/g, 'try again in <seconds>')

let conversations = 0
const nextAddress = () => {
  conversations += 1
  return `10.${conversations >> 16}.${(conversations >> 8) & 255}.${conversations & 255}`
}

async function expectSame(requests: readonly string[]): Promise<string> {
  const address = nextAddress()
  const sent = requests.map((request) => request.replaceAll('{address}', address))
  const [prepared, koa] = await Promise.all([
    talk(sides.prepared.service.url, sent),
    talk(sides.koa.service.url, sent),
  ])
  expect(steady(prepared)).toBe(steady(koa))
  return prepared
}

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
        const tag = tagOf(await expectSame([get(path), get(`${entity}/verification`)]))
        early = 0
        const named = `If-None-Match: ${tag}`
        const key = `X-API-Key: ${keys[0]}`
        await expectSame([get(path), get(path, named), get(path, key), get(path, key, named), headOf(path)])
        expect(early).toBeGreaterThanOrEqual(name === 'verification' ? 4 : 5)
      }
    },
  )

  test.for(['/leaderboard/agent', '/leaderboard/forecaster', '/log/checkpoint'])(
    'is that of Koa for %s, whole, its head and not modified',
    async (path) => {
      const tag = tagOf(await expectSame([get(path)]))
      early = 0
      await expectSame([get(path), get(path, `If-None-Match: ${tag}`), headOf(path)])
      expect(early).toBe(3)
    },
  )

  test('is that of Koa in any conversation, and every call is counted, measured and logged the same', async () => {
    const tag = tagOf(await expectSame([get(verification())]))
    early = 0
    const entities = [
      `/agents/${agentId}`,
      `/forecaster/${forecasterId(0)}`,
      `/forecaster/${forecasterId(1)}`,
    ]
    await fc.assert(
      fc.asyncProperty(conversation({ entities, keys, tag }), async (requests) => {
        await expectSame(requests)
      }),
      { numRuns: RUNS, seed: 20260301 },
    )
    expect(early).toBeGreaterThan(RUNS / 2)
    expect(await measured(sides.prepared)).toEqual(await measured(sides.koa))
    expect(logOf(sides.prepared)).toEqual(logOf(sides.koa))
  })

  test('is of the release that is current', async () => {
    const path = verification()
    await expectSame([get(path), get(path)])
    clock.set('2026-03-01T13:00:00.000Z')
    for (const { service } of [sides.prepared, sides.koa]) {
      await release(service.components)
      while (
        !(await talk(service.url, [get(path).replace('{address}', nextAddress())])).includes('T13:00:00')
      )
        await pause(1)
    }
    early = 0
    const answers = await expectSame([get(path), get(path)])
    expect(answers.match(/"as_of":"2026-03-01T13:00:00.000Z"/g)).toHaveLength(2)
    expect(early).toBe(2)
  })

  test('is written down as used by its key, as that of Koa is', async () => {
    await Promise.all([sides.prepared.service.stop(), sides.koa.service.stop()])
    const used = await usageOf(sides.prepared.store)
    expect(used).not.toEqual([])
    expect(used).toEqual(await usageOf(sides.koa.store))
  })
})

/** How many requests were measured, by method, route and status. */
async function measured({ service }: Side): Promise<string[]> {
  const { text } = await service.client.get('/metrics')
  return text.split('\n').filter((line) => line.startsWith('fvs_http_request_seconds_count'))
}

/** In order of their words, since requests of several connections may be logged in any. */
function logOf({ logged }: Side): string[] {
  return logged
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === 'answered')
    .map(({ requestId, time, seconds, ...told }) => {
      expect([typeof requestId, typeof time, typeof seconds]).toEqual(['string', 'number', 'number'])
      return JSON.stringify(told)
    })
    .toSorted()
}
