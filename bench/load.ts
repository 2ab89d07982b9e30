// Asks a server over keep-alive connections, one request after another on each, and notes how long each took.
import { KeepAlive, statusOf } from '../test/support/http/keep-alive.ts'

export interface Volume {
  /** How many requests are under way at once. */
  connections: number
  requests: number
  /** No further request is sent after this long. */
  limitMs: number
}

export interface LoadFigures {
  requests: number
  perSecond: number
  p50Ms: number
  p99Ms: number
}

export function warmUp(volume: Volume): Volume {
  return { ...volume, requests: Math.ceil(volume.requests / 10) }
}

/**
 * Sends whole requests, the `nth` of which is `request(nth)`.
 *
 * @throws Error for an answer other than 200 and 304, or a connection that ends.
 */
export async function load(
  url: string,
  volume: Volume,
  request: (nth: number) => string,
): Promise<LoadFigures> {
  const connections = await Promise.all(Array.from({ length: volume.connections }, () => KeepAlive.open(url)))
  const figures = await timed(volume, async (nth, connection) => {
    const answer = await connections[connection]!.ask(request(nth))
    if (![200, 304].includes(statusOf(answer))) {
      throw new Error(`the answer is not 200: ${answer.toString('latin1')}`)
    }
  })
  for (const connection of connections) connection[Symbol.dispose]()
  return figures
}

/** Does as much work as `volume` says, and notes how long each piece took. */
export async function timed(
  { connections, requests, limitMs }: Volume,
  work: (nth: number, connection: number) => Promise<void>,
): Promise<LoadFigures> {
  const started = performance.now()
  const tookMs: number[] = []
  let begun = 0
  const workOn = async (connection: number) => {
    while (begun < requests && performance.now() - started < limitMs) {
      const from = performance.now()
      await work(begun++, connection)
      tookMs.push(performance.now() - from)
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, connection) => workOn(connection)))
  const totalMs = performance.now() - started
  const sorted = Float64Array.from(tookMs).sort()
  const quantile = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
  return {
    requests: sorted.length,
    perSecond: sorted.length / (totalMs / 1000),
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
  }
}
