// A proxy before an S3 server that answers some requests wrongly, in the ways in which networks and stores go
// wrong.
import { once } from 'node:events'
import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  createServer,
  request,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import type { Choices } from '../support/faults/seeded.ts'
import { s3Error } from '../support/faults/loopback-s3.ts'

/** What can go wrong with any request. Those that are "persisted" reach the server all the same. */
const ANYWHERE = ['slow', 'reset', 'error_500', 'slow_down_503'] as const
const OF_WRITES = ['reset_persisted', 'error_500_persisted'] as const
/** What can go wrong with the answer to a read of an object that is there. */
const OF_OBJECTS = ['missing_404', 'truncated', 'shortened', 'flipped'] as const

const KINDS = [...ANYWHERE, ...OF_WRITES, ...OF_OBJECTS, 'stale_list'] as const
type Toxic = (typeof KINDS)[number]

/** The longest that a slow request waits before it is passed on, even if its caller has given up by then. */
const SLOWEST_MS = 2_000
/** The earlier answers of a listing that are kept. */
const ANSWERS_KEPT = 20

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: Uint8Array
}

export class ToxicProxy {
  /** The share of requests that go wrong. */
  share = 0
  requests = 0
  readonly counts = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Record<Toxic, number>
  readonly #target: string
  readonly #choices: Choices
  readonly #agent = new Agent({ keepAlive: true })
  readonly #listings = new Map<string, Uint8Array[]>()
  readonly #underWay = new Set<Promise<void>>()
  #endpoint = ''

  private constructor(target: string, choices: Choices) {
    this.#target = target
    this.#choices = choices
  }

  /** Runs until the test ends. It harms nothing before `share` is set. */
  static async start(target: string, choices: Choices): Promise<ToxicProxy> {
    const proxy = new ToxicProxy(target, choices)
    const server = createServer((message, response) => proxy.#take(message, response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.close()
      server.closeAllConnections()
      proxy.#agent.destroy()
    })
    proxy.#endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return proxy
  }

  get endpoint(): string {
    return this.#endpoint
  }

  get total(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0)
  }

  /** Harms nothing from now on, and waits until slow requests have reached the server. */
  async calm(): Promise<void> {
    this.share = 0
    await Promise.all(this.#underWay)
  }

  #take(message: IncomingMessage, response: ServerResponse): void {
    const handled = this.#handle(message, response).catch(() => void response.socket?.destroy())
    this.#underWay.add(handled)
    void handled.finally(() => this.#underWay.delete(handled))
  }

  async #handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1
    const body = Buffer.concat((await message.toArray()) as Buffer[])
    const toxic = this.#choices.chance(this.share) ? this.#choices.pick(toxicsOf(message)) : undefined
    if (toxic === 'reset') return this.#harm(toxic, () => response.socket?.resetAndDestroy())
    if (toxic === 'error_500') return this.#harm(toxic, () => refuse(response, 500, 'InternalError'))
    if (toxic === 'slow_down_503') return this.#harm(toxic, () => refuse(response, 503, 'SlowDown'))
    if (toxic === 'slow') {
      this.counts.slow += 1
      await pause(SLOWEST_MS * this.#choices.random() ** 3)
    }
    const answer = await this.#forward(message, body)
    const earlier = this.#earlierListing(message, answer)
    if (answer.status < 300) {
      if (toxic === 'reset_persisted') return this.#harm(toxic, () => response.socket?.resetAndDestroy())
      if (toxic === 'error_500_persisted')
        return this.#harm(toxic, () => refuse(response, 500, 'InternalError'))
      if (toxic === 'missing_404') return this.#harm(toxic, () => refuse(response, 404, 'NoSuchKey'))
      if (toxic === 'stale_list' && earlier) {
        return this.#harm(toxic, () => send(response, { ...answer, body: earlier }))
      }
      if (answer.body.length > 0) {
        const at = this.#choices.whole(0, answer.body.length - 1)
        if (toxic === 'truncated') return this.#harm(toxic, () => cutOff(response, answer, at))
        if (toxic === 'shortened') {
          return this.#harm(toxic, () => send(response, { ...answer, body: answer.body.subarray(0, at) }))
        }
        if (toxic === 'flipped') {
          const flipped = Uint8Array.from(answer.body)
          flipped[at]! ^= 1 << this.#choices.whole(0, 7)
          return this.#harm(toxic, () => send(response, { ...answer, body: flipped }))
        }
      }
    }
    send(response, answer)
  }

  #harm(toxic: Toxic, how: () => unknown): void {
    this.counts[toxic] += 1
    how()
  }

  async #forward(message: IncomingMessage, body: Uint8Array): Promise<Answer> {
    // The signature covers the host that the client has called.
    const { connection: _, expect: __, 'transfer-encoding': ___, ...headers } = message.headers
    const { hostname, port } = new URL(this.#target)
    const { method, url: path } = message
    const forwarded = request({ hostname, port, method, path, headers, agent: this.#agent, setHost: false })
    forwarded.end(body)
    const [answer] = (await once(forwarded, 'response')) as [IncomingMessage]
    const chunks = (await answer.toArray()) as Buffer[]
    return { status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }
  }

  /**
   * What the server has answered to a listing before; undefined if it was no listing, or always answered the
   * same.
   */
  #earlierListing(message: IncomingMessage, { status, body }: Answer): Uint8Array | undefined {
    if (!isListing(message) || status !== 200) return undefined
    const url = message.url!
    const answers = this.#listings.get(url) ?? []
    this.#listings.set(url, answers)
    const last = answers.at(-1)
    if (!last || Buffer.compare(last, body) !== 0) answers.push(body)
    if (answers.length > ANSWERS_KEPT) answers.shift()
    return answers.length > 1 ? this.#choices.pick(answers.slice(0, -1)) : undefined
  }
}

const isListing = ({ url }: IncomingMessage) => url!.includes('list-type=2')

function toxicsOf(message: IncomingMessage): readonly Toxic[] {
  if (message.method !== 'GET') return [...ANYWHERE, ...OF_WRITES]
  if (!isListing(message)) return [...ANYWHERE, ...OF_OBJECTS]
  // Most listings have always been answered the same, so that there is no older answer to give.
  return [...ANYWHERE, 'truncated', ...Array<Toxic>(12).fill('stale_list')]
}

function refuse(response: ServerResponse, status: number, code: string): void {
  const { headers, body } = s3Error(status, code)
  send(response, { status, headers: headers!, body: Buffer.from(body as string) })
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  const { connection: _, 'transfer-encoding': __, 'content-length': ___, ...rest } = headers
  response.writeHead(status, status === 204 ? rest : { ...rest, 'content-length': String(body.length) })
  response.end(body)
}

/** Announces the whole body and hangs up in its middle. */
function cutOff(response: ServerResponse, { status, headers, body }: Answer, at: number): void {
  const { connection: _, 'transfer-encoding': __, ...rest } = headers
  response.writeHead(status, { ...rest, 'content-length': String(body.length) })
  response.write(body.subarray(0, at), () => response.socket?.destroy())
}
