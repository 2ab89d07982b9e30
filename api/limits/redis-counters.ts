// Counts calls in Redis or Valkey, which all nodes share.
import type { Logger } from 'pino'
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible'
import { ServiceError } from '../../schemas/errors.ts'
import type { Count, Counter, CounterSpec, Counters } from './counters.ts'
import { MemoryCounter } from './memory-counter.ts'

/** Adds to a count and returns its remaining time; gives nothing back to a count that has ended. */
const ADD = `
local points = tonumber(ARGV[1])
if points < 0 and tonumber(redis.call('get', KEYS[1]) or '0') + points < 0 then
  return {0, redis.call('pttl', KEYS[1])}
end
redis.call('set', KEYS[1], 0, 'EX', ARGV[2], 'NX')
return {redis.call('incrby', KEYS[1], points), redis.call('pttl', KEYS[1])}`

/** A healthy Redis is never silent for this long, and a Redis that hangs must not hold up calls. */
const SILENCE_MS = 2_000
const LONGEST_PAUSE_MS = 2_000

export interface SharedCounters extends Counters {
  /** Whether Redis answers now. */
  isReached(): boolean
}

/**
 * Connects to Redis. If Redis stops answering later, each node counts by itself, starting from zero.
 *
 * @throws ServiceError `invalid` for a URL that cannot be used, `unavailable` if Redis does not answer at the
 *   start.
 */
export async function countInRedis(
  url: string,
  { logger, monotonicMs }: { logger: Logger; monotonicMs: () => number },
): Promise<SharedCounters> {
  let connected = false
  const client = await clientOf(url, (retries, cause) =>
    connected ? Math.min(50 * 2 ** retries, LONGEST_PAUSE_MS) : cause,
  )
  const host = new URL(url).host
  const warn = (error: unknown) => {
    logger.warn({ err: error, redis: host }, 'Redis does not answer: this node counts calls by itself')
  }
  client.on('error', (error: unknown) => {
    // Before the first connection, the code below throws the error.
    if (connected) warn(error)
  })
  client.on('ready', () => {
    logger.info({ redis: host }, 'counting calls in Redis')
  })
  // A connection attempt outlives its client, and must not keep the process alive.
  client.unref()
  try {
    await inTime(client.connect())
    connected = true
  } catch (cause) {
    client.destroy()
    // The message of Redis, most often about a wrong password, contains no part of the URL.
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
        // The socket is never idle while calls are written to it, so no timeout of the client notices a hang.
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
    isReached: () => client.isReady,
    counter: (spec) => new RedisCounter(storeClient, spec, monotonicMs),
    // Nothing is under way by then, and waiting for a Redis that hangs would never end.
    close: () => {
      client.destroy()
      return Promise.resolve()
    },
  }
}

/** The library admits every count, because the callers of one counter may have different quotas. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER

/** Redis does not know quotas: it counts a call over the limit until the call is given back. */
class RedisCounter implements Counter {
  readonly monotonicMs: () => number
  readonly #redis: RateLimiterRedis
  /** Counts while Redis does not answer. */
  readonly #standIn: MemoryCounter

  constructor(storeClient: object, spec: CounterSpec, monotonicMs: () => number) {
    this.monotonicMs = monotonicMs
    this.#standIn = new MemoryCounter(monotonicMs, spec)
    this.#redis = new RateLimiterRedis({
      storeClient,
      useRedisPackage: true,
      rejectIfRedisNotReady: true,
      customIncrTtlLuaScript: ADD,
      keyPrefix: spec.name,
      points: NO_LIMIT,
      duration: spec.durationS,
    })
  }

  async consume(caller: string, calls = 1, quota = Infinity): Promise<Count> {
    // The stand-in gets no quota either, because `giveBack` may subtract only calls that it has counted.
    const count = await this.#redis
      .consume(caller, calls)
      .then(countOf, () => this.#standIn.consume(caller, calls))
    if (count.used > quota) await this.giveBack(caller, calls)
    return count
  }

  giveBack(caller: string, calls = 1): Promise<Count> {
    return this.#redis.reward(caller, calls).then(countOf, () => this.#standIn.giveBack(caller, calls))
  }

  /** Gives back 0 calls, because the script then answers with the count. */
  get(caller: string): Promise<Count | null> {
    return this.#redis.reward(caller, 0).then(countOf, () => this.#standIn.get(caller))
  }
}

function countOf({ consumedPoints, msBeforeNext }: RateLimiterRes): Count {
  return { used: consumedPoints, msLeft: msBeforeNext }
}

type EvalOptions = Parameters<Awaited<ReturnType<typeof clientOf>>['eval']>[1]

async function clientOf(url: string, reconnectStrategy: (retries: number, cause: Error) => number | Error) {
  // Most nodes count in memory, and start faster without this import.
  const { createClient } = await import('@redis/client')
  try {
    return createClient({
      url,
      disableOfflineQueue: true,
      pingInterval: SILENCE_MS,
      // With a shorter timeout a busy node would take its own pauses for those of Redis.
      socket: { connectTimeout: SILENCE_MS, socketTimeout: 5 * SILENCE_MS, reconnectStrategy },
    })
  } catch (cause) {
    throw new ServiceError(
      'invalid',
      'REDIS_URL is not valid: write redis[s]://user:password@host:port/number, percent-encoded',
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
  // After a pause of this process the answer may wait to be read, so it gets one more turn of the event loop.
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
