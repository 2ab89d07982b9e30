// The calls that need only a key: they replace it, retire its agent, and show its usage.
import { z } from 'zod'
import { sealedBytes } from '../../pipeline/access/idempotency.ts'
import { ROTATION_MS } from '../../pipeline/access/registry.ts'
import { keyUsage, retiredAgent, rotatedKey } from '../../schemas/answers.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { uuid } from '../../schemas/values.ts'
import { assertUnguessable } from '../http/idempotency-key.ts'
import * as examples from '../openapi/examples.ts'
import { assertOwnKey, route } from '../http/route.ts'

const { AGENT_ID } = examples

export const rotateKey = route({
  path: '/agents/{agent_id}/rotate-key',
  method: 'POST',
  operationId: 'rotateAgentKey',
  tag: 'Agents',
  summary: 'Get a new API key for an agent, once',
  description:
    'Puts a new key in the place of the one that makes the call, which works for 24 hours more. The new key is shown only ' +
    'once. With an `Idempotency-Key` the call may be repeated with the old key if its answer was lost: it answers the same key.',
  key: 'agent',
  limit: 'forecast',
  idempotent: true,
  needsStore: true,
  params: z.strictObject({ agent_id: uuid }),
  examples: { params: { agent_id: AGENT_ID } },
  success: {
    description: 'Keep the new key',
    body: rotatedKey,
    cache: 'no-store',
    example: examples.rotatedKey,
  },
  problems: {
    403: { type: 'other-agents-key', detail: `this key belongs to another agent than ${AGENT_ID}` },
    409: {
      type: 'key-rotated',
      detail:
        'the key Example1 was rotated already, with its end at 2026-03-02T12:00:00.000Z: use the one in its place',
    },
  },
  handle: async ({ params, caller, idempotencyKey }, { registry, idempotency }) => {
    assertOwnKey(caller.agent_id, params.agent_id)
    if (idempotencyKey !== undefined) assertUnguessable(idempotencyKey)
    // A repetition derives the same key from the claim, although the service stores only the key's hash.
    const newKey = (salt: string) =>
      registry.newKey(idempotencyKey === undefined ? undefined : sealedBytes(idempotencyKey, salt))
    const request = { scope: `rotate ${caller.key_id}`, key: idempotencyKey, body: {} }
    const { answer } = await idempotency.run(request, {
      check: ({ salt }) => registry.assertRotatable(caller.key_id, newKey(salt)),
      answer: ({ at, salt }) => {
        const key = newKey(salt)
        const old_key_works_until = new Date(at.getTime() + ROTATION_MS).toISOString()
        return { key, answer: { agent_id: caller.agent_id, api_key: key.key, old_key_works_until } }
      },
      commit: async ({ at }, { key }) => {
        await registry.rotateKey(caller.key_id, at, key)
      },
    })
    return { body: answer }
  },
})

export const retire = route({
  path: '/agents/{agent_id}/retire',
  method: 'POST',
  operationId: 'retireAgent',
  tag: 'Agents',
  summary: 'Retire an agent, for ever',
  description:
    'A retired agent takes no forecasts and stays in every record: what it has forecast is scored, and its owner’s page shows it. ' +
    'Other nodes refuse its forecasts within seconds. The call may be repeated.',
  key: 'agent',
  limit: 'forecast',
  needsStore: true,
  params: z.strictObject({ agent_id: uuid }),
  examples: { params: { agent_id: AGENT_ID } },
  success: {
    description: 'Retired, since the instant of the first call',
    body: retiredAgent,
    cache: 'no-store',
    example: examples.retiredAgent,
  },
  problems: {
    403: { type: 'other-agents-key', detail: `this key belongs to another agent than ${AGENT_ID}` },
  },
  handle: async ({ params, caller }, { registry, callers, now }) => {
    const { agent_id } = caller
    assertOwnKey(agent_id, params.agent_id)
    const retired_at = await registry.askToRetire(agent_id, now())
    callers.noteRetired(agent_id, retired_at)
    return { body: { agent_id, retired_at } }
  },
})

export const usage = route({
  path: '/usage',
  operationId: 'getUsage',
  tag: 'Verification',
  summary: 'What a key has used of this month',
  description:
    'The tier of the key in `X-API-Key`, the verification calls of its account in this month, and how many a month has.',
  needsStore: true,
  key: 'optional',
  params: z.strictObject({}),
  success: {
    description: 'As this node counts',
    body: keyUsage,
    cache: 'no-store',
    example: examples.keyUsage,
  },
  handle: async ({ caller }, { limits }) => {
    if (caller.kind === 'anonymous') {
      throw new ServiceError('unauthorized', 'no API key: send the header X-API-Key', { type: 'no-key' })
    }
    return { body: await limits.usageOf(caller) }
  },
})
