// Agents register and submit forecasts.
import { z } from 'zod'
import { sealedBytes } from '../../pipeline/access/idempotency.ts'
import { rounded } from '../../pipeline/scoring/round.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { forecastReceipt, registered } from '../../schemas/payloads.ts'
import { forecastSubmission, noQuery, registration } from '../../schemas/requests.ts'
import { uuid } from '../../schemas/values.ts'
import { assertUnguessable } from '../idempotency-key.ts'
import { assertOpen } from '../questions/question.ts'
import { route } from '../route.ts'

const NO_STORE = { 'Cache-Control': 'no-store' }

/** How long a registration answers the API key again: for this long its Idempotency-Key is as secret as the key. */
const SHOWN_AGAIN_MS = 24 * 60 * 60_000

/** @throws ServiceError `conflict` for a registration whose API key is not shown any more. */
function assertShowable(registeredAt: Date, now: Date): void {
  if (now.getTime() - registeredAt.getTime() < SHOWN_AGAIN_MS) return
  throw new ServiceError(
    'conflict',
    `the agent was registered with this Idempotency-Key at ${registeredAt.toISOString()}, and its API key is shown ` +
      'again for 24 hours only; if you do not have the API key, register another agent with a new Idempotency-Key',
  )
}

export const register = route({
  method: 'POST',
  path: '/agents/register',
  summary: 'Register an agent and get its API key, once',
  key: 'none',
  limit: 'register',
  idempotent: true,
  params: z.strictObject({}),
  query: noQuery,
  body: registration,
  success: { status: 201, body: registered },
  failures: [409, 429, 503],
  handle: async ({ body, idempotencyKey }, context) => {
    if (idempotencyKey !== undefined) assertUnguessable(idempotencyKey)
    const { registry, registrations, idempotency, now } = context
    const request = { scope: 'register', key: idempotencyKey, body }
    const { answer } = await idempotency.run(request, {
      check: () => Promise.resolve(),
      answer: ({ id, at, salt }) => {
        assertShowable(at, now())
        // Derived from the claim, it is the same key again although nothing of it is stored.
        const sealed = idempotencyKey === undefined ? undefined : sealedBytes(idempotencyKey, salt)
        const key = registry.newKey(sealed)
        return { key, answer: { agent_id: id, api_key: key.key } }
      },
      commit: async ({ id, at }, { key }) => {
        await registry.createAgent(id, key, at)
        await registrations.submit({
          agent_id: id,
          name: body.name,
          model_type: body.model_type,
          organization_name: body.organization_name ?? null,
          recorded_at: at,
        })
      },
    })
    return { status: 201, body: answer, headers: NO_STORE }
  },
})

/** How long after its time a forecast may still be written: longer would let a caller choose in hindsight. */
const LATEST_MS = 5 * 60_000

/** @throws ServiceError `conflict` for a forecast that was interrupted too long ago to be finished. */
function assertTimely(forecastAt: Date, now: Date): void {
  if (now.getTime() - forecastAt.getTime() <= LATEST_MS) return
  throw new ServiceError(
    'conflict',
    `the request with this Idempotency-Key began at ${forecastAt.toISOString()} and was not completed; submit the forecast again with a new key`,
  )
}

export const submitForecast = route({
  method: 'POST',
  path: '/agents/{agent_id}/forecast',
  summary: 'Submit a probability for a question; answered once it is durable',
  key: 'agent',
  limit: 'forecast',
  idempotent: true,
  params: z.strictObject({ agent_id: uuid }),
  query: noQuery,
  body: forecastSubmission,
  success: { status: 200, body: forecastReceipt },
  failures: [401, 403, 404, 409, 429, 503],
  handle: async ({ params, body, caller, idempotencyKey }, context) => {
    if (caller.agent_id !== params.agent_id) {
      throw new ServiceError('forbidden', `this key belongs to another agent than ${params.agent_id}`)
    }
    const { agent_id } = params
    const { questions, forecasts, idempotency, now } = context
    // Held to six decimals, as an import holds it.
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
    return { status: 200, body: receipt, headers: NO_STORE }
  },
})
