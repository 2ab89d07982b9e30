// Answers a request: the steps that every route has in common.
import type { RouterContext } from '@koa/router'
import { z } from 'zod'
import { canonical } from '../pipeline/proof/canonical.ts'
import { ServiceError } from '../schemas/errors.ts'
import type { AddressOf } from './limits/addresses.ts'
import { hasBody, readJson } from './body.ts'
import type { NodeContext } from './context.ts'
import { entityTag, isNamedBy } from './entity-tag.ts'
import { parseIdempotencyKey } from './idempotency-key.ts'
import { faultAt, invalidInput, parseInput } from './input.ts'
import { rateLimitHeaders } from './limits/admission.ts'
import type { Caller } from './limits/callers.ts'
import { CountedCall } from './limits/counted-call.ts'
import { ofOneRelease } from './one-release.ts'
import { problemOf } from './problems.ts'
import { notRead } from './questions/book.ts'
import { CHALLENGES, type Reply, type Route } from './route.ts'

const ANONYMOUS = { kind: 'anonymous' } as const

/** Identifies the caller, counts the request, validates what was sent, and sends the reply of the route. */
export async function handle(
  ctx: RouterContext,
  spec: Route,
  context: NodeContext,
  addressOf: AddressOf,
): Promise<void> {
  const call = new CountedCall(context.limits, addressOf(ctx.req))
  const tellQuota = () => {
    if (call.state) ctx.set(rateLimitHeaders(call.state))
  }
  try {
    const reply = await replyOf(ctx, spec, context, call)
    tellQuota()
    send(ctx, spec, reply)
  } catch (error) {
    const { status } = problemOf(error).problem
    if (spec.limit !== 'none') await call.failed(error, status >= 400 && status < 500)
    tellQuota()
    throw error
  }
  if (call.usage) context.usage.count(call.usage)
}

async function replyOf(
  ctx: RouterContext,
  spec: Route,
  context: NodeContext,
  call: CountedCall,
): Promise<Reply> {
  const caller = await callerOf(ctx, spec, context, call)
  if (caller.kind !== 'anonymous') ctx.state['keyId'] = caller.key_id
  const params = parseInput(spec.params, ctx.params, 'path')
  const header = spec.idempotent && ctx.headers['idempotency-key']?.toString()
  if (spec.limit !== 'none') {
    await call.admit(spec.limit, caller, spec.repeatable === true && header !== undefined)
  }
  if (spec.follows) await context.catchUp()
  if (spec.needsQuestions && !(await context.questionsRead())) throw notRead()
  const query = parseInput(spec.query, queryOf(ctx.querystring), 'query')
  const takesNone = spec.method === 'POST' && !spec.body
  if (takesNone && hasBody(ctx.req)) parseInput(NO_FIELDS, await readJson(ctx.req), 'body')
  const sent = spec.body && (await readJson(ctx.req))
  for (const [field, most] of Object.entries(spec.mostItems ?? {})) {
    assertLength(sent, field, most(caller, context))
  }
  const body = spec.body && parseInput(spec.body, sent, 'body')
  if (spec.limit !== 'none' && spec.submissions) {
    await call.admitMore(spec.limit, caller, spec.submissions(body) - 1)
  }
  const idempotencyKey = header === undefined ? undefined : parseIdempotencyKey(header)
  const { assertAdmitted } = call
  const reply = await ofOneRelease(context, (its) =>
    spec.handle({ params, query, body, caller, idempotencyKey, assertAdmitted }, its),
  )
  if (reply.isRepeated) await call.giveBack()
  return reply
}

/** What a call without a body may be sent: an empty object, since some clients always send one. */
const NO_FIELDS = z.strictObject({})

/** More than any call knows. */
const MOST_PARAMETERS = 20

/** @throws ServiceError `invalid` for a parameter that is given twice, since either could be meant, and for too many. */
function queryOf(text: string): Record<string, string> {
  // Counted before they are taken apart.
  if (text.split('&', MOST_PARAMETERS + 1).length > MOST_PARAMETERS) {
    throw new ServiceError('invalid', `the query has more than ${MOST_PARAMETERS} parameters`, {
      type: 'invalid-query',
    })
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

function callerOf(
  ctx: RouterContext,
  { key, limit }: Route,
  { callers }: NodeContext,
  call: CountedCall,
): Promise<Caller> {
  if (limit === 'none') return Promise.resolve(ANONYMOUS)
  switch (key) {
    case 'none':
      return call.identify(false, () => Promise.resolve(ANONYMOUS))
    case 'agent': {
      const { authorization } = ctx.headers
      return call.identify(callers.isGood(authorization), (hold) =>
        challenged(ctx, key, () => callers.ofBearer(soleAuthorization(ctx), hold)),
      )
    }
    case 'optional': {
      const header = ctx.headers['x-api-key']?.toString()
      return call.identify(callers.isGood(header), (hold) =>
        challenged(ctx, key, () => callers.ofApiKey(header, hold)),
      )
    }
  }
}

/** A wrong key is answered with how to send a right one. */
async function challenged<T>(
  ctx: RouterContext,
  key: keyof typeof CHALLENGES,
  find: () => Promise<T>,
): Promise<T> {
  try {
    return await find()
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
    { type: 'too-many-ids', faults: [faultAt([field], `must have at most ${most} items`, 'body')] },
  )
}

function contentTypeOf(mediaType = 'application/json'): string {
  return /^application\/(json|octet-stream)$/.test(mediaType) ? mediaType : `${mediaType}; charset=utf-8`
}

export function bytesOf({ body }: Reply): Uint8Array {
  return body instanceof Uint8Array ? body : canonical(body)
}

/** The headers of a reply that follow from its route and from itself, in their order. */
export function headersOf({ success }: Route, { headers }: Reply): Record<string, string> {
  const { mediaType, cache } = success
  return {
    'Content-Type': contentTypeOf(mediaType),
    ...(cache !== undefined && { 'Cache-Control': cache }),
    ...headers,
  }
}

function send(ctx: RouterContext, spec: Route, reply: Reply): void {
  const bytes = bytesOf(reply)
  const { 'Content-Type': type, ...others } = headersOf(spec, reply)
  ctx.status = spec.success.status ?? 200
  // Before the body, for which Koa would find a type of its own.
  ctx.set('Content-Type', type!)
  // Shares the memory: copies would pile up for a client that sends many requests and reads no answers.
  ctx.body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  ctx.set(others)
  if (spec.method !== 'GET') return
  const tag = entityTag(bytes)
  ctx.set('ETag', tag)
  if (isNamedBy(ctx.headers['if-none-match'], tag)) {
    ctx.status = 304
    ctx.body = null
  }
}
