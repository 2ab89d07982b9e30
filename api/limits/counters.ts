// Where calls are counted: in Redis, which all nodes share, or in the memory of this one.
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible'
import type { Logger } from 'pino'
import { ServiceError } from '../../schemas/errors.ts'

export interface CounterSpec {
  /** What is counted, and by whom the names of the counters are chosen. */
  name: string
  /** More are refused. */
  points: number
  /** How long a count lasts from its first call. */
  durationS: number
}

export interface Counters {
  /** Whether other nodes count in the same place. */
  readonly shared: boolean
  counter(spec: CounterSpec): RateLimiterAbstract
  close(): Promise<void>
}

/** Timers of Node cannot run longer; what counts for longer is forgotten with its counter. */
const LONGEST_TIMER_S = 2_147_483

/** Takes nothing back of a count that is gone: it would let through one more than is allowed. */
class MemoryCounter extends RateLimiterMemory {
  override async reward(key: string, points = 1): Promise<RateLimiterRes> {
    const counted = await this.get(key)
    // One that has ended is still found where the clock has gone ahead of its timer.
    const isGone = !counted || (this.duration > 0 && counted.msBeforeNext <= 0)
    if (isGone) return new RateLimiterRes(this.points, 0, 0)
    return counted.consumedPoints < points ? counted : super.reward(key, points)
  }
}

function memoryCounter({ name, points, durationS }: CounterSpec): RateLimiterAbstract {
  const duration = durationS > LONGEST_TIMER_S ? 0 : durationS
  return new MemoryCounter({ keyPrefix: name, points, duration })
}

export function countInMemory(): Counters {
  return { shared: false, counter: memoryCounter, close: () => Promise.resolve() }
}

/** Adds to a count and says how long it lasts; it takes nothing back of a count that is gone. */
const ADD = `
local points = tonumber(ARGV[1])
if points < 0 and tonumber(redis.call('get', KEYS[1]) or '0') + points < 0 then
  return {0, redis.call('pttl', KEYS[1])}
end
redis.call('set', KEYS[1], 0, 'EX', ARGV[2], 'NX')
return {redis.call('incrby', KEYS[1], points), redis.call('pttl', KEYS[1])}`

/** Longer than a healthy Redis takes for anything: one that hangs must not hold up calls. */
const SILENCE_MS = 2_000
const LONGEST_PAUSE_MS = 2_000

/**
 * Counts in Redis or Valkey. While it does not answer, each node counts by itself, from nothing.
 *
 * @throws ServiceError `invalid` for a URL that cannot be used, `unavailable` where nobody answers at the start.
 */
export async function countInRedis(url: string, logger: Logger): Promise<Counters> {
  let connected = false
  const client = await clientOf(url, (retries, cause) =>
    connected ? Math.min(50 * 2 ** retries, LONGEST_PAUSE_MS) : cause,
  )
  const host = new URL(url).host
  const warn = (error: unknown) => {
    logger.warn({ err: error, redis: host }, 'Redis does not answer: this node counts calls by itself')
  }
  client.on('error', (error: unknown) => {
    // Before that it ends the start, which says so itself.
    if (connected) warn(error)
  })
  client.on('ready', () => {
    logger.info({ redis: host }, 'counting calls in Redis')
  })
  // A connection that is just being made outlives its client, and must not keep the process from ending.
  client.unref()
  try {
    await inTime(client.connect())
    connected = true
  } catch (cause) {
    client.destroy()
    // What Redis itself says holds nothing of the URL: most often that the password is wrong.
    const why = cause instanceof Error ? `: ${cause.message}` : ''
    throw new ServiceError('unavailable', `REDIS_URL: Redis at ${host} does not answer${why}`, { cause })
  }
  const storeClient = {
    get isReady() {
      return client.isReady
    },
    eval: async (script: string, options: EvalOptions) => {
      try {
        return await inTime(client.eval(script, options))
      } catch (error) {
        // Its socket never falls idle while calls are written to it, so nobody else notices that it hangs.
        if (error instanceof Silence && client.isReady) {
          warn(error)
          client.destroy()
          client.connect().catch(() => undefined)
        }
        throw error
      }
    },
  }
  return {
    shared: true,
    counter: (spec) =>
      new RateLimiterRedis({
        storeClient,
        useRedisPackage: true,
        rejectIfRedisNotReady: true,
        customIncrTtlLuaScript: ADD,
        keyPrefix: spec.name,
        points: spec.points,
        duration: spec.durationS,
        insuranceLimiter: memoryCounter(spec),
      }),
    // Nothing is under way by then, and waiting for one that hangs would never end.
    close: () => {
      client.destroy()
      return Promise.resolve()
    },
  }
}

type EvalOptions = Parameters<Awaited<ReturnType<typeof clientOf>>['eval']>[1]

async function clientOf(url: string, reconnectStrategy: (retries: number, cause: Error) => number | Error) {
  // Most nodes count in memory, and start sooner without it.
  const { createClient } = await import('@redis/client')
  try {
    return createClient({
      url,
      disableOfflineQueue: true,
      pingInterval: SILENCE_MS,
      // Of a connection that is being made; a busy node must not take its own pauses for those of Redis.
      socket: { connectTimeout: SILENCE_MS, socketTimeout: 5 * SILENCE_MS, reconnectStrategy },
    })
  } catch (cause) {
    throw new ServiceError(
      'invalid',
      'REDIS_URL cannot be used: it is redis[s]://user:password@host:port/number, in percent-encoding',
      { cause },
    )
  }
}

class Silence extends Error {
  constructor() {
    super(`no answer in ${SILENCE_MS} ms`)
    this.name = 'Silence'
  }
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  const { promise: silence, reject } = Promise.withResolvers<never>()
  // After a pause of this process the answer may lie there, unread: it is read before the verdict.
  const timer = setTimeout(
    () =>
      setImmediate(() => {
        reject(new Silence())
      }),
    SILENCE_MS,
  )
  try {
    return await Promise.race([answer, silence])
  } finally {
    clearTimeout(timer)
  }
}
