// Asks a server over keep-alive connections, one request after another on each, and notes how long each took.
import { once } from 'node:events'
import { type Socket, connect } from 'node:net'

export interface Load {
  url: string
  connections: number
  requests: number
  /** No further request is sent after this long. */
  limitMs: number
  /** The whole `nth` request, as it is sent. */
  request: (nth: number) => string
}

export interface LoadFigures {
  requests: number
  perSecond: number
  p50Ms: number
  p99Ms: number
}

/** @throws Error for an answer other than 200, or a connection that ends. */
export async function load({ url, connections, requests, limitMs, request }: Load): Promise<LoadFigures> {
  const { hostname, port } = new URL(url)
  const sockets = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      await once(socket, 'connect')
      return socket
    }),
  )
  const started = performance.now()
  const tookMs: number[] = []
  let sent = 0
  const work = async (socket: Socket) => {
    const answers = answersOf(socket)
    while (sent < requests && performance.now() - started < limitMs) {
      const from = performance.now()
      socket.write(request(sent++))
      await answers.next()
      tookMs.push(performance.now() - from)
    }
    socket.destroy()
  }
  await Promise.all(sockets.map(work))
  return figuresOf(tookMs, performance.now() - started)
}

export function figuresOf(tookMs: readonly number[], totalMs: number): LoadFigures {
  const sorted = Float64Array.from(tookMs).sort()
  const quantile = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
  return {
    requests: sorted.length,
    perSecond: sorted.length / (totalMs / 1000),
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
  }
}

/** Yields once for every whole answer with a Content-Length. */
async function* answersOf(socket: Socket): AsyncGenerator<void, never> {
  let text = ''
  for await (const bytes of socket as AsyncIterable<Buffer>) {
    text += bytes.toString('latin1')
    const headEnd = text.indexOf('\r\n\r\n')
    if (headEnd < 0) continue
    const head = text.slice(0, headEnd)
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
    if (!head.startsWith('HTTP/1.1 200')) throw new Error(`the answer is not 200: ${text}`)
    if (text.length < headEnd + 4 + length) continue
    text = text.slice(headEnd + 4 + length)
    yield
  }
  throw new Error('the server closed a connection')
}
