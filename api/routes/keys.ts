// The calls that need only a key: they replace or end it, retire its agent, and show its usage.
import { z } from 'zod'
import { sealedBytes } from '../../pipeline/access/idempotency.ts'
import { RENAMED_OFTEN, askForName } from '../../pipeline/access/renames.ts'
import { ROTATION_MS } from '../../pipeline/access/registry.ts'
import { keyUsage, renamedAgent, retiredAgent, rotatedKey, unretiredAgent } from '../../schemas/answers.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { renaming, rotation } from '../../schemas/requests.ts'
import { uuid } from '../../schemas/values.ts'
import type { Node } from '../http/context.ts'
import type { Intake } from '../http/intake.ts'
import { assertUnguessable } from '../http/idempotency-key.ts'
import * as examples from '../openapi/examples.ts'
import { type Reply, assertOwnKey, route } from '../http/route.ts'
import type { KnownKey } from '../limits/callers.ts'
import { assertActive, retiredSince } from './take-forecasts.ts'

const { AGENT_ID } = examples

const NOT_OWN = {
  type: 'other-agents-key',
  detail: `this key belongs to another agent than ${AGENT_ID}`,
} as const
const ROTATED = {
  type: 'key-rotated',
  detail:
    'the key Example1 was rotated already, with its end at 2026-03-02T12:00:00.000Z: use the one in its place',
} as const

/** The common part of the calls by which an agent ends its key or retires. */
const OF_OWN_AGENT = {
  key: 'agent',
  limit: 'forecast',
  needsStore: true,
  params: z.strictObject({ agent_id: uuid }),
  examples: { params: { agent_id: AGENT_ID } },
} as const

export const rotateKey = route({
  path: '/agents/{agent_id}/rotate-key',
  method: 'POST',
  operationId: 'rotateAgentKey',
  tag: 'Agents',
  summary: 'Get a new API key for an agent, once',
  description:
    'Puts a new key in the place of the one that makes the call, which works for 24 hours more, or ends at once with ' +
    '`end_old_key`. The new key is shown only once. With an `Idempotency-Key` the call may be repeated with the old key, while ' +
    'that works, if its answer was lost: it answers the same key.',
  key: 'agent',
  limit: 'forecast',
  idempotent: true,
  needsStore: true,
  params: z.strictObject({ agent_id: uuid }),
  body: rotation,
  isBodyOptional: true,
  examples: { params: { agent_id: AGENT_ID }, body: { end_old_key: false } },
  success: {
    description: 'Keep the new key',
    body: rotatedKey,
    cache: 'no-store',
    example: examples.rotatedKey,
  },
  problems: { 403: NOT_OWN, 409: ROTATED },
  handle: ({ params, body, caller, idempotencyKey }, context) => {
    assertOwnKey(caller.agent_id, params.agent_id)
    return rotated(context, caller, idempotencyKey, body.end_old_key ?? false)
  },
})

export const revokeKey = route({
  path: '/agents/{agent_id}/revoke-key',
  method: 'POST',
  operationId: 'revokeAgentKey',
  tag: 'Agents',
  summary: 'End a leaked API key at once, and get a new one, once',
  description:
    'Ends the key that makes the call at once, and the one in whose place it was put, and shows a new one. Other nodes refuse ' +
    'the old ones within ten seconds. If the answer is lost, or whoever has the leaked key has rotated it first, ask the operator.',
  ...OF_OWN_AGENT,
  success: {
    description: 'Keep the new key',
    body: rotatedKey,
    cache: 'no-store',
    example: { ...examples.rotatedKey, old_key_works_until: '2026-03-01T12:00:00.000Z' },
  },
  problems: { 403: NOT_OWN, 409: ROTATED },
  handle: ({ params, caller }, context) => {
    assertOwnKey(caller.agent_id, params.agent_id)
    return rotated(context, caller, undefined, true)
  },
})

