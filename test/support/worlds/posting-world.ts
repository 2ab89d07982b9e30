// The released world with more open questions and with many agents, so that each test has one whose limits
// nobody has touched.
import { randomBytes } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { newApiKey } from '../../../pipeline/access/api-key.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { type BothWays, type BothWaysOptions, startBothWays } from '../http/both-ways.ts'
import { idOf } from '../http/counted-calls.ts'
import { Client, Clock, importRows, registerAgent, testComponents } from '../http/service.ts'
import { NOW, copyReleasedWorld, uuidOf } from './world.ts'
import { LOG_SECRET, writeLog } from './written-log.ts'

export const OPEN_QUESTIONS = Array.from({ length: 9 }, (_, nth) => uuidOf(8, nth))
/** No question and nobody has this id. */
export const UNKNOWN = uuidOf(9, 9)

/** So small that a few calls use them up. */
const SMALL_LIMITS = {
  ANONYMOUS_PER_MINUTE: '6',
  ANONYMOUS_PER_MONTH: '9',
  READS_PER_MINUTE: '7',
  ATTEMPTS_PER_MINUTE: '4',
  FREE_MONTHLY_CALLS: '7',
  FORECASTS_PER_MINUTE: '5',
  FORECASTS_BURST: '8',
  // All is written down at once, when the services stop.
  USAGE_FLUSH_MS: '600000',
  LOG_SIGNING_KEY: LOG_SECRET,
  // Each test has an address of its own.
  TRUSTED_PROXIES: 'loopback',
}

/**
 * What stands in requests for what: `{agent}` for the id of the agent that submits, `{key}` for its key, and
 * so on.
 */
export type Words = ReadonlyMap<string, string>

export function worded(request: string, words: Words): string {
  return request.replace(/\{[\w-]+\}/g, (word) => words.get(word) ?? word)
}

export interface PostingWorld {
  released: MemoryStore
  /** Those of the next agent, of a client beside it, and of others. */
  nextWords: () => Words
  /** Two services over the world, each with an agent in its sandbox. The caller must stop them. */
  bothWays: (through?: BothWaysOptions['through']) => Promise<BothWays>
}

/** Has this many agents, of which the first comes again after the last. */
export async function postingWorld(folder: string, agents: number): Promise<PostingWorld> {
  const released = new MemoryStore()
  await copyReleasedWorld(released)
  await writeLog(released, 1)
  const clock = new Clock(NOW)
  const components = await testComponents({ store: released, folder, clock })
  const lines = OPEN_QUESTIONS.map((id) => `${id},Open?,2026-01-01T00:00:00Z,2026-06-01T00:00:00Z`)
  await importRows(
    components,
    'questions',
    ['question_id,title,opened_at,closes_at', ...lines, ''].join('\n'),
  )
  const { registry } = components
  const newAgent = async (nth: number) => {
    // With letters, which may be in upper case.
    const agentId = uuidOf(10, 0xabc000 + nth)
    const key = registry.firstKey(agentId)
    await registry.createAgent(agentId, key, clock.now())
    return { agentId, key: key.key, clientKey: await registry.createClientKey('a client', clock.now()) }
  }
  const all = await Promise.all(Array.from({ length: agents }, (_, nth) => newAgent(nth)))
  const retired = await newAgent(agents)
  await registry.noteRetired(retired.agentId, clock.now())
  const unknownKey = newApiKey('production', randomBytes).key
  const newIds = () => {
    let nth = 0
    const random = new Uint8Array(16)
    return () => uuidv7({ msecs: Date.parse(NOW) + ++nth, random, seq: 0 })
  }
  let next = 0
  return {
    released,
    nextWords: () => {
      const { agentId, key, clientKey } = all[next % agents]!
      const other = all[(next + 1) % agents]!
      next += 1
      return new Map([
        ['{agent}', agentId],
        ['{AGENT}', agentId.toUpperCase()],
        ['{encoded-agent}', agentId.replace('a', '%61')],
        ['{key}', key],
        ['{client-key}', clientKey],
        ['{other-agent}', other.agentId],
        ['{other-key}', other.key],
        ['{retired-agent}', retired.agentId],
        ['{retired-key}', retired.key],
        ['{unknown-key}', unknownKey],
      ])
    },
    bothWays: async (through) => {
      const options = { folder, clock, settings: SMALL_LIMITS, newIds }
      const ways = await startBothWays(released, { ...options, ...(through && { through }) })
      for (const { service, own } of ways.sides) {
        const { agentId, key } = await registerAgent(new Client(`${service.url}/sandbox`))
        own.set('{sandbox-agent}', agentId).set('{sandbox-key}', key).set('{sandbox-key-id}', idOf(key))
      }
      return ways
    },
  }
}
