// Agents submit or withdraw forecasts, one or many at once.
import { z } from 'zod'
import { membersInOrder } from '../../pipeline/proof/canonical.ts'
import { acknowledgementBytes, acknowledgementText } from '../../pipeline/tables/receipts.ts'
import {
  type Problem,
  acknowledgedForecast,
  acknowledgedWithdrawal,
  forecastResults,
} from '../../schemas/answers.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { MOST_FORECASTS, forecastSubmission, forecastSubmissions } from '../../schemas/requests.ts'
import { uuid } from '../../schemas/values.ts'
import type { ApiContext } from '../http/context.ts'
import { problemOf } from '../http/problems.ts'
import { type Reply, route } from '../http/route.ts'
import * as examples from '../openapi/examples.ts'
import { logExamples } from '../openapi/log-examples.ts'
import { type Recorded, type Taken, type TakingRequest, takeForecasts } from './take-forecasts.ts'

const { AGENT_ID, QUESTION_ID } = examples

/** Answers a call of one forecast with its acknowledgement and its receipt, or as its refusal says. */
async function takeOne(context: ApiContext, request: Omit<TakingRequest, 'refuse'>): Promise<Reply> {
  const [taken] = await takeForecasts(context, { ...request, refuse: refuseAll })
  const { row, receipt } = taken as Recorded
  return {
    body: acknowledgementBytes(row),
    ...(receipt === undefined ? {} : { headers: { 'X-Service-Receipt': receipt } }),
  }
}

export function refuseAll(error: unknown): never {
  throw error
}

/** Returns the problem of a forecast on a question that takes none, does not exist or was named before. */
function refuseAlone(error: unknown): Problem {
  if (error instanceof ServiceError && ['conflict', 'notFound', 'invalid'].includes(error.kind)) {
    return problemOf(error).problem
  }
  throw error
}

/** The text of an answer to one of many. It is canonical, because its members are in order. */
export function resultText(taken: Taken, questionId: string): string {
  if ('problem' in taken) {
    return JSON.stringify({
      problem: membersInOrder(taken.problem),
      question_id: questionId,
      status: 'refused',
    })
  }
  // The members stay in order, because both come after those of the acknowledgement.
  const added = JSON.stringify({ receipt: taken.receipt, status: 'ok' })
  return `${acknowledgementText(taken.row).slice(0, -1)},${added.slice(1)}`
}

/** The members that all calls which take forecasts have in common. */
export const TAKES_FORECASTS = {
  key: 'agent',
  limit: 'forecast',
  idempotent: true,
  follows: true,
  needsStore: true,
  needsQuestions: true,
} as const

const RECEIPT_ABOUT =
  'Where the service keeps a public log, the header `X-Service-Receipt` is its signed promise: this forecast is durable, and will ' +
  'be in the tree `forecasts` of the first release whose `as_of` is at least ten minutes after `forecast_at`, or of one before. ' +
  'From then on `GET /forecasts/{forecast_id}/proof` proves it. A receipt without such a proof is evidence against the service, ' +
  'unless a release lists the forecast in `quarantined`, as lost.'

export const submitForecast = route({
  path: '/agents/{agent_id}/forecast',
  operationId: 'submitForecast',
  tag: 'Agents',
  summary: 'Submit a probability for a question; answered once it is durable',
  description:
    'Takes the probability of yes for an open question, with the agent’s own key. It is answered once the ' +
    'forecast is durable. Submit again to change it: all forecasts on a question are scored, each for the time that it ' +
    'held. With an `Idempotency-Key` the call may be repeated if its answer was lost: it counts once.\n\n' +
    RECEIPT_ABOUT +
    ' Keep the exact bytes of the body with it. `fvs verify` checks both with the public key of the log, without the service.',
  ...TAKES_FORECASTS,
  params: z.strictObject({ agent_id: uuid }),
  body: forecastSubmission,
  examples: { params: { agent_id: AGENT_ID }, body: examples.forecastSubmission },
  success: {
    description: 'The forecast is durable',
    body: acknowledgedForecast,
    cache: 'no-store',
    example: examples.acknowledgedForecast,
    headers: ['X-Service-Receipt'],
    links: {
      question: { operationId: 'getQuestion', parameters: { question_id: '$response.body#/question_id' } },
      profile: { operationId: 'getAgentProfile', parameters: { agent_id: '$response.body#/agent_id' } },
    },
  },
  problems: {
    403: { type: 'other-agents-key', detail: `this key belongs to another agent than ${AGENT_ID}` },
    404: { type: 'not-found', detail: `there is no question ${QUESTION_ID}` },
    409: {
      type: 'question-closed',
      detail: `the question ${QUESTION_ID} takes no forecast: it closed at 2026-06-01T00:00:00.000Z`,
    },
    422: examples.invalid('body', 'probability', 'must be at most 1'),
  },
  handle: ({ params: { agent_id: agentId }, body, caller, idempotencyKey: key }, context) =>
    takeOne(context, { scope: `forecast ${agentId}`, key, body, caller, agentId, forecasts: [body] }),
})

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
  ...TAKES_FORECASTS,
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
  handle: async ({ params: { agent_id: agentId }, body, caller, idempotencyKey: key }, context) => {
    const { forecasts } = body
    const scope = `forecasts ${agentId}`
    const request = { scope, key, body, caller, agentId, forecasts, refuse: refuseAlone }
    const taken = await takeForecasts(context, request)
    const results = taken.map((one, index) => resultText(one, forecasts[index]!.question_id))
    return { body: Buffer.from(`{"results":[${results.join()}]}`) }
  },
})

export const withdrawForecast = route({
  path: '/agents/{agent_id}/forecasts/{question_id}',
  method: 'DELETE',
  operationId: 'withdrawForecast',
  tag: 'Agents',
  summary: 'Withdraw the current forecast on an open question',
  description:
    'From then until its next forecast the agent has none on the question: it gains and loses nothing in that time, and its coverage ' +
    'does not grow. What it forecast before counts for the time that it held. It is answered once the withdrawal is durable, counts ' +
    'as one submission, and with an `Idempotency-Key` may be repeated if its answer was lost.\n\n' +
    RECEIPT_ABOUT,
  ...TAKES_FORECASTS,
  params: z.strictObject({ agent_id: uuid, question_id: uuid }),
  examples: { params: { agent_id: AGENT_ID, question_id: QUESTION_ID } },
  success: {
    description: 'The withdrawal is durable',
    body: acknowledgedWithdrawal,
    cache: 'no-store',
    example: examples.acknowledgedWithdrawal,
    headers: ['X-Service-Receipt'],
  },
  problems: {
    403: { type: 'other-agents-key', detail: `this key belongs to another agent than ${AGENT_ID}` },
    404: {
      type: 'nothing-to-withdraw',
      detail: `the agent has no current forecast on the question ${QUESTION_ID}`,
    },
    409: {
      type: 'question-closed',
      detail: `the question ${QUESTION_ID} takes no forecast: it closed at 2026-06-01T00:00:00.000Z`,
    },
  },
  handle: ({ params: { agent_id: agentId, question_id }, caller, idempotencyKey: key }, context) => {
    const forecasts = [{ question_id, probability: null }]
    const scope = `withdrawal ${agentId}`
    return takeOne(context, { scope, key, body: { question_id }, caller, agentId, forecasts })
  },
})
