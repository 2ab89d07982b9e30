// A call that another call consists of: it is handled, counted and answered as if the caller had sent it.
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { canonical } from '../../pipeline/proof/canonical.ts'
import type { Answer } from './answer.ts'
import { problemOf } from './problems.ts'
import type { InnerAnswer, InnerRequest } from './route.ts'
import { keysIn } from './sent-headers.ts'

/** Makes the request of an inner call, which comes over no connection, with the key of the `outer` one. */
export function innerRequest({ isOwn, body }: InnerRequest, outer: IncomingMessage): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  const [key] = isOwn ? keysIn(outer) : []
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
  const headers = {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(bytes && { 'content-type': 'application/json', 'content-length': String(bytes.byteLength) }),
  }
  request.headers = headers
  request.rawHeaders = Object.entries(headers).flat()
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
