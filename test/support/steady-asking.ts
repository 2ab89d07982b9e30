// Connections that ask a service at a steady pace and judge every answer, while something happens to it.
import { Agent, type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import type { Expected, Question, Received } from './expected-answers.ts'

export interface AskedPath extends Question {
  path: string
  headers?: Record<string, string>
  /** Sent by POST. */
  body?: string
}

export interface Answered {
  kind: string
  path: string
  /** When it was sent, by the clock of `performance`. */
  sentMs: number
  tookMs: number
}

export interface Asking {
  answers: Answered[]
  /** Each with its evidence. */
  wrong: string[]
  /** The newest release that was answered. */
  newest: number
  /** Sends no more, and resolves once all is answered. */
  stop: () => Promise<void>
}

export interface Pace {
  connections: number
  perSecond: number
}

/** Asks for the paths by turns. */
export function startAsking(
  url: string,
  paths: readonly AskedPath[],
  expected: Expected,
  { connections, perSecond }: Pace,
): Asking {
  let stopped = false
  let nth = 0
  const everyMs = (1000 * connections) / perSecond
  const ask = async (connection: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const newestOf = new Map<string, number>()
    let dueMs = performance.now() + (everyMs * connection) / connections
    while (!stopped) {
      const asked = paths[nth++ % paths.length]!
      const sentMs = performance.now()
      const received = await send(url, asked, agent)
      asking.answers.push({ kind: asked.kind, path: asked.path, sentMs, tookMs: performance.now() - sentMs })
      const judgement = expected.judge(asked, asked.path, received)
      if ('wrong' in judgement) asking.wrong.push(`${asked.path}: ${judgement.wrong}`)
      else if (judgement.release !== undefined) {
        const before = newestOf.get(asked.kind) ?? 0
        if (judgement.release < before) {
          asking.wrong.push(`${asked.path}: release ${judgement.release} after ${before} on one connection`)
        }
        newestOf.set(asked.kind, judgement.release)
        asking.newest = Math.max(asking.newest, judgement.release)
      }
      dueMs = Math.max(dueMs + everyMs, performance.now())
      await pause(Math.max(0, dueMs - performance.now()))
    }
    agent.destroy()
  }
  const asking: Asking = {
    answers: [],
    wrong: [],
    newest: 0,
    stop: async () => {
      stopped = true
      await running
    },
  }
  const running = Promise.all(Array.from({ length: connections }, (_, connection) => ask(connection)))
  return asking
}

async function send(url: string, { path, headers, body }: AskedPath, agent: Agent): Promise<Received> {
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    request(url + path, { method, headers, agent }, resolve)
      .on('error', reject)
      .end(body)
  })
  const { statusCode, headers: received } = incoming
  return {
    status: statusCode!,
    tag: received.etag,
    signature: received['x-service-signature']?.toString(),
    body: await buffer(incoming),
  }
}
