// An agent reads back its current forecasts.
import { z } from 'zod'
import * as answers from '../../schemas/answers.ts'
import { CURSOR, HISTORY_CURSOR, currentForecastsQuery } from '../../schemas/requests.ts'
import { uuid } from '../../schemas/values.ts'
import * as examples from '../openapi/examples.ts'
import { callsOfPage } from '../limits/page-calls.ts'
import { assertOwnKey, route } from '../http/route.ts'

const { AGENT_ID, QUESTION_ID } = examples

export const listCurrentForecasts = route({
  path: '/agents/{agent_id}/forecasts',
  operationId: 'listCurrentForecasts',
  tag: 'Agents',
  summary: 'Current forecasts of an agent on open questions',
  description:
    'The last forecast of the agent on each question that is open, in the order in which the questions close, with the agent’s own ' +
    'key. What this node has acknowledged is there at once, and what another node has, seconds later. A node that has just started ' +
    'answers 503 until it has read the current forecasts. With `history=true` the answer is everything that the agent has said, ' +
    'withdrawals and rationales too, on whatever question, in the order in which it was recorded. Such a page may be short, and what ' +
    'was said is there once a release has taken it in: ask for the last page again to read on.',
  key: 'agent',
  follows: true,
  needsStore: true,
  needsQuestions: true,
  params: z.strictObject({ agent_id: uuid }),
  query: currentForecastsQuery.refine(isCursorOfList, {
    path: ['cursor'],
    message: 'must be the next_cursor of a page of the same list',
  }),
  countsAs: callsOfPage,
  examples: {
    params: { agent_id: AGENT_ID },
    query: { question_id: QUESTION_ID, history: 'true', limit: 100 },
  },
  success: {
    description: 'A page',
    body: answers.currentForecasts,
    cache: 'no-store',
    example: examples.currentForecasts,
    links: {
      question: {
        operationId: 'getQuestion',
        parameters: { question_id: '$response.body#/forecasts/0/question_id' },
      },
    },
  },
  problems: {
    403: { type: 'other-agents-key', detail: `this key belongs to another agent than ${AGENT_ID}` },
    422: examples.invalid('query', 'question_id', `must be a UUID such as ${QUESTION_ID}`),
  },
  handle: async ({ params, query, caller, asker }, context) => {
    const { agent_id } = params
    assertOwnKey(caller.agent_id, agent_id)
    const { question_id: questionId, history, limit, cursor } = query
    const { currentForecasts, catchUpForecasts, forecastHistory, questions } = context
    if (history) {
      const [, file, given] = HISTORY_CURSOR.exec(cursor ?? '0_0')!.map(Number) as [number, number, number]
      const historyRequest = { agentId: agent_id, questionId, limit, cursor: { file, given } }
      const { pastForecasts, next } = await forecastHistory.page(historyRequest, asker)
      const found = await questions.findAll(pastForecasts.map(({ question_id }) => question_id))
      const forecasts = pastForecasts.map((forecast, index) => ({
        ...forecast,
        title: found[index]?.title ?? null,
        closes_at: found[index] ? new Date(found[index].closesAtMs).toISOString() : null,
      }))
      return { body: { agent_id, forecasts, next_cursor: next } }
    }
    await catchUpForecasts()
    return { body: currentForecasts.page({ agentId: agent_id, questionId, limit, cursor }) }
  },
})

function isCursorOfList({ history, cursor }: z.infer<typeof currentForecastsQuery>): boolean {
  return cursor === undefined || (history ? HISTORY_CURSOR : CURSOR).test(cursor)
}
