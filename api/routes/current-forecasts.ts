// An agent reads back its current forecasts.
import { z } from 'zod'
import * as answers from '../../schemas/answers.ts'
import { currentForecastsQuery } from '../../schemas/requests.ts'
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
    'answers 503 until it has read the current forecasts. Forecasts on questions that are over are in the scores of the agent.',
  key: 'agent',
  follows: true,
  needsStore: true,
  params: z.strictObject({ agent_id: uuid }),
  query: currentForecastsQuery,
  countsAs: callsOfPage,
  examples: { params: { agent_id: AGENT_ID }, query: { question_id: QUESTION_ID, limit: 100 } },
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
  handle: async ({ params, query, caller }, { currentForecasts, catchUpForecasts }) => {
    const { agent_id } = params
    assertOwnKey(caller.agent_id, agent_id)
    await catchUpForecasts()
    const { question_id: questionId, limit, cursor } = query
    return { body: currentForecasts.page({ agentId: agent_id, questionId, limit, cursor }) }
  },
})
