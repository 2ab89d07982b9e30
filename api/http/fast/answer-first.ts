// Answers the most frequent calls before Koa sees them, in the form in which programs send them. Koa, its
// router and its headers cost several times as much as such a call itself (docs/performance.md). Koa answers
// all other requests, with the same bytes.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Environment } from '../../../schemas/values.ts'
import { answerToError } from '../answer.ts'
import { firstHeaders, ownHeaders } from '../answer-head.ts'
import type { AppComponents } from '../app.ts'
import type { NodeContext } from '../context.ts'
import { withNet } from '../net.ts'
import type { AnswerFirst } from '../server.ts'
import { answerDirectly } from './direct.ts'
import { prepareAnswers } from './prepared.ts'

export function answerFirst(
  contexts: Partial<Record<Environment, NodeContext>>,
  components: AppComponents,
): AnswerFirst {
  const prepared = prepareAnswers(contexts, components)
  const directly = answerDirectly(contexts, components)
  return (request, response, otherwise) => {
    const answer = request.method === 'POST' ? directly : prepared
    // A failure must harm one caller alone.
    const fail = (error: unknown) => {
      try {
        answerFailure(error, request, response, components)
      } catch {
        components.logger.error({ err: error, path: request.url }, 'a request was left without an answer')
        response.destroy()
      }
    }
    withNet(fail, () => {
      try {
        answer(request, response, otherwise)?.catch(fail)
      } catch (error) {
        fail(error)
      }
    })
  }
}

/** Answers a request that failed where nothing else answers it, or breaks off an answer that has begun. */
function answerFailure(
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  components: AppComponents,
): void {
  const { logger, metrics, newRequestId } = components
  const path = request.url!
  if (response.headersSent || response.destroyed) {
    logger.error({ err: error, path }, 'a request failed after its answer had begun')
    if (!response.writableEnded) response.destroy()
    return
  }
  const requestId = newRequestId()
  const answer = answerToError(error, { request, requestId, path, isForPerson: false }, components)
  for (const name of response.getHeaderNames()) response.removeHeader(name)
  const head = { ...firstHeaders(requestId), ...ownHeaders(answer), Connection: 'close' }
  response.writeHead(answer.status, head).end(answer.body)
  metrics.requests.observe({ method: request.method!, route: 'none', status: answer.status }, 0)
}