async function rotated(
  { registry, idempotency, callers }: Intake & Pick<Node, 'callers'>,
  caller: KnownKey & { kind: 'agent' },
  idempotencyKey: string | undefined,
  isAtOnce: boolean,
): Promise<Reply> {
  if (idempotencyKey !== undefined) assertUnguessable(idempotencyKey)
  // A repetition derives the same key from the claim, although the service stores only the key's hash.
  const newKey = (salt: string) =>
    registry.newKey(idempotencyKey === undefined ? undefined : sealedBytes(idempotencyKey, salt))
  const body = isAtOnce ? { end_old_key: true } : {}
  const request = { scope: `rotate ${caller.key_id}`, key: idempotencyKey, body }
  const { answer } = await idempotency.run(request, {
    check: ({ salt }) => registry.assertRotatable(caller.key_id, newKey(salt)),
    answer: ({ at, salt }) => {
      const key = newKey(salt)
      const endsMs = at.getTime() + (isAtOnce ? 0 : ROTATION_MS)
      const old_key_works_until = new Date(endsMs).toISOString()
      return { key, answer: { agent_id: caller.agent_id, api_key: key.key, old_key_works_until } }
    },
    commit: async ({ at }, { key }) => {
      await registry.rotateKey(caller.key_id, at, key, { isByHolder: true, isAtOnce })
    },
  })
  if (isAtOnce) callers.forget(caller)
  return { body: answer }
}

export const renameAgent = route({
  path: '/agents/{agent_id}',
  method: 'PATCH',
  operationId: 'renameAgent',
  tag: 'Agents',
  summary: 'Give an agent another name',
  description:
    'The agent has the name from the next release on; earlier releases, and the table of agents, keep the old one. The call may be ' +
    'repeated, and of several names the last one counts. An agent that the operator has renamed or hidden cannot rename itself, nor can a retired one.',
  ...OF_OWN_AGENT,
  body: renaming,
  examples: { ...OF_OWN_AGENT.examples, body: { name: 'another name' } },
  success: {
    description: 'It is asked for',
    body: renamedAgent,
    cache: 'no-store',
    example: { agent_id: AGENT_ID, name: 'another name' },
  },
  problems: { 403: NOT_OWN, 409: { type: 'renamed-often', detail: RENAMED_OFTEN } },
  handle: async ({ params, body, caller }, { store, now }) => {
    const { agent_id } = caller
    assertOwnKey(agent_id, params.agent_id)
    assertActive(caller, now())
    await askForName(store, { agent_id, name: body.name }, now())
    return { body: { agent_id, name: body.name } }
  },
})

export const retire = route({
  path: '/agents/{agent_id}/retire',
  method: 'POST',
  operationId: 'retireAgent',
  tag: 'Agents',
  summary: 'Retire an agent in 24 hours',
  description:
    'From 24 hours after the call on the agent takes no forecasts. It stays in every record: what it has forecast is scored, and ' +
    'its owner’s page shows it. The call may be repeated, and until it takes effect be undone by `unretire`.',
  ...OF_OWN_AGENT,
  success: {
    description: 'Retires 24 hours after the first call',
    body: retiredAgent,
    cache: 'no-store',
    example: examples.retiredAgent,
  },
  problems: { 403: NOT_OWN },
  handle: async ({ params, caller: { agent_id } }, { registry, now }) => {
    assertOwnKey(agent_id, params.agent_id)
    return { body: { agent_id, retired_at: await registry.askToRetire(agent_id, now()) } }
  },
})

export const unretire = route({
  path: '/agents/{agent_id}/unretire',
  method: 'POST',
  operationId: 'unretireAgent',
  tag: 'Agents',
  summary: 'Take back that an agent retires',
  description:
    'Undoes `retire` until it takes effect. After that only the operator can. The call may be repeated.',
  ...OF_OWN_AGENT,
  success: {
    description: 'The agent goes on taking forecasts',
    body: unretiredAgent,
    cache: 'no-store',
    example: { agent_id: AGENT_ID, retired_at: null },
  },
  problems: {
    403: NOT_OWN,
    409: { type: 'agent-retired', detail: retiredSince(AGENT_ID, '2026-03-01T12:00:00.000Z') },
  },
  handle: async ({ params, caller: { agent_id } }, { registry, now }) => {
    assertOwnKey(agent_id, params.agent_id)
    const retired_at = await registry.retiredAt(agent_id)
    if (retired_at !== null && retired_at <= now().toISOString()) {
      throw new ServiceError('conflict', retiredSince(agent_id, retired_at), { type: 'agent-retired' })
    }
    if (retired_at !== null) await registry.noteUnretired(agent_id)
    return { body: { agent_id, retired_at: null } }
  },
})

export const usage = route({
  path: '/usage',
  operationId: 'getUsage',
  tag: 'Verification',
  summary: 'What a key has used of this month',
  description:
    'The tier of the key, sent in `X-API-Key` or as bearer token, the verification calls of its account in this month, and how ' +
    'many a month has.',
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
      throw new ServiceError(
        'unauthorized',
        'no API key: send the header X-API-Key or Authorization: Bearer <api_key>',
        { type: 'no-key' },
      )
    }
    return { body: await limits.usageOf(caller) }
  },
})
