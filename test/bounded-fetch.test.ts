// Requests of commands end in time, whatever a server does with their bodies.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Fetch, boundedFetch } from '../pipeline/bounded-fetch.ts'
import { HttpStore } from '../pipeline/store/http.ts'
import { LogReader } from '../pipeline/transparency/log-reader.ts'
import { LOG_VKEY } from './support/worlds/written-log.ts'

const FLOOR = 64 * 1024

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** A server that sends so many bytes each second, and `bodies` of them in all. */
const dripping =
  (bytesPerS: number, sizeBytes: number): Fetch =>
  (_url, init) => {
    let left = sizeBytes
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        if (left <= 0) {
          controller.close()
          return
        }
        await new Promise<void>((resolve, reject) => {
          setTimeout(resolve, 1000)
          init!.signal!.addEventListener('abort', () => {
            reject(init!.signal!.reason as Error)
          })
        })
        controller.enqueue(new Uint8Array(Math.min(left, bytesPerS)))
        left -= bytesPerS
      },
    })
    return Promise.resolve(new Response(body))
  }

/** How many seconds of the clock a call takes, and its result or error. */
async function timed<T>(work: Promise<T>): Promise<{ seconds: number; result: T | Error }> {
  const started = performance.now()
  let result: T | Error | undefined
  void work.then(
    (value) => (result = value),
    (error: unknown) => (result = error as Error),
  )
  while (result === undefined) await vi.advanceTimersByTimeAsync(250)
  return { seconds: Math.round((performance.now() - started) / 1000), result }
}

describe('a server that drips a byte a second', () => {
  test('is left after ten seconds', async () => {
    const { seconds, result } = await timed(boundedFetch('http://x', { fetch: dripping(1, 1000) }))
    expect([seconds, result]).toEqual([10, expect.objectContaining({ kind: 'unavailable' })])
  })

  test('costs an audit less than a minute a file, and two minutes in all', async () => {
    vi.stubGlobal('fetch', dripping(1, 1000))
    const served = new HttpStore('http://x', { wait: () => Promise.resolve() })
    const first = await timed(served.get('a'))
    expect([first.seconds, served.cost.requests]).toEqual([40, 4])
    const rest = await timed(Promise.all(['b', 'c', 'd', 'e'].map((path) => served.get(path))))
    expect(rest.result).toMatchObject({ kind: 'unavailable' })
    expect(first.seconds + rest.seconds).toBeLessThanOrEqual(80)
    const one = await timed(served.get('f'))
    expect(one.seconds).toBe(10)
  })

  test('does not hold a look at a log for longer than a quarter of an hour', async () => {
    vi.stubGlobal('fetch', dripping(10, 90))
    const log = new LogReader('http://x', [LOG_VKEY])
    let asked = 0
    const all = async () => {
      for (; ; asked++) await log.service.ask(`releases/${asked}`)
    }
    const { seconds, result } = await timed(all())
    expect(result).toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(/is not asked for any more: .* took 15 minutes$/) as string,
    })
    expect(seconds).toBeLessThan(920)
    expect(asked).toBeGreaterThan(90)
  })
})

test('a slow line that goes on has the time that its bytes need', async () => {
  const sizeBytes = 8 * 1024 * 1024
  const { seconds, result } = await timed(
    boundedFetch('http://x', {
      fetch: dripping(FLOOR, sizeBytes),
      mostBytes: sizeBytes,
    }),
  )
  expect([seconds, result]).toEqual([128, expect.objectContaining({ status: 200 })])
})
