// Answers a request: the steps that every route has in common.
import type { RouterContext } from '@koa/router'
import { canonical } from '../pipeline/proof/canonical.ts'
import { ServiceError } from '../schemas/errors.ts'
import type { AddressOf } from './limits/addresses.ts'
import { readJson } from './body.ts'
import type { ApiContext } from './context.ts'
import { entityTag, isNamedBy } from './entity-tag.ts'
import { parseIdempotencyKey } from './idempotency-key.ts'
import { faultAt, invalidInput, parseInput } from './input.ts'
import { rateLimitHeaders, refusal } from './limits/admission.ts'
import { CHALLENGES, type Reply, type Route } from './route.ts'

/** Identifies the caller, counts the request, validates what was sent, and sends the reply of the route. */
export async function handle(
  ctx: RouterContext,
  spec: Route,
  context: ApiContext,
  addressOf: AddressOf,
): Promise<void> {
  const params = parseInput(spec.params, ctx.params, 'path')
  const caller = await callerOf(ctx, spec, context)
  if (caller.kind !== 'anonymous') ctx.state['keyId'] = caller.key_id
  const admission = spec.limit && (await context.limits.admit(spec.limit, caller, addressOf(ctx.req)))
  if (admission) {
    ctx.set(rateLimitHeaders(admission.state))
    if (!admission.admitted) throw refusal(admission.state)
  }
  try {
    if (spec.follows) await context.catchUp()
    const query = parseInput(spec.query, queryOf(ctx.querystring), 'query')
    const sent = spec.body && (await readJson(ctx.req))
    for (const [field, most] of Object.entries(spec.mostItems ?? {})) {
      assertLength(sent, field, most(caller, context))
    }
    const body = spec.body && parseInput(spec.body, sent, 'body')
    const header = spec.idempotent && ctx.headers['idempotency-key']?.toString()
    const idempotencyKey = header === undefined ? undefined : parseIdempotencyKey(header)
    send(ctx, spec, await spec.handle({ params, query, body, caller, idempotencyKey }, context))
  } catch (error) {
    if (admission?.takeBack) ctx.set(rateLimitHeaders(await admission.takeBack()))
    throw error
  }
  if (admission?.usage) context.usage.count(admission.usage)
}

/** More than any call knows. */
const MOST_PARAMETERS = 20

/** @throws ServiceError `invalid` for a parameter that is given twice, since either could be meant, and for too many. */
function queryOf(text: string): Record<string, string> {
  // Counted before they are taken apart.
  if (text.split('&', MOST_PARAMETERS + 1).length > MOST_PARAMETERS) {
    throw new ServiceError('invalid', `the query has more than ${MOST_PARAMETERS} parameters`)
  }
  const parameters = [...new URLSearchParams(text)]
  const seen = new Set<string>()
  for (const [name] of parameters) {
    if (seen.has(name)) {
      throw invalidInput('query', [faultAt([name], 'is given more than once: send it once', 'query')])
    }
    seen.add(name)
  }
  return Object.fromEntries(parameters)
}

async function callerOf(ctx: RouterContext, { key }: Route, { callers }: ApiContext) {
  if (key === 'none') return { kind: 'anonymous' } as const
  try {
    return key === 'agent'
      ? await callers.ofBearer(soleAuthorization(ctx))
      : await callers.ofApiKey(ctx.headers['x-api-key']?.toString())
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'unauthorized') {
      ctx.set('WWW-Authenticate', CHALLENGES[key])
    }
    throw error
  }
}

/** Node keeps the first of several headers and drops the rest, but a proxy may have checked another one. */
function soleAuthorization(ctx: RouterContext): string | undefined {
  const sent = ctx.req.headersDistinct['authorization']
  if (sent === undefined || sent.length === 1) return sent?.[0]
  throw new ServiceError(
    'unauthorized',
    `the header Authorization was sent ${sent.length} times: send it once`,
  )
}

/** @throws ServiceError `invalid` for a list that is too long, whatever its items are. */
function assertLength(body: unknown, field: string, most: number): void {
  const list: unknown = (body as Record<string, unknown> | null)?.[field]
  if (!Array.isArray(list) || list.length <= most) return
  throw new ServiceError(
    'invalid',
    `${list.length} ${field} were sent; at most ${most} are allowed in one request`,
    { faults: [faultAt([field], `must have at most ${most} items`, 'body')] },
  )
}

function send(ctx: RouterContext, { method, success }: Route, { body, headers = {} }: Reply): void {
  const bytes = body instanceof Uint8Array ? body : canonical(body)
  const { status = 200, mediaType, cache } = success
  ctx.status = status
  // Shares the memory: copies would pile up for a client that sends many requests and reads no answers.
  ctx.body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  ctx.set('Content-Type', mediaType ? `${mediaType}; charset=utf-8` : 'application/json')
  if (cache !== undefined) ctx.set('Cache-Control', cache)
  ctx.set(headers)
  if (method !== 'GET') return
  const tag = entityTag(bytes)
  ctx.set('ETag', tag)
  if (isNamedBy(ctx.headers['if-none-match'], tag)) {
    ctx.status = 304
    ctx.body = null
  }
}
