// The Koa application: its paths, the headers of its answers, and the one place that turns errors into
// problems.
import { Readable } from 'node:stream'
import Router, { type RouterContext } from '@koa/router'
import Koa from 'koa'
import type { Logger } from 'pino'
import { ENVIRONMENTS, type Environment } from '../../schemas/values.ts'
import { Refusal, rateLimitHeaders } from '../limits/admission.ts'
import type { About } from '../about.ts'
import type { Addresses, Networks } from '../limits/addresses.ts'
import { type Answer, answerToError } from './answer.ts'
import { CROSS_ORIGIN_HEADERS, firstHeaders, ownHeaders } from './answer-head.ts'
import { CODINGS, compressed, tagOfForm } from './compressed.ts'
import { entityTag, isNamedBy } from './entity-tag.ts'
import { ANONYMOUS, handle } from './handle.ts'
import type { NodeContext } from './context.ts'
import type { Metrics } from './metrics.ts'
import { MOUNTS, environmentOf } from '../mounts.ts'
import { HttpError } from './problems.ts'
import { takeHead } from './request-head.ts'
import { type Route, isReadableAnywhere } from './route.ts'

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

type Contexts = Partial<Record<Environment, NodeContext>>

/** Serves the same routes for each environment, under its own path and with its own context. */
export function createApp(contexts: Contexts, components: AppComponents): Koa {
  const app = new Koa()
  const router = new Router({ strict: true, sensitive: true })
  for (const environment of ENVIRONMENTS) {
    const context = contexts[environment]
    if (!context) continue
    for (const spec of components.routes) {
      const path = MOUNTS[environment] + routerPath(spec.path)
      router.register(path, [spec.method], (ctx: RouterContext) =>
        handled(ctx, spec, context, components.networksOf),
      )
    }
  }
  app.on('error', (error: unknown) => {
    components.logger.debug({ err: error }, 'the connection failed while an answer was being sent')
  })
  app.use((ctx, next) => answered(ctx, next, contexts, components))
  app.use(crossOrigin(contexts, components.routes))
  app.use(onlyItself(contexts, components.routes))
  app.use(router.routes())
  app.use(router.allowedMethods())
  return app
}

/** Handles a request, and sends the answer, without its body if the caller has it already. */
async function handled(
  ctx: RouterContext,
  spec: Route,
  context: NodeContext,
  networksOf: Addresses['ofRequest'],
): Promise<void> {
  const { req: request, params, querystring } = ctx
  const asked = { request, params, querystring }
  const { headers, keyId, ...made } = await handle(asked, spec, context, networksOf(request))
  ctx.state['keyId'] = keyId
  ctx.set(headers)
  if ('error' in made) throw made.error
  if (made.answer.stream) {
    send(ctx, made.answer)
    const { ETag: tag } = made.answer.headers
    if (tag !== undefined) leaveOutIfKnown(ctx, tag)
    return
  }
  const { answer, tag } = await inCoding(ctx, inType(ctx, made.answer, spec), spec)
  send(ctx, answer)
  if (spec.method !== 'GET') return
  ctx.set('ETag', tag)
  leaveOutIfKnown(ctx, tag)
}

/** Leaves the body out if the caller has it already. */
function leaveOutIfKnown(ctx: Koa.Context, tag: string): void {
  if (!isNamedBy(ctx.headers['if-none-match'], tag)) return
  ctx.status = 304
  ctx.body = null
}

/** Returns the answer under the type that the caller asks for, otherwise under the usual one. */
function inType(ctx: Koa.Context, answer: Answer, { success }: Route): Answer {
  const { mediaType, alsoAs } = success
  if (alsoAs === undefined) return answer
  ctx.vary('Accept')
  const asked = ctx.accepts(mediaType!, ...alsoAs)
  if (asked === false) return answer
  return { ...answer, headers: { ...answer.headers, 'Content-Type': asked } }
}

/** Returns the answer in the coding that the caller takes, with its entity tag. */
async function inCoding(
  ctx: Koa.Context,
  answer: Answer,
  { compressed: effort }: Route,
): Promise<{ answer: Answer; tag: string }> {
  const tag = entityTag(answer.body)
  if (effort === undefined) return { answer, tag }
  ctx.vary('Accept-Encoding')
  const coding = CODINGS.find((each) => ctx.acceptsEncodings(each, 'identity') === each)
  const body = coding && (await compressed(answer.body, coding, effort))
  if (!body) return { answer, tag }
  const headers = { ...answer.headers, 'Content-Encoding': coding }
  return { answer: { ...answer, headers, body }, tag: tagOfForm(tag, coding) }
}

function send(ctx: Koa.Context, answer: Answer): void {
  const { status, body, stream } = answer
  ctx.status = status
  // The headers come first, because Koa guesses the type of a body that has none.
  ctx.set(ownHeaders(answer))
  if (stream) {
    ctx.body = Readable.from(stream(), { objectMode: false })
    return
  }
  // Shares the memory: copies would pile up for a client that sends many requests and reads no answers.
  ctx.body = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}

/** Converts a path for the router: `{name}` is one part of it, `{+name}` is all that follows. */
export function routerPath(path: string): string {
  return path.replace(
    /\{(\+?)(\w+)\}/g,
    (_whole, several: string, name: string) => (several ? '*' : ':') + name,
  )
}

