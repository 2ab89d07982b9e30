// Agents register and submit forecasts.
import { z } from 'zod'
import { assertUnguessable, sealedBytes } from '../../pipeline/access/idempotency.ts'
import { rounded } from '../../pipeline/scoring/round.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { forecastReceipt, registered } from '../../schemas/payloads.ts'
import { forecastSubmission, noQuery, registration } from '../../schemas/requests.ts'
import { uuid } from '../../schemas/values.ts'
import { once } from '../once.ts'
import { assertOpen } from '../questions.ts'
import { route } from '../route.ts'

const NO_STORE = { 'Cache-Control': 'no-store' }

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
    const { registry, registrations } = context
    const { answer } = await once(context, {
      scope: 'register',
      idempotencyKey,
      body,
      check: () => Promise.resolve(),
      answer: ({ id, salt }) => {
        // Drawn from the claim it is the same key again, without anything of it being kept.
        const chance = idempotencyKey === undefined ? undefined : sealedBytes(idempotencyKey, salt)
        const key = registry.newKey(chance)
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
    `the request with this Idempotency-Key was begun at ${forecastAt.toISOString()} and did not come through; submit the forecast anew, with another key`,
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
    const { questions, forecasts } = context
    // Held to six decimals, as an import holds it.
    const probability = rounded(body.probability)
    const receipt = await once(context, {
      scope: `forecast ${agent_id}`,
      idempotencyKey,
      body,
      check: async ({ at }) => {
        assertOpen(await questions.find(body.question_id), at)
        assertTimely(at, context.now())
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
