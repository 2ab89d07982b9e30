// The Koa application: one way from a request to a validated call, and one way from an error to a problem.
import Router, { type RouterContext } from '@koa/router'
import Koa from 'koa'
import { z } from 'zod'
import { canonical } from '../pipeline/sign.ts'
import { noQuery } from '../schemas/requests.ts'
import { readJson } from './body.ts'
import type { ApiContext } from './context.ts'
import { openApiDocument } from './openapi.ts'
import { HttpError, invalidInput, problemOf } from './problems.ts'
import { type Reply, type Route, route } from './route.ts'
import { register, submitForecast } from './routes/agents.ts'
import { getQuestion, listQuestions, methodology, methodologyDocument, snapshots } from './routes/records.ts'
import { livez, metrics, readyz } from './routes/service.ts'
import { bulk, publications } from './routes/verification.ts'

export interface Documents {
  /** For the OpenAPI document. */
  version: string
  /** docs/methodology.md, as the service publishes it. */
  methodology: Uint8Array
}

/** The routes of the service. */
export function allRoutes({ version, methodology: text }: Documents): Route[] {
  const routes: Route[] = [
    register,
    submitForecast,
    ...publications,
    bulk,
    snapshots,
    methodology,
    methodologyDocument(text),
    listQuestions,
    getQuestion,
    livez,
    readyz,
    metrics,
  ]
  const document = canonical(openApiDocument(routes, version))
  const openapi = route({
    method: 'GET',
    path: '/openapi.json',
    summary: 'This document',
    key: 'none',
    params: z.strictObject({}),
    query: noQuery,
    body: z.undefined(),
    success: { status: 200, body: z.looseObject({}) },
    failures: [],
    handle: () =>
      Promise.resolve({
        status: 200,
        body: document,
        headers: { 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=60' },
      }),
  })
  return [...routes, openapi]
}

export function createApp(context: ApiContext, routes: readonly Route[]): Koa {
  const app = new Koa()
  const router = new Router({ strict: true, sensitive: true })
  for (const spec of routes) {
    const path = spec.path.replace(/\{(\w+)\}/g, ':$1')
    router.register(path, [spec.method], (ctx: RouterContext) => call(ctx, spec, context))
  }
  app.on('error', (error: unknown) => {
    context.logger.debug({ err: error }, 'the connection failed while an answer was being sent')
  })
  app.use((ctx, next) => answered(ctx, next, context))
  app.use(crossOrigin)
  app.use(router.routes())
  app.use(router.allowedMethods())
  return app
}

/** Any web page may read what GET answers, errors too; nothing else. */
function crossOrigin(ctx: Koa.Context, next: () => Promise<unknown>): unknown {
  const wanted = ctx.method === 'OPTIONS' ? ctx.get('Access-Control-Request-Method') : ctx.method
  if (wanted !== 'GET' && wanted !== 'HEAD') return next()
  ctx.set('Access-Control-Allow-Origin', '*')
  ctx.set('Access-Control-Expose-Headers', 'ETag, X-Service-Signature, Retry-After, X-Request-Id')
  if (ctx.method !== 'OPTIONS') return next()
  ctx.set('Access-Control-Allow-Methods', 'GET, HEAD')
  ctx.set('Access-Control-Allow-Headers', 'X-API-Key, If-None-Match')
  ctx.set('Access-Control-Max-Age', '86400')
  ctx.status = 204
  return undefined
}

/** Measures a request and turns whatever went wrong in it into a problem. */
async function answered(ctx: Koa.Context, next: () => Promise<unknown>, context: ApiContext): Promise<void> {
  const started = performance.now()
  const requestId = context.newId()
  ctx.set('X-Request-Id', requestId)
  try {
    await next()
    const allow = ctx.response.get('Allow')
    // 501 is what the router says of a method that it does not know, on whatever path.
    const wrongMethod = (ctx.status === 405 || ctx.status === 501) && allow !== ''
    if (wrongMethod) throw new HttpError(405, `${ctx.path} is called with ${allow}`)
    if (ctx.status === 501 || (ctx.status === 404 && !ctx.body)) {
      ctx.remove('Allow')
      throw new HttpError(404, `there is no call ${ctx.path}`)
    }
  } catch (error) {
    sendProblem(ctx, error, context, requestId)
  }
  if (!context.accepting()) ctx.set('Connection', 'close')
  const routePath: unknown = ctx['_matchedRoute']
  const label = typeof routePath === 'string' ? routePath : 'none'
  const seconds = (performance.now() - started) / 1000
  context.metrics.requests.observe({ method: ctx.method, route: label, status: ctx.status }, seconds)
  context.logger.debug(
    { requestId, method: ctx.method, path: ctx.path, status: ctx.status, seconds },
    'answered',
  )
}

function sendProblem(ctx: Koa.Context, error: unknown, context: ApiContext, requestId: string): void {
  const { problem, headers } = problemOf(error)
  // 503 says that something else does not answer, or that the service is stopping; 500 that it has failed itself.
  if (problem.status >= 500) {
    const level = problem.status === 503 ? 'warn' : 'error'
    context.logger[level]({ err: error, requestId, path: ctx.path }, problem.detail)
  }
  ctx.status = problem.status
  ctx.set(headers)
  ctx.set('Cache-Control', 'no-store')
  ctx.body = Buffer.from(canonical(problem))
  ctx.set('Content-Type', 'application/problem+json')
  // What was not read of a body would be taken for the next request.
  if (!ctx.req.readableEnded && ctx.req.headers['content-length'] !== '0' && ctx.method === 'POST') {
    ctx.set('Connection', 'close')
  }
}

async function call(ctx: RouterContext, spec: Route, context: ApiContext): Promise<void> {
  const params = parsed(spec.params, ctx.params, 'path')
  const caller = await callerOf(ctx, spec, context)
  const query = parsed(spec.query, Object.fromEntries(new URLSearchParams(ctx.querystring)), 'query')
  const body = spec.method === 'POST' ? parsed(spec.body, await readJson(ctx.req), 'body') : undefined
  send(ctx, await spec.handle({ params, query, body, caller, address: ctx.ip }, context))
}

function callerOf(ctx: RouterContext, spec: Route, { callers }: ApiContext) {
  switch (spec.key) {
    case 'agent':
      return callers.ofBearer(ctx.headers.authorization)
    case 'optional':
      return callers.ofApiKey(ctx.headers['x-api-key']?.toString())
    case 'none':
      return { kind: 'anonymous' } as const
  }
}

function parsed(schema: z.ZodType, input: unknown, what: string): unknown {
  const result = schema.safeParse(input)
  if (!result.success) throw invalidInput(what, result.error)
  return result.data
}

function send(ctx: RouterContext, { status, body, headers = {} }: Reply): void {
  ctx.status = status
  ctx.body = Buffer.from(body instanceof Uint8Array ? body : canonical(body))
  ctx.set('Content-Type', 'application/json')
  ctx.set(headers)
  // Koa answers 304 where the entity tag is the one that the caller has.
  if (headers['ETag'] !== undefined && ctx.fresh) {
    ctx.status = 304
    ctx.body = null
  }
}
