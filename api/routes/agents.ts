// Agents register.
import { sealedBytes } from '../../pipeline/access/idempotency.ts'
import { NOT_INVITED, assertInvited, useInvitation } from '../../pipeline/access/invitations.ts'
import { registered } from '../../schemas/answers.ts'
import type { OwnSettings } from '../../schemas/config.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { registration } from '../../schemas/requests.ts'
import { MOUNTS } from '../mounts.ts'
import { assertUnguessable } from '../http/idempotency-key.ts'
import * as examples from '../openapi/examples.ts'
import { route } from '../http/route.ts'

/**
 * How long a repeated registration shows the API key. During this time its Idempotency-Key is as secret as
 * the API key.
 */
const SHOWN_AGAIN_MS = 24 * 60 * 60_000

/** @throws ServiceError `conflict` for a registration whose API key is no longer shown. */
function assertShowable(registeredAt: Date, now: Date): void {
  if (now.getTime() - registeredAt.getTime() < SHOWN_AGAIN_MS) return
  throw new ServiceError('conflict', notShown(registeredAt.toISOString()), { type: 'request-expired' })
}

/** @throws ServiceError `forbidden` where nobody may register. */
function assertNotClosed(mayRegister: OwnSettings['REGISTRATION']): void {
  if (mayRegister !== 'closed') return
  throw new ServiceError('forbidden', 'registration is closed: ask the operator', {
    type: 'registration-closed',
  })
}

function notShown(registeredAt: string): string {
  return (
    `the agent was registered with this Idempotency-Key at ${registeredAt}, and its API key is shown again for 24 hours ` +
    'only; if you do not have the API key, register another agent with a new Idempotency-Key'
  )
}

export const register = route({
  path: '/agents/register',
  operationId: 'registerAgent',
  tag: 'Agents',
  summary: 'Register an agent and get its API key, once',
  description:
    'Anyone may register an agent, unless the service asks for an `invitation` or has closed registration. The key is shown only once, and the service stores only its hash. With an ' +
    '`Idempotency-Key` the call may be repeated within 24 hours if its answer was lost: it answers the same agent and key.',
  limit: 'register',
  idempotent: true,
  repeatable: true,
  needsStore: true,
  body: registration,
  examples: { body: examples.registration },
  success: {
    status: 201,
    description: 'Registered: keep the key',
    body: registered,
    cache: 'no-store',
    headers: ['Location'],
    example: examples.registered,
    links: {
      submit: { operationId: 'submitForecasts', parameters: { agent_id: '$response.body#/agent_id' } },
      profile: { operationId: 'getAgentProfile', parameters: { agent_id: '$response.body#/agent_id' } },
    },
  },
  problems: {
    403: { type: 'not-invited', detail: `${NOT_INVITED}: this one was used` },
    409: { type: 'request-expired', detail: notShown('2026-03-01T12:00:00.000Z') },
    422: examples.invalid('body', 'name', 'must not be empty'),
  },
  handle: async ({ body, idempotencyKey, assertAdmitted }, context) => {
    if (idempotencyKey !== undefined) assertUnguessable(idempotencyKey)
    const { registry, registrations, mayRegister, store, idempotency, now } = context
    const { invitation, ...agent } = body
    const request = { scope: 'register', key: idempotencyKey, body }
    let isRepeated = true
    const { answer } = await idempotency.run(request, {
      check: async ({ id }) => {
        isRepeated = false
        assertAdmitted()
        assertNotClosed(mayRegister)
        if (mayRegister === 'invited') await assertInvited(store, invitation, id)
      },
      answer: ({ id, at, salt }) => {
        assertShowable(at, now())
        // A repetition derives the same key from the claim, although the service stores only the key's hash.
        const sealed = idempotencyKey === undefined ? undefined : sealedBytes(idempotencyKey, salt)
        const first = registry.firstKey(id, sealed)
        return { key: first, answer: { agent_id: id, api_key: first.key } }
      },
      commit: async ({ id, at }, { key: first }) => {
        if (mayRegister === 'invited') await useInvitation(store, invitation, id)
        await registry.createAgent(id, first, at)
        await registrations.submit({
          agent_id: id,
          name: agent.name,
          model_type: agent.model_type,
          organization_name: agent.organization_name ?? null,
          owner_id: null,
          registered_at: at,
          retired_at: null,
          recorded_at: at,
        })
      },
    })
    const location = `${MOUNTS[context.site.environment]}/agents/${answer.agent_id}`
    return { body: answer, isRepeated, headers: { Location: location } }
  },
})
