// Answers a request: the steps that every route has in common.
import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import type { Networks } from '../limits/addresses.ts'
import { type Answer, answerOf } from './answer.ts'
import { BODY_LIMIT_BYTES, hasBody, readJson } from './body.ts'
import type { ApiContext } from './context.ts'
import { parseIdempotencyKey } from './idempotency-key.ts'
import { innerAnswer, innerRequest } from './inner-call.ts'
import { faultAt, invalidInput, parseInput } from './input.ts'
import { rateLimitHeaders } from '../limits/admission.ts'
import { type Caller, type Guard, type KeyOf, assertScope } from '../limits/callers.ts'
import { CountedCall } from '../limits/counted-call.ts'
import { ofOneRelease } from './one-release.ts'
import { problemOf } from './problems.ts'
import { notRead } from '../questions/book.ts'
import { CHALLENGES, type InnerRequest, type Reply, type Route } from './route.ts'
import { bearersIn, sentValues } from './sent-headers.ts'

export const ANONYMOUS = { kind: 'anonymous' } as const

/** A request whose route is known. */
export interface RoutedRequest {
  request: IncomingMessage
  /** The parameters of the path, not validated. */
  params: Record<string, string>
  querystring: string
  /** The connection of the caller, if the request is one that the service makes for it. */
  socket?: IncomingMessage['socket']
}

export type Handled = {
  /** The headers of any answer to this caller, about its quota and its key. */
  headers: Record<string, string>
  keyId: string | undefined
} & ({ answer: Answer } | { error: unknown })

/** Identifies the caller, counts the request, validates its input, and calls the route. */
export async function handle(
  routedRequest: RoutedRequest,
  spec: Route,
  context: ApiContext,
  networks: Networks,
): Promise<Handled> {
  const call = new CountedCall(context.limits, networks)
  let caller: Caller = ANONYMOUS
  const told = (challenge = {}) => ({
    headers: { ...challenge, ...(call.state && rateLimitHeaders(call.state)) },
    keyId: caller.kind === 'anonymous' ? undefined : caller.key_id,
  })
  try {
    caller = await callerOf(routedRequest, spec, context, call)
    const answer = answerOf(spec, await replyOf(routedRequest, spec, context, networks, call, caller))
    if (call.usage) context.usage.count(call.usage)
    return { ...told(), answer }
  } catch (error) {
    const { status } = problemOf(error).problem
    // Other calls count whether or not they fail.
    const isByCaller = status >= 400 && status < 500
    if (spec.limit !== 'other') await call.failed(spec.limit, error, isByCaller)
    if (spec.isLogged && isByCaller && caller.kind === 'operator') {
      await context.operator.refused({ caller, call: calledAs(spec, routedRequest) }, error as Error)
    }
    return { ...told(challengeFor(error, spec)), error }
  }
}

async function replyOf(
  { request, params: given, querystring, socket = request.socket }: RoutedRequest,
  spec: Route,
  context: ApiContext,
  networks: Networks,
  call: CountedCall,
  caller: Caller,
): Promise<Reply> {
  const sentKey = spec.idempotent && request.headers['idempotency-key']?.toString()
  await call.admit(spec.limit, caller, spec.repeatable === true && sentKey !== undefined)
  const params = parseInput(spec.params, given, 'path')
  if (spec.scope !== undefined) assertScope(caller as KeyOf<'operator'>, spec.scope)
  if (spec.follows) await context.catchUp()
  if (spec.needsQuestions && !(await context.questionsRead())) throw notRead()
  const query = parseInput(spec.query, queryOf(querystring), 'query')
  const takesNone = spec.method !== 'GET' && !spec.body
  if (takesNone && hasBody(request)) parseInput(NO_FIELDS, await readJson(request, BODY_LIMIT_BYTES), 'body')
  const isOmitted = spec.isBodyOptional === true && !hasBody(request)
  const sent =
    spec.body && (isOmitted ? {} : await readJson(request, spec.bodyLimitBytes ?? BODY_LIMIT_BYTES))
  for (const field in spec.mostItems) assertLength(sent, field, spec.mostItems[field]!(caller, context))
  const body = spec.body && parseInput(spec.body, sent, 'body')
  if (spec.countsAs) await call.admitMore(spec.limit, caller, spec.countsAs({ query, body }) - 1)
  const idempotencyKey = sentKey === undefined ? undefined : parseIdempotencyKey(sentKey)
  const { assertAdmitted } = call
  const countMore = (calls: number) => call.admitMore(spec.limit, caller, calls)
  const asker = { networks, socket, countMore }
  const inner = async (other: Route, its: InnerRequest) => {
    await call.giveBack()
    return innerAnswer(
      await handle({ ...its, socket, request: innerRequest(its, request) }, other, context, networks),
    )
  }
  const header = (name: string) => request.headers[name]?.toString()
  const isHead = request.method === 'HEAD'
  const input = {
    params,
    query,
    body,
    caller,
    idempotencyKey,
    assertAdmitted,
    asker,
    isHead,
    header,
    inner,
  }
  const named = spec.namesRelease && (query as { release?: number }).release
  const reply = await ofOneRelease(context.current, named, (release) => spec.handle(input, context, release))
  if (reply.isRepeated) await call.giveBack()
  return reply
}

/** A call without a body accepts an empty object, because some clients always send one. */
const NO_FIELDS = z.strictObject({})

/** More parameters than any call knows. */
const MOST_PARAMETERS = 20

/**
 * @throws ServiceError `invalid` for a parameter that is given twice, because either could be meant, and for
 *   too many parameters.
 */
function queryOf(text: string): Record<string, string> {
  if (text === '') return {}
  // The parameters are counted before they are parsed.
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
  { request }: RoutedRequest,
  { key, limit }: Route,
  { callers }: ApiContext,
  call: CountedCall,
): Promise<Caller> {
  // Failed calls must keep neither a supervisor from hearing that the process lives, nor a reader from pages.
  if (limit === 'other' || limit === 'page') return Promise.resolve(ANONYMOUS)
  const anyCaller = (guard: Guard) =>
    callers.ofAnyKey(request.headers['x-api-key']?.toString(), bearersIn(request), guard)
  const identified = call.identify((guard): Promise<Caller> => {
    switch (key) {
      case 'agent':
        return callers.ofBearer(sentValues(request, 'authorization'), guard)
      case 'operator':
        return callers.ofOperator(sentValues(request, 'authorization'), guard)
      case 'optional':
      case 'none':
        return anyCaller(guard)
    }
  })
  // A call that needs no key is answered as without one. A good key pays for its failure, and a wrong one is
  // found out at the first call.
  return key === 'none' ? identified.then(() => ANONYMOUS) : identified
}

/** Returns the method and path of a call, without parameters of the query. */
function calledAs({ method, path }: Route, { params }: RoutedRequest): string {
  return `${method} ${path.replace(/\{(\w+)\}/g, (_whole, name: string) => params[name]!)}`
}

/** Returns, for a wrong key, the header that says how to send a right one. */
function challengeFor(error: unknown, { key }: Route): Record<string, string> | undefined {
  const isWrongKey = error instanceof ServiceError && error.kind === 'unauthorized'
  return isWrongKey ? { 'WWW-Authenticate': CHALLENGES[key] } : undefined
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
