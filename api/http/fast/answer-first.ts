// Answers the most frequent calls before Koa sees them, in the form in which programs send them. Koa, its
// router and its headers cost several times as much as such a call itself (docs/performance.md). Koa answers
// all other requests, with the same bytes.
import type { Environment } from '../../../schemas/values.ts'
import type { AppComponents } from '../app.ts'
import type { NodeContext } from '../context.ts'
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
    // A failure here must harm one caller alone.
    const fail = (error: unknown) => {
      components.logger.error({ err: error, path: request.url }, 'a request was left without an answer')
      response.destroy()
    }
    try {
      answer(request, response, otherwise)?.catch(fail)
    } catch (error) {
      fail(error)
    }
  }
}
