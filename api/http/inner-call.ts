// A call that another call consists of: it is handled, counted and answered as if the caller had sent it.
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { canonical } from '../../pipeline/proof/canonical.ts'
import type { Answer } from './answer.ts'
import { problemOf } from './problems.ts'
import type { InnerAnswer, InnerRequest, Route } from './route.ts'

/** The part of a path that a parameter takes. */
const PARAMETER = /^\{(\w+)\}$/

/** Finds the call at a path, and what its parameters are; undefined where there is none. */
export function routeAt(
  routes: readonly Route[],
  method: string,
  path: string,
): { spec: Route; params: Record<string, string> } | undefined {
  const parts = path.split('/')
  for (const spec of routes) {
    const named = spec.path.split('/')
    if (spec.method !== method || named.length !== parts.length) continue
    const fits = named.every((part, index) => PARAMETER.test(part) || part === parts[index])
    if (!fits) continue
    const params = named.flatMap((part, index) => {
      const name = PARAMETER.exec(part)?.[1]
      return name === undefined ? [] : [[name, decodeURIComponent(parts[index]!)] as const]
    })
    return { spec, params: Object.fromEntries(params) }
  }
  return undefined
}

/** Makes the request of an inner call, which comes over no connection. */
export function innerRequest({ headers, body }: InnerRequest): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
  const all = {
    ...headers,
    ...(bytes && { 'content-type': 'application/json', 'content-length': String(bytes.byteLength) }),
  }
  request.headers = all
  request.rawHeaders = Object.entries(all).flat()
  if (bytes) request.push(bytes)
  request.push(null)
  return request
}

export function innerAnswer(
  handled: { headers: Record<string, string> } & ({ answer: Answer } | { error: unknown }),
): InnerAnswer {
  if ('answer' in handled) {
    const { status, headers, body } = handled.answer
    return { status, headers: new Headers({ ...handled.headers, ...headers }), bytes: body }
  }
  const { problem, headers } = problemOf(handled.error)
  const all = new Headers({ ...handled.headers, ...headers })
  const failure = problem.status >= 500 ? { failure: handled.error as Error } : {}
  return { status: problem.status, headers: all, bytes: canonical(problem), ...failure }
}
