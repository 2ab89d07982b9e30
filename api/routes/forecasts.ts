// Agents submit or withdraw one forecast.
import { z } from 'zod'
import type { IdempotentRequest } from '../../pipeline/access/idempotency.ts'
import { acknowledgementBytes } from '../../pipeline/tables/receipts.ts'
import { acknowledgedForecast, acknowledgedWithdrawal } from '../../schemas/answers.ts'
import { forecastSubmission } from '../../schemas/requests.ts'
import type { ForecastRow } from '../../schemas/tables.ts'
import { uuid } from '../../schemas/values.ts'
import type { ApiContext } from '../http/context.ts'
import { route } from '../http/route.ts'
import * as examples from '../openapi/examples.ts'
import { assertOpen } from '../questions/question.ts'
import { assertHeld, assertMaySubmit, assertTimely, rationalesOf, recorded, rowOf } from './take-forecasts.ts'

const { AGENT_ID, QUESTION_ID } = examples

/** A forecast of an agent, or with null its withdrawal. */
interface Said {
  agent_id: string
  question_id: string
  probability: number | null
  rationale?: string | undefined
}

/**
 * Records what an agent says of a question that is open, and answers with it and its receipt. `decide` may
 * refuse it; its result is kept, and shows a repetition what was decided `earlier`.
 */
async function taken<D>(
  context: ApiContext,
  request: IdempotentRequest,
  { agent_id, ...said }: Said,
  decide: (earlier: D | undefined) => D,
) {
  const { questions, currentForecasts, now } = context
  const { answer, receipts } = await recorded<ForecastRow, D>(
    context,
    request,
    rationalesOf([said]),
    {
      timeOf: (at) => currentForecasts.instantOf(agent_id, [said.question_id], at),
      check: async ({ at }, { earlier }) => {
        assertOpen(await questions.find(said.question_id), at)
        assertTimely(at, now())
        return decide(earlier)
      },
      answer: ({ id, at }) => rowOf(id, agent_id, said, at),
    },
    (row) => [row],
  )
  const [receipt] = receipts
  return {
    body: acknowledgementBytes(answer),
    ...(receipt === undefined ? {} : { headers: { 'X-Service-Receipt': receipt } }),
  }
}

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
  key: 'agent',
  limit: 'forecast',
  idempotent: true,
  follows: true,
  needsStore: true,
  needsQuestions: true,
  isDirect: true,
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
  handle: async ({ params, body, caller, idempotencyKey }, context) => {
    const { agent_id } = params
    assertMaySubmit(caller, agent_id, context)
    const request = { scope: `forecast ${agent_id}`, key: idempotencyKey, body }
    return taken<void>(context, request, { agent_id, ...body }, () => undefined)
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
  key: 'agent',
  limit: 'forecast',
  idempotent: true,
  follows: true,
  needsStore: true,
  needsQuestions: true,
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
  handle: async ({ params, caller, idempotencyKey }, context) => {
    const { agent_id, question_id } = params
    assertMaySubmit(caller, agent_id, context)
    await context.catchUpForecasts()
    const request = { scope: `withdrawal ${agent_id}`, key: idempotencyKey, body: { question_id } }
    return taken<true>(context, request, { agent_id, question_id, probability: null }, (earlier) => {
      if (!earlier) assertHeld(context, agent_id, question_id)
      return true
    })
  },
})