/** Returns a pattern of all paths that a path with parameters stands for. */
function patternOf(path: string): RegExp {
  const parts = path.split(/(\{\+?\w+\})/).map((part) => {
    if (!part.startsWith('{')) return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    return part.startsWith('{+') ? '.+' : '[^/]+'
  })
  return new RegExp(`^${parts.join('')}$`)
}

/** Lets any web page read the answers to GET, errors included, except those of the operator's routes. */
function crossOrigin(contexts: Contexts, routes: readonly Route[]): Koa.Middleware {
  const closed = mounted(
    contexts,
    routes.filter((spec) => !isReadableAnywhere(spec)),
  ).map(({ path }) => patternOf(path))
  return (ctx, next) => {
    const wanted = ctx.method === 'OPTIONS' ? ctx.get('Access-Control-Request-Method') : ctx.method
    if (wanted !== 'GET' && wanted !== 'HEAD') return next()
    if (closed.some((pattern) => pattern.test(ctx.path))) return next()
    ctx.set(CROSS_ORIGIN_HEADERS)
    if (ctx.method !== 'OPTIONS') return next()
    ctx.set('Access-Control-Allow-Methods', 'GET, HEAD')
    ctx.set('Access-Control-Allow-Headers', 'Authorization, X-API-Key, If-None-Match, Range, If-Range')
    ctx.set('Access-Control-Max-Age', '86400')
    ctx.status = 204
    return undefined
  }
}

/** Returns the paths and methods of routes, under the path of each environment. */
function mounted(contexts: Contexts, routes: readonly Route[]): Pick<Route, 'path' | 'method'>[] {
  return (Object.keys(contexts) as Environment[]).flatMap((environment) =>
    routes.map(({ path, method }) => ({ path: MOUNTS[environment] + path, method })),
  )
}

/**
 * Makes a path without a parameter match only itself: `/agents/register` names no agent, so GET is a wrong
 * method there.
 */
function onlyItself(contexts: Contexts, routes: readonly Route[]): Koa.Middleware {
  const paths = mounted(
    contexts,
    routes.filter(({ path }) => !path.includes('{')),
  )
  const routesAt = Map.groupBy(paths, ({ path }) => path)
  return (ctx, next) => {
    const methods = routesAt
      .get(ctx.path)
      ?.flatMap(({ method }) => (method === 'GET' ? ['HEAD', 'GET'] : method))
    if (!methods || methods.includes(ctx.method)) return next()
    ctx.set('Allow', methods.join(', '))
    if (ctx.method === 'OPTIONS') ctx.body = ''
    else ctx.status = 405
    return undefined
  }
}

/** Measures a request, and answers any error in it with a problem. */
async function answered(
  ctx: Koa.Context,
  next: () => Promise<unknown>,
  contexts: Contexts,
  { newRequestId, monotonicMs, logger, metrics, accepting, networksOf, about }: AppComponents,
): Promise<void> {
  const startedMs = monotonicMs()
  const requestId = newRequestId()
  ctx.set(firstHeaders(requestId))
  try {
    takeHead(ctx)
    if (ctx.url === '*') answerForAll(ctx)
    else await next()
    if (ctx['_matchedRoute'] === undefined) await countOther(ctx, contexts, networksOf(ctx.req))
    const allow = ctx.response.get('Allow')
    // The router answers 501 to a method that it does not know, on any path.
    const wrongMethod = (ctx.status === 405 || ctx.status === 501) && allow !== ''
    if (wrongMethod) throw new HttpError('wrong-method', `${ctx.path} takes only ${allow}`)
    if (ctx.status === 501 || (ctx.status === 404 && !ctx.body)) {
      ctx.remove('Allow')
      throw new HttpError('unknown-path', `there is no path ${ctx.path}`)
    }
  } catch (error) {
    const { req: request, path } = ctx
    const failed = { request, requestId, path, isForPerson: isForPerson(ctx) }
    send(ctx, answerToError(error, failed, { logger, metrics, about }))
  }
  if (!accepting()) ctx.set('Connection', 'close')
  const routePath: unknown = ctx['_matchedRoute']
  const label = typeof routePath === 'string' ? routePath : 'none'
  const seconds = (monotonicMs() - startedMs) / 1000
  metrics.requests.observe({ method: ctx.method, route: label, status: ctx.status }, seconds)
  const { method, path, status } = ctx
  const keyId: unknown = ctx.state['keyId']
  logger.debug({ requestId, method, path, status, seconds, keyId }, 'answered')
}

/**
 * Counts a request that no route counts: for a path that does not exist, or by a method that the path does
 * not take.
 *
 * @throws Refusal.
 */
async function countOther(ctx: Koa.Context, contexts: Contexts, networks: Networks): Promise<void> {
  const context = contexts[environmentOf(ctx.path)]
  const { admitted, state } = (await context?.limits.admit('other', ANONYMOUS, networks)) ?? {}
  if (admitted !== false || !state) return
  ctx.set(rateLimitHeaders(state))
  throw new Refusal(state)
}

/** Answers `OPTIONS *`, which asks what the service can do anywhere (RFC 9110, 9.3.7). */
function answerForAll(ctx: Koa.Context): void {
  ctx.set('Allow', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS')
  ctx.status = 204
}

/** Whether a browser asks in order to show the answer to a person. Programs accept anything, or name JSON. */
function isForPerson(ctx: Koa.Context): boolean {
  const isRead = ctx.method === 'GET' || ctx.method === 'HEAD'
  return isRead && ctx.accepts('application/problem+json', 'application/json', 'text/html') === 'text/html'
}
