// Agents register and submit forecasts.
import { z } from 'zod'
import { published } from '../../pipeline/scoring/round.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { forecastReceipt, registered } from '../../schemas/payloads.ts'
import { forecastSubmission, noQuery, registration } from '../../schemas/requests.ts'
import { uuid } from '../../schemas/values.ts'
import { assertOpen } from '../questions.ts'
import { route } from '../route.ts'

export const register = route({
  method: 'POST',
  path: '/agents/register',
  summary: 'Register an agent and get its API key, once',
  key: 'none',
  params: z.strictObject({}),
  query: noQuery,
  body: registration,
  success: { status: 201, body: registered },
  failures: [429, 503],
  handle: async ({ body, caller, address }, context) => {
    await context.limits.admit('register', caller, address)
    const now = context.now()
    const agentId = context.newId()
    const apiKey = await context.registry.createAgent(agentId, now)
    await context.registrations.submit({
      agent_id: agentId,
      name: body.name,
      model_type: body.model_type,
      organization_name: body.organization_name ?? null,
      recorded_at: now,
    })
    return {
      status: 201,
      body: { agent_id: agentId, api_key: apiKey },
      headers: { 'Cache-Control': 'no-store' },
    }
  },
})

export const submitForecast = route({
  method: 'POST',
  path: '/agents/{agent_id}/forecast',
  summary: 'Submit a probability for a question; answered once it is durable',
  key: 'agent',
  params: z.strictObject({ agent_id: uuid }),
  query: noQuery,
  body: forecastSubmission,
  success: { status: 200, body: forecastReceipt },
  failures: [401, 403, 404, 409, 429, 503],
  handle: async ({ params, body, caller, address }, context) => {
    if (caller.agent_id !== params.agent_id) {
      throw new ServiceError('forbidden', `this key belongs to another agent than ${params.agent_id}`)
    }
    await context.limits.admit('forecast', caller, address)
    const question = await context.questions.find(body.question_id)
    const forecastAt = context.now()
    assertOpen(question, forecastAt)
    const receipt = {
      forecast_id: context.newId(),
      question_id: body.question_id,
      // Held to six decimals, as an import holds it.
      probability: published(body.probability),
    }
    await context.forecasts.submit({
      ...receipt,
      entity_type: 'agent',
      entity_id: params.agent_id,
      forecast_at: forecastAt,
      recorded_at: forecastAt,
      source: 'api',
    })
    return {
      status: 200,
      body: { ...receipt, agent_id: params.agent_id, forecast_at: forecastAt.toISOString() },
      headers: { 'Cache-Control': 'no-store' },
    }
  },
})
