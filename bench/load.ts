// Asks a server over keep-alive connections, one request after another on each, and notes how long each took.
import { once } from 'node:events'
import { type Socket, connect } from 'node:net'

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
  const { hostname, port } = new URL(url)
  const sockets = await Promise.all(
    Array.from({ length: volume.connections }, async () => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      await once(socket, 'connect')
      return { socket, answers: answersOf(socket) }
    }),
  )
  const figures = await timed(volume, async (nth, connection) => {
    const { socket, answers } = sockets[connection]!
    socket.write(request(nth))
    await answers.next()
  })
  for (const { socket } of sockets) socket.destroy()
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

/** Yields once for every whole answer, which has a Content-Length unless it is a 304. */
async function* answersOf(socket: Socket): AsyncGenerator<void, never> {
  let text = ''
  for await (const bytes of socket as AsyncIterable<Buffer>) {
    text += bytes.toString('latin1')
    const headEnd = text.indexOf('\r\n\r\n')
    if (headEnd < 0) continue
    const head = text.slice(0, headEnd)
    const isUnchanged = head.startsWith('HTTP/1.1 304')
    const length = isUnchanged ? 0 : Number(/content-length: (\d+)/i.exec(head)?.[1])
    if (!isUnchanged && !head.startsWith('HTTP/1.1 200')) throw new Error(`the answer is not 200: ${text}`)
    if (text.length < headEnd + 4 + length) continue
    text = text.slice(headEnd + 4 + length)
    yield
  }
  throw new Error('the server closed a connection')
}
