// Two services over copies of one store, of which only one answers anything before Koa. Whatever both are
// sent, nobody may be able to tell them apart: by the answers, by what is counted, measured and logged, or by
// what is stored.
import { pino } from 'pino'
import { expect } from 'vitest'
import type { ServiceOptions } from '../../../jobs/serve/service.ts'
import type { MemoryStore } from '../../../pipeline/store/memory.ts'
import { CLAIMS_PREFIX } from '../../../pipeline/store/paths.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { talk } from './raw-talk.ts'
import { type Clock, type TestService, startTestService, testComponents } from './service.ts'
import { copyOf, recordIn } from '../store-content.ts'

export interface Side {
  service: TestService
  store: MemoryStore
  logged: string[]
  /** What stands for something of this side alone, such as a random key, and what that is. */
  own: Map<string, string>
}

export interface BothWaysOptions {
  folder: string
  clock: Clock
  settings: Record<string, string>
  /** The ids of a side in their order, so that both have the same. By default they are random. */
  newIds?: () => () => string
  /** The store through which a side works; its own copy by default. */
  through?: (copy: MemoryStore) => Store
}

export interface BothWays {
  /** The one that answers before Koa, and the one that does not. */
  sides: readonly [Side, Side]
  /** Requests that the first one has answered before Koa, since it was set to 0. */
  early: number
  /** An address that has called neither. They must be set to trust the header X-Forwarded-For. */
  newAddress: () => string
  stop: () => Promise<void>
}

/** The caller must stop both. */
export async function startBothWays(released: MemoryStore, options: BothWaysOptions): Promise<BothWays> {
  const counted: AnswerFirstOption = (answer) => (request, response, otherwise) => {
    ways.early += 1
    answer(request, response, (...left) => {
      ways.early -= 1
      otherwise(...left)
    })
  }
  let callers = 0
  const ways: BothWays = {
    sides: [await startSide(released, options, counted), await startSide(released, options, () => undefined)],
    early: 0,
    newAddress: () => {
      callers += 1
      return `10.${callers >> 16}.${(callers >> 8) & 255}.${callers & 255}`
    },
    stop: async () => {
      await Promise.all(ways.sides.map(({ service }) => service.stop()))
    },
  }
  return ways
}

type AnswerFirstOption = NonNullable<ServiceOptions['answerFirst']>

async function startSide(
  released: MemoryStore,
  { folder, clock, settings, newIds, through = (copy) => copy }: BothWaysOptions,
  answerFirst: AnswerFirstOption,
): Promise<Side> {
  const store = copyOf(released)
  const logged: string[] = []
  const logger = pino({ level: 'debug', base: null }, { write: (line) => logged.push(line) })
  const components = await testComponents({ store: through(store), folder, clock, settings })
  const own = { logger, ...(newIds && { newId: newIds() }) }
  const service = await startTestService({ ...components, ...own }, { answerFirst })
  return { service, store, logged, own: new Map() }
}

/**
 * Sends requests to both, on a connection each. In them `{address}` stands for that of the caller, by default
 * a new one. Returns what the first one answered.
 */
export async function expectSame(
  ways: BothWays,
  requests: readonly string[],
  { address = ways.newAddress(), ...how }: { address?: string; hangsUp?: boolean } = {},
): Promise<string> {
  const [before, koa] = await Promise.all(
    ways.sides.map(async ({ service, own }) => {
      let sent = requests.map((request) => request.replaceAll('{address}', address))
      for (const [word, value] of own) sent = sent.map((request) => request.replaceAll(word, value))
      return talk(service.url, sent, how)
    }),
  )
  expect(steady(before!)).toBe(steady(koa!))
  return before!
}

/**
 * That both have measured as many requests by method, route and status, met as much damage, and logged the
 * same of requests.
 */
export async function expectSameNotes({ sides: [before, koa] }: BothWays): Promise<void> {
  expect(await measured(before)).toEqual(await measured(koa))
  expect(logOf(before)).toEqual(logOf(koa))
}

/** That both have stored the same in the inbox and of claims. Their ids must be the same. */
export function expectSameStored({ sides: [before, koa] }: BothWays): void {
  expect(storedIn(before)).toEqual(storedIn(koa))
}

/** Without what differs from one answer to the next: ids, and the time. */
export const steady = (text: string): string =>
  text
    .replace(/^X-Request-Id: [\w-]{36}\r$/gm, 'X-Request-Id: <id>\r')
    .replace(/^Date: .*\r$/gm, 'Date: <now>\r')
    .replace(/;t=\d+\r$/gm, ';t=<seconds>\r')
    .replace(/^Retry-After: \d+\r$/gm, 'Retry-After: <seconds>\r')
    .replace(/try again in \d+ s/g, 'try again in <seconds>')

async function measured({ service }: Side): Promise<string[]> {
  const { text } = await service.client.get('/metrics')
  return text.split('\n').filter((line) => /^fvs_(http_request_seconds_count|corrupt_total)/.test(line))
}

/** In order of their words, since requests of several connections may be logged in any. */
function logOf({ logged, own }: Side): string[] {
  return logged
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((told) => 'requestId' in told)
    .map(({ requestId, time, seconds, err, ...told }) => {
      expect([typeof requestId, typeof time]).toEqual(['string', 'number'])
      expect(typeof seconds).toBe(told['msg'] === 'answered' ? 'number' : 'undefined')
      const { message } = (err ?? {}) as { message?: string }
      let text = JSON.stringify({ ...told, message })
      for (const [word, value] of own) text = text.replaceAll(value, word)
      return text
    })
    .toSorted()
}

/** The paths of the inbox, which hold a hash of what is there, and the claims without their random bytes. */
function storedIn({ store }: Side): unknown[] {
  return [...store.objects.keys()].toSorted().flatMap((path): unknown[] => {
    if (path.startsWith('inbox/')) return [path]
    if (!path.startsWith(CLAIMS_PREFIX)) return []
    const { salt: _, ...claim } = recordIn(store, path)
    return [{ path, claim }]
  })
}
