// Agents submit forecasts.
import { z } from 'zod'
import { rounded } from '../../pipeline/scoring/round.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { type Checks, forecastReceipt } from '../../schemas/payloads.ts'
import { forecastSubmission } from '../../schemas/requests.ts'
import { uuid } from '../../schemas/values.ts'
import * as examples from '../openapi/examples.ts'
import { assertOpen } from '../questions/question.ts'
import { route } from '../route.ts'

const { AGENT_ID, QUESTION_ID } = examples

/** How long after its time a forecast may be written; a longer time would let a caller choose in hindsight. */
const LATEST_MS = 5 * 60_000

/** @throws ServiceError `conflict` for a forecast that was interrupted too long ago to be finished. */
function assertTimely(forecastAt: Date, now: Date): void {
  if (now.getTime() - forecastAt.getTime() <= LATEST_MS) return
  throw new ServiceError(
    'conflict',
    `the request with this Idempotency-Key began at ${forecastAt.toISOString()} and was not completed; submit the forecast again with a new key`,
    { type: 'request-expired' },
  )
}

/** Times decide scores. @throws ServiceError `unavailable` on a node whose clock is wrong. */
function assertClock({ clock }: Checks): void {
  if (clock.ok) return
  throw new ServiceError(
    'unavailable',
    `this node takes no forecasts now: ${clock.detail}. Try again, since another node may take it`,
    { type: 'wrong-clock', expose: true, retryAfterS: 60 },
  )
}

export const submitForecast = route({
  path: '/agents/{agent_id}/forecast',
  operationId: 'submitForecast',
  tag: 'Agents',
  summary: 'Submit a probability for a question; answered once it is durable',
  description:
    'Takes the probability of yes for an open question, with the agent’s own key. It is answered once the ' +
    'forecast is durable. Submit again to change it: all forecasts on a question are scored, each for the time that it ' +
    'held. With an `Idempotency-Key` the call may be repeated if its answer was lost: it counts once.',
  key: 'agent',
  limit: 'forecast',
  idempotent: true,
  follows: true,
  needsStore: true,
  params: z.strictObject({ agent_id: uuid }),
  body: forecastSubmission,
  examples: { params: { agent_id: AGENT_ID }, body: examples.forecastSubmission },
  success: {
    description: 'The forecast is durable',
    body: forecastReceipt,
    cache: 'no-store',
    example: examples.forecastReceipt,
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
    if (caller.agent_id !== params.agent_id) {
      throw new ServiceError('forbidden', `this key belongs to another agent than ${params.agent_id}`)
    }
    assertClock(context.health.checks)
    const { agent_id } = params
    const { questions, forecasts, idempotency, now } = context
    // Rounded to six decimals, as imports are.
    const probability = rounded(body.probability)
    const request = { scope: `forecast ${agent_id}`, key: idempotencyKey, body }
    const receipt = await idempotency.run(request, {
      check: async ({ at }) => {
        assertOpen(await questions.find(body.question_id), at)
        assertTimely(at, now())
      },
      answer: ({ id, at }) => ({
        forecast_id: id,
        agent_id,
        question_id: body.question_id,
        probability,
        forecast_at: at.toISOString(),
      }),
      commit: ({ id, at }) =>
        forecasts.submit({
          forecast_id: id,
          entity_type: 'agent',
          entity_id: agent_id,
          question_id: body.question_id,
          probability,
          forecast_at: at,
          recorded_at: at,
          source: 'api',
        }),
    })
    return { body: receipt }
  },
})
