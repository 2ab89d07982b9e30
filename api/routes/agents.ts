// Agents register.
import { z } from 'zod'
import { sealedBytes } from '../../pipeline/access/idempotency.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { registered } from '../../schemas/payloads.ts'
import { noQuery, registration } from '../../schemas/requests.ts'
import { assertUnguessable } from '../idempotency-key.ts'
import * as examples from '../openapi/examples.ts'
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
  operationId: 'registerAgent',
  tag: 'Agents',
  summary: 'Register an agent and get its API key, once',
  description:
    'Anybody may register an agent. The key is shown this once and kept as its hash only. With an ' +
    '`Idempotency-Key` the call may be made again when its answer was lost: it answers the same agent and key.',
  key: 'none',
  limit: 'register',
  idempotent: true,
  needsStore: true,
  params: z.strictObject({}),
  query: noQuery,
  body: registration,
  examples: { body: examples.registration },
  success: {
    status: 201,
    description: 'Registered; keep the key',
    body: registered,
    example: examples.registered,
  },
  problems: {
    409: { detail: 'a request with this Idempotency-Key is still under way: send it again later' },
    422: {
      detail: 'the body is not valid: name must not be empty',
      errors: [{ pointer: '/name', detail: 'must not be empty' }],
    },
  },
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
