// Sends an answer at the end of the turn, and then counts, measures and logs it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AppComponents } from '../app.ts'
import { endOfTurn } from './end-of-turn.ts'

/** The call that is answered. */
export interface Received {
  request: IncomingMessage
  response: ServerResponse
  /** The template of its path. */
  route: string
  requestId: string
  /** By `performance.now`. */
  startedMs: number
  keyId: string | undefined
}

export interface PlainAnswer {
  status: number
  /** Header names and values by turns. */
  head: string[]
  /** A text of bytes leaves in one piece with its head, a buffer after it. */
  body: string | Buffer | undefined
}

export async function sendAtEndOfTurn(
  { request, response, route, requestId, startedMs, keyId }: Received,
  { status, head, body }: PlainAnswer,
  { metrics, logger }: AppComponents,
): Promise<void> {
  const { url: path, method } = request as { url: string; method: string }
  await endOfTurn()
  const seconds = (performance.now() - startedMs) / 1000
  metrics.requests.observe({ method, route, status }, seconds)
  logger.debug({ requestId, method, path, status, seconds, keyId }, 'answered')
  response.writeHead(status, head)
  response.end(body, 'latin1')
}
