// Counts calls, either in Redis, which all nodes share, or in the memory of this node.
import { LRUCache } from 'lru-cache'
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible'
import type { Logger } from 'pino'
import { ServiceError } from '../../schemas/errors.ts'
import type { OwnCounter } from './counted-now.ts'

export interface Counters {
  /** Whether other nodes count in the same place. */
  readonly shared: boolean
  /**
   * A counter whose `consume` takes a `quota`: it resolves to more than that for a call that is one too many, and then has not
   * counted it. Its name keeps it apart from those of other policies and environments; a count lasts for `durationS` from
   * its first call. In the memory of this node it has at most `mostCallers` counts.
   */
  counter(name: string, durationS: number, mostCallers: number): RateLimiterAbstract
  close(): Promise<void>
}

/** Where the calls of a serving process are counted. */
export interface CallCounters {
  /** Of what is promised to callers. */
  quotas: Counters
  /** Of reads, which are limited to protect this machine. */
  reads: Counters
  /** Of calls that failed. It is asked before each call, so it must answer from memory. */
  attempts: Counters
}

/** Whether a call is admitted is decided by its quota, which callers of one counter need not share. */
const POINTS = Number.MAX_SAFE_INTEGER

/**
 * A caller may have any number of addresses for nothing, so a counter keeps only this many, those that called last. They take
 * 20 MB.
 */
export const MOST_ADDRESSES = 100_000
/** For callers that nobody can invent, such as accounts: all are kept. */
export const EVERYONE = Number.MAX_SAFE_INTEGER

/** What a caller may have. */
export interface WithQuota {
  quota?: number | undefined
}

interface Count {
  points: number
  endsMs: number
}

/**
 * The counts of the callers that called last. The library's own counter has no bound, and a timer for each count. Time is
 * that of a clock which nobody sets.
 */
export class MemoryCounter extends RateLimiterMemory implements OwnCounter {
  readonly #counts: LRUCache<string, Count>

  constructor(name: string, durationS: number, mostCallers: number) {
    super({ keyPrefix: name, points: POINTS, duration: durationS })
    // A `max` would have room made for all of them at once.
    this.#counts = new LRUCache({ maxSize: mostCallers, sizeCalculation: () => 1 })
  }

  override consume(caller: string, points = 1, { quota }: WithQuota = {}): Promise<RateLimiterRes> {
    return Promise.resolve(this.consumeNow(caller, points, quota))
  }

  pointsNow(caller: string, _quota = Infinity, nowMs = performance.now()): number {
    return this.#current(caller, nowMs)?.points ?? 0
  }

  consumeNow(caller: string, points = 1, quota = Infinity, nowMs = performance.now()): RateLimiterRes {
    const count = this.#current(caller, nowMs) ?? this.#begin(caller, nowMs)
    const consumed = count.points + points
    if (consumed <= quota) count.points = consumed
    return resultOf(consumed, count.endsMs - nowMs)
  }

  /** Gives nothing back to a count that has ended, because that would admit one call too many. */
  override reward(caller: string, points = 1): Promise<RateLimiterRes> {
    const nowMs = performance.now()
    const count = this.#current(caller, nowMs)
    if (count) count.points = Math.max(0, count.points - points)
    return Promise.resolve(count ? resultOf(count.points, count.endsMs - nowMs) : resultOf(0, 0))
  }

  override get(caller: string): Promise<RateLimiterRes | null> {
    const nowMs = performance.now()
    const count = this.#current(caller, nowMs)
    return Promise.resolve(count ? resultOf(count.points, count.endsMs - nowMs) : null)
  }

  override set(caller: string, points: number): Promise<RateLimiterRes> {
    const count = this.#begin(caller, performance.now())
    count.points = points
    return Promise.resolve(resultOf(points, this.msDuration))
  }

  #current(caller: string, nowMs: number): Count | undefined {
    const count = this.#counts.get(caller)
    return count && count.endsMs > nowMs ? count : undefined
  }

  #begin(caller: string, nowMs: number): Count {
    const count = { points: 0, endsMs: nowMs + this.msDuration }
    this.#counts.set(caller, count)
    return count
  }
}

/** How a counter answers: what is consumed, and for how long it counts. */
export function resultOf(points: number, msLeft: number): RateLimiterRes {
  return new RateLimiterRes(POINTS - points, msLeft, points)
}

export function countInMemory(): Counters {
  return {
    shared: false,
    counter: (name, durationS, mostCallers) => new MemoryCounter(name, durationS, mostCallers),
    close: () => Promise.resolve(),
  }
}

/** Adds to a count and returns how long it lasts; it gives nothing back to a count that has ended. */
const ADD = `
local points = tonumber(ARGV[1])
if points < 0 and tonumber(redis.call('get', KEYS[1]) or '0') + points < 0 then
  return {0, redis.call('pttl', KEYS[1])}
end
redis.call('set', KEYS[1], 0, 'EX', ARGV[2], 'NX')
return {redis.call('incrby', KEYS[1], points), redis.call('pttl', KEYS[1])}`

/** Longer than a healthy Redis ever takes: one that hangs must not hold up calls. */
const SILENCE_MS = 2_000
const LONGEST_PAUSE_MS = 2_000

/**
 * Counts in Redis or Valkey. While it does not answer, each node counts by itself, starting from zero.
 *
 * @throws ServiceError `invalid` for a URL that cannot be used, `unavailable` if Redis does not answer at the start.
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
    // Until then the error is thrown below.
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
    // The message of Redis, most often about a wrong password, holds no part of the URL.
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
        // Its socket is never idle while calls are written to it, so no timeout of the client notices that it hangs.
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
    counter: (name, durationS, mostCallers) =>
      new RedisCounter({
        storeClient,
        useRedisPackage: true,
        rejectIfRedisNotReady: true,
        customIncrTtlLuaScript: ADD,
        keyPrefix: name,
        points: POINTS,
        duration: durationS,
        insuranceLimiter: new MemoryCounter(name, durationS, mostCallers),
      }),
    // Nothing is under way by then, and waiting for a Redis that hangs would never end.
    close: () => {
      client.destroy()
      return Promise.resolve()
    },
  }
}

/**
 * Redis is not told of quotas, so that it counts a call that is one too many for as long as giving it back takes. Nor is the memory that
 * stands in for it: what it had not counted would be given back all the same.
 */
class RedisCounter extends RateLimiterRedis {
  override async consume(caller: string, points = 1, { quota = Infinity }: WithQuota = {}) {
    const counted = await super.consume(caller, points)
    if (counted.consumedPoints > quota) await this.reward(caller, points)
    return counted
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
      // Long enough that a busy node does not take its own pauses for those of Redis.
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
  // After a pause of this process the answer may be waiting to be read, so it gets one more turn of the event loop.
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
