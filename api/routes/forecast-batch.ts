// Agents submit or withdraw many forecasts at once.
import { z } from 'zod'
import { inOrder } from '../../pipeline/proof/canonical.ts'
import { acknowledgementText } from '../../pipeline/tables/receipts.ts'
import { type Problem, forecastResults } from '../../schemas/answers.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { MOST_FORECASTS, forecastSubmissions } from '../../schemas/requests.ts'
import type { ForecastRow } from '../../schemas/tables.ts'
import { uuid } from '../../schemas/values.ts'
import { faultAt, invalidInput } from '../http/input.ts'
import { problemOf } from '../http/problems.ts'
import { route } from '../http/route.ts'
import * as examples from '../openapi/examples.ts'
import { logExamples } from '../openapi/log-examples.ts'
import { noSuchQuestion } from '../questions/book.ts'
import { assertOpen } from '../questions/question.ts'
import { assertHeld, assertMaySubmit, assertTimely, rationalesOf, recorded, rowOf } from './take-forecasts.ts'

const { AGENT_ID } = examples

/** Of a forecast in a batch: the id that it gets, or why it is refused. */
type Decided = { id: string } | { problem: Problem }

export const submitForecasts = route({
  path: '/agents/{agent_id}/forecasts',
  operationId: 'submitForecasts',
  tag: 'Agents',
  summary: `Submit up to ${MOST_FORECASTS} probabilities at once, with an answer for each`,
  description:
    'Takes a probability for each of several questions, with the agent’s own key. A forecast on a question that takes none, or ' +
    'that an earlier one in the call is about, is refused alone; the others are durable, all by one write, before the call is answered. A probability of null withdraws the current ' +
    'forecast on the question. Each counts as one submission. With ' +
    'an `Idempotency-Key` the whole call may be repeated if its answer was lost: it has the same answer, and counts once.\n\n' +
    'Where the service keeps a public log, each result with the status `ok` has a `receipt`, as the header `X-Service-Receipt` of a ' +
    'forecast that is submitted alone. It is of the body which that call would have: the canonical JSON of the other members ' +
    'without `status`, which is the result up to `,"receipt"` and a closing brace. A repetition has other receipts, which hold as well.',
  key: 'agent',
  limit: 'forecast',
  idempotent: true,
  follows: true,
  needsStore: true,
  needsQuestions: true,
  isDirect: true,
  params: z.strictObject({ agent_id: uuid }),
  body: forecastSubmissions,
  mostItems: { forecasts: () => MOST_FORECASTS },
  countsAs: ({ body }) => body.forecasts.length,
  examples: { params: { agent_id: AGENT_ID }, body: examples.forecastSubmissions },
  success: {
    description: 'Those with the status `ok` are durable',
    body: forecastResults,
    cache: 'no-store',
    get example() {
      return logExamples().forecastResults
    },
  },
  problems: {
    403: { type: 'other-agents-key', detail: `this key belongs to another agent than ${AGENT_ID}` },
    422: examples.invalid('body', 'forecasts', 'must have at least one forecast'),
  },
  handle: async ({ params, body, caller, idempotencyKey }, context) => {
    const { agent_id } = params
    assertMaySubmit(caller, agent_id, context)
    if (body.forecasts.some(({ probability }) => probability === null)) await context.catchUpForecasts()
    const { questions, currentForecasts, now } = context
    const asked = body.forecasts.map(({ question_id }) => question_id)
    const { answer, receipts } = await recorded<(ForecastRow | { problem: Problem })[], Decided[]>(
      context,
      { scope: `forecasts ${agent_id}`, key: idempotencyKey, body },
      rationalesOf(body.forecasts),
      {
        timeOf: (at) => currentForecasts.instantOf(agent_id, asked, at),
        check: async ({ at }, { earlier, newId }) => {
          assertTimely(at, now())
          if (earlier) return earlier
          const found = await questions.findAll(asked)
          const named = new Set<string>()
          return found.map((question, index) => {
            const { question_id, probability } = body.forecasts[index]!
            if (named.has(question_id)) return { problem: namedBefore(index) }
            named.add(question_id)
            try {
              assertOpen(question ?? noSuchQuestion(question_id), at)
              if (probability === null) assertHeld(context, agent_id, question_id)
              return { id: newId() }
            } catch (error) {
              if (isRefusal(error)) return { problem: problemOf(error).problem }
              throw error
            }
          })
        },
        answer: ({ at }, decided) =>
          decided.map((own, index) =>
            'problem' in own ? own : rowOf(own.id, agent_id, body.forecasts[index]!, at),
          ),
      },
      takenOf,
    )
    let taken = 0
    const results = answer.map((result, index) => {
      if ('problem' in result) {
        const { question_id } = body.forecasts[index]!
        return JSON.stringify({ problem: inOrder(result.problem), question_id, status: 'refused' })
      }
      // The members stay in order, because both come after those of the acknowledgement.
      const added = JSON.stringify({ receipt: receipts[taken++], status: 'ok' })
      return `${acknowledgementText(result).slice(0, -1)},${added.slice(1)}`
    })
    // This text is canonical, because its members are in order.
    return { body: Buffer.from(`{"results":[${results.join()}]}`) }
  },
})

function takenOf(answer: readonly (ForecastRow | { problem: Problem })[]): ForecastRow[] {
  return answer.filter((result) => 'forecast_id' in result)
}

/** The problem of a forecast on a question that an earlier one of the same call is about. */
function namedBefore(index: number): Problem {
  const at = ['forecasts', String(index), 'question_id']
  const fault = faultAt(at, 'was named before in this call: send one forecast for a question', 'body')
  return problemOf(invalidInput('body', [fault])).problem
}

/** Whether the error says that a question takes no forecast or does not exist. */
function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && (error.kind === 'conflict' || error.kind === 'notFound')
}
