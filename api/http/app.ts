// The Koa application: one middleware for every request. It finds the call, measures it, and turns its errors
// into problems.
import type { RequestListener } from 'node:http'
import Koa from 'koa'
import type { Logger } from 'pino'
import type { About } from '../about.ts'
import { Refusal, rateLimitHeaders } from '../limits/admission.ts'
import type { Addresses } from '../limits/addresses.ts'
import { environmentOf } from '../mounts.ts'
import { type Answer, answerToError } from './answer.ts'
import { CROSS_ORIGIN_HEADERS, type Head, firstHeaders, ownHeaders } from './answer-head.ts'
import { type Calls, type Contexts, callsByPath } from './calls.ts'
import { endOfTurn } from './end-of-turn.ts'
import { ANONYMOUS, handle } from './handle.ts'
import type { Metrics } from './metrics.ts'
import { withNet } from './net.ts'
import { HttpError } from './problems.ts'
import { takeHead } from './request-head.ts'
import type { Route } from './route.ts'
import { inForm, send, withoutBody } from './send.ts'

/** The components that all environments share. */
export interface AppComponents {
  routes: readonly Route[]
  logger: Logger
  metrics: Metrics
  /** Returns an id that no other request has. */
  newRequestId: () => string
  /** Milliseconds of a clock that only goes forward. */
  monotonicMs: () => number
  networksOf: Addresses['ofRequest']
  /** False once the service is shutting down. */
  accepting: () => boolean
  /** The operator's words, for pages that tell of an error. */
  about?: About | undefined
}

interface Application extends AppComponents {
  contexts: Contexts
  callsAt: (path: string) => Calls | undefined
}

/** Serves the same routes for each environment, under its own path and with its own context. */
export function createListener(contexts: Contexts, components: AppComponents): RequestListener {
  const application = { ...components, contexts, callsAt: callsByPath(contexts, components.routes) }
  const app = new Koa()
  app.on('error', (error: unknown) => {
    components.logger.debug({ err: error }, 'the connection failed')
  })
  app.use(async (ctx) => {
    // Koa sets headers one by one, and sends them apart from a body of bytes.
    ctx.respond = false
    try {
      await answered(ctx, application)
    } catch (error) {
      answerFailure(error, ctx, components)
    }
  })
  const answer = app.callback()
  return (req, res) => {
    // An exception in a callback of a call must harm no other call.
    const fail = (error: unknown) => {
      answerFailure(error, { req, res }, components)
    }
    withNet(fail, () => void answer(req, res))
  }
}

/** Measures a request, and answers any error in it with a problem. */
async function answered(ctx: Koa.Context, application: Application): Promise<void> {
  const { newRequestId, monotonicMs, logger, metrics, accepting } = application
  const startedMs = monotonicMs()
  const requestId = newRequestId()
  const told: Told = { head: firstHeaders(requestId), route: 'none', keyId: undefined }
  let answer: Answer
  try {
    takeHead(ctx, told.head)
    answer = await answerTo(ctx, told, application)
  } catch (error) {
    const { req: request, path } = ctx
    answer = answerToError(error, { request, requestId, path, isForPerson: isForPerson(ctx) }, application)
  }
  await endOfTurn()
  if (!accepting()) told.head['Connection'] = 'close'
  const { method, path } = ctx
  const { status } = answer
  const seconds = (monotonicMs() - startedMs) / 1000
  metrics.requests.observe({ method, route: told.route, status }, seconds)
  logger.debug({ requestId, method, path, status, seconds, keyId: told.keyId }, 'answered')
  send(ctx.res, told.head, answer, logger)
}

/** Facts of a request that its answer has even if it is an error. */
interface Told {
  /** The first headers of the answer. */
  head: Head
  /** The template of the path that was called. */
  route: string
  /** The id of the caller's key. */
  keyId: string | undefined
}

