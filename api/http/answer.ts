// The answer to a request: the reply of its route, or a problem, which is logged if an operator should know.
import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import { canonical } from '../../pipeline/proof/canonical.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { hasBody } from './body.ts'
import type { Metrics } from './metrics.ts'
import { environmentOf } from '../mounts.ts'
import { PAGE_HEADERS, problemPage } from '../pages/layout.ts'
import type { About } from '../about.ts'
import { bytesOf as pageBytes } from '../published/rendered.ts'
import { HttpError, problemOf } from './problems.ts'
import type { Reply, Route } from './route.ts'

export interface Answer {
  status: number
  /** The headers of this answer alone; answer-head.ts adds those of every answer. */
  headers: Record<string, string>
  body: Uint8Array
  /** As in a `Reply`. */
  stream?: NonNullable<Reply['stream']>
}

function contentTypeOf(mediaType = 'application/json'): string {
  return /^application\/(?:json|did\+json|vc|octet-stream)$|^image\/png$/.test(mediaType)
    ? mediaType
    : `${mediaType}; charset=utf-8`
}

export function answerOf({ success }: Route, { status, body, stream, headers }: Reply): Answer {
  const { status: usual = 200, mediaType, cache } = success
  return {
    status: status ?? usual,
    headers: {
      'Content-Type': contentTypeOf(mediaType),
      ...(cache !== undefined && { 'Cache-Control': cache }),
      ...headers,
    },
    body: body instanceof Uint8Array ? body : canonical(body),
    ...(stream && { stream }),
  }
}

export interface Failed {
  request: IncomingMessage
  requestId: string
  path: string
  /** Whether a browser asks in order to show the answer to a person. */
  isForPerson: boolean
}

export function answerToError(
  error: unknown,
  { request, requestId, path, isForPerson }: Failed,
  { logger, metrics, about }: { logger: Logger; metrics: Metrics; about?: About | undefined },
): Answer {
  const { problem, headers } = problemOf(error)
  const environment = environmentOf(path)
  if (error instanceof ServiceError && error.kind === 'corrupt') metrics.corrupt.inc({ environment })
  // A store that is unavailable may come back by itself; any other failure of the service needs an operator.
  // An HttpError is the caller's failure, such as 501 for a coding that the service does not take.
  if (problem.status >= 500 && !(error instanceof HttpError)) {
    const level = error instanceof ServiceError && error.kind === 'unavailable' ? 'warn' : 'error'
    logger[level]({ err: error, requestId, path }, problem.detail)
  }
  return {
    status: problem.status,
    headers: {
      'Content-Type': isForPerson ? 'text/html; charset=utf-8' : 'application/problem+json',
      ...headers,
      'Cache-Control': 'no-store',
      ...(isForPerson && PAGE_HEADERS),
      ...(hasUnreadRest(request) && { Connection: 'close' }),
    },
    body: isForPerson
      ? pageBytes(problemPage({ environment, publicUrl: undefined, ...(about && { about }) }, path, problem))
      : canonical(problem),
  }
}

/** Whether the body has an unread rest, which could pass for the next request. */
function hasUnreadRest(request: IncomingMessage): boolean {
  const isRead = ['POST', 'PUT', 'PATCH'].includes(request.method ?? '')
  return isRead && !request.readableEnded && hasBody(request)
}
