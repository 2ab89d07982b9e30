// Measures, logs and sends an answer at the end of the turn.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AppComponents } from '../app.ts'
import { endOfTurn } from './end-of-turn.ts'

/** The call that is answered. */
export interface Received {
  request: IncomingMessage
  response: ServerResponse
  /** The template of the path. */
  route: string
  requestId: string
  /** The start of the call, by `monotonicMs`. */
  startedMs: number
  keyId: string | undefined
}

export interface PlainAnswer {
  status: number
  /** Alternating header names and values. */
  head: string[]
  /**
   * A string, with a byte in each character, leaves in one piece with the head. A buffer leaves after the
   * head.
   */
  body: string | Buffer | undefined
}

export async function sendAtEndOfTurn(
  { request, response, route, requestId, startedMs, keyId }: Received,
  { status, head, body }: PlainAnswer,
  { metrics, logger, monotonicMs }: AppComponents,
): Promise<void> {
  const { url: path, method } = request as { url: string; method: string }
  await endOfTurn()
  const seconds = (monotonicMs() - startedMs) / 1000
  metrics.requests.observe({ method, route, status }, seconds)
  logger.debug({ requestId, method, path, status, seconds, keyId }, 'answered')
  response.writeHead(status, head)
  response.end(body, 'latin1')
}