/** Makes the call of a request. @throws whatever the call does, and HttpError where there is no call. */
async function answerTo(ctx: Koa.Context, told: Told, application: Application): Promise<Answer> {
  if (ctx.url === '*') return withoutBody(204, { Allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' })
  const calls = application.callsAt(ctx.path)
  const isOptions = ctx.method === 'OPTIONS'
  const wanted = isOptions ? ctx.get('Access-Control-Request-Method') : ctx.method
  // Any web page may read the answer to a GET, also one that tells of an error.
  const isReadable = (wanted === 'GET' || wanted === 'HEAD') && calls?.isReadable !== false
  if (isReadable) Object.assign(told.head, CROSS_ORIGIN_HEADERS)
  const call = isOptions ? undefined : calls?.callOf(ctx)
  if (!call) {
    await countOther(ctx, told, application)
    return isOptions && isReadable ? withoutBody(204, PREFLIGHT_HEADERS) : answerWithoutCall(ctx, calls, told)
  }
  const { spec, context, params, template } = call
  told.route = template
  const { req: request, querystring } = ctx
  const routedRequest = { request, params, querystring }
  const { headers, keyId, ...made } = await handle(
    routedRequest,
    spec,
    context,
    application.networksOf(request),
  )
  told.keyId = keyId
  Object.assign(told.head, headers)
  if ('error' in made) throw made.error
  return inForm(ctx, spec, made.answer)
}

/** @throws HttpError for an unknown path, or a method that the path does not take. */
function answerWithoutCall({ path, method }: Koa.Context, calls: Calls | undefined, { head }: Told): Answer {
  const allow = calls?.methodsAt(path).join(', ')
  if (!allow) throw new HttpError('unknown-path', `there is no path ${path}`)
  head['Allow'] = allow
  if (method === 'OPTIONS') return withoutBody(200, { 'Content-Type': 'text/plain; charset=utf-8' })
  throw new HttpError('wrong-method', `${path} takes only ${allow}`)
}

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Methods': 'GET, HEAD',
  'Access-Control-Allow-Headers': 'Authorization, X-API-Key, If-None-Match, Range, If-Range',
  'Access-Control-Max-Age': '86400',
}

/**
 * Counts a request that no call counts: for a path that does not exist, or by a method that the path does not
 * take.
 *
 * @throws Refusal.
 */
async function countOther(
  ctx: Koa.Context,
  { head }: Told,
  { contexts, networksOf }: Application,
): Promise<void> {
  const context = contexts[environmentOf(ctx.path)]
  const { admitted, state } = (await context?.limits.admit('other', ANONYMOUS, networksOf(ctx.req))) ?? {}
  if (admitted !== false || !state) return
  Object.assign(head, rateLimitHeaders(state))
  throw new Refusal(state)
}

/** Whether a browser asks in order to show the answer to a person. Programs accept anything, or name JSON. */
function isForPerson(ctx: Koa.Context): boolean {
  const isRead = ctx.method === 'GET' || ctx.method === 'HEAD'
  return isRead && ctx.accepts('application/problem+json', 'application/json', 'text/html') === 'text/html'
}

/** Answers a request that failed where nothing else answers it, or breaks off an answer that has begun. */
function answerFailure(
  error: unknown,
  { req: request, res: response }: Pick<Koa.Context, 'req' | 'res'>,
  components: AppComponents,
): void {
  const { logger, metrics, newRequestId } = components
  const path = request.url!
  try {
    if (response.headersSent || response.destroyed) {
      logger.error({ err: error, path }, 'a request failed after its answer had begun')
      if (!response.writableEnded) response.destroy()
      return
    }
    const requestId = newRequestId()
    const answer = answerToError(error, { request, requestId, path, isForPerson: false }, components)
    const head = { ...firstHeaders(requestId), ...ownHeaders(answer), Connection: 'close' }
    response.writeHead(answer.status, head).end(answer.body)
    metrics.requests.observe({ method: request.method!, route: 'none', status: answer.status }, 0)
  } catch {
    logger.error({ err: error, path }, 'a request was left without an answer')
    response.destroy()
  }
}
