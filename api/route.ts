// A call of the API: what it takes, who may make it and what it answers, as a plain function over validated input,
// with the words and examples for the OpenAPI document.
import { z } from 'zod'
import type { KeyRecord } from '../pipeline/access/registry.ts'
import type { Fault } from '../schemas/errors.ts'
import { noQuery } from '../schemas/requests.ts'
import type { ApiContext } from './context.ts'
import type { Caller } from './limits/callers.ts'
import type { LimitedCall } from './limits/admission.ts'

/** The key that a call takes: none, an optional `X-API-Key` of a client or agent, or the bearer token of an agent. */
export type KeyPolicy = 'none' | 'optional' | 'agent'

interface CallerOf {
  none: { kind: 'anonymous' }
  optional: Caller
  agent: KeyRecord & { kind: 'agent' }
}

export interface Reply {
  status: number
  /** Sent as canonical JSON unless it is bytes, which are sent as they are. */
  body: object | Uint8Array
  headers?: Record<string, string>
}

export interface RouteRequest<P, Q, B, K extends KeyPolicy> {
  params: P
  query: Q
  body: B
  caller: CallerOf[K]
  /** The same in every repetition of a request; undefined unless the route is `idempotent`. */
  idempotencyKey: string | undefined
}

/** The part of the document that lists a call. */
export type Tag = 'Agents' | 'Verification' | 'Records' | 'Questions' | 'Method' | 'Service'

/** Headers of the success of some calls; one with `ETag` can also answer 304. */
export type SuccessHeader = 'ETag' | 'X-Service-Signature' | 'Vary'

/** The text of a problem: its detail, and which values were wrong. */
export interface ProblemText {
  detail: string
  errors?: readonly Fault[]
}

export interface RouteSpec<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  K extends KeyPolicy,
> {
  method: 'GET' | 'POST'
  /** With parameters as `{name}`. */
  path: string
  operationId: string
  tag: Tag
  summary: string
  description: string
  key: K
  /** The limit that counts the call, if there is one. */
  limit?: LimitedCall
  /** Whether the call takes an `Idempotency-Key`. */
  idempotent?: true
  /** Whether the call answers 503 while the store does not answer. */
  needsStore?: true
  params: P
  query: Q
  body: B
  /** Example values of the parameters by their names, and an example body. */
  examples?: { params?: Record<string, string>; query?: Record<string, string | number>; body?: object }
  success: {
    status: number
    description: string
    /** JSON unless another type is named. */
    body: z.ZodType
    mediaType?: string
    example: object | string
    headers?: readonly SuccessHeader[]
  }
  /**
   * Examples, by status, of failures that only this call has or that it words in its own way. Failures that follow
   * from the fields above are documented without one.
   */
  problems?: Record<number, ProblemText>
  handle: (
    request: RouteRequest<z.infer<P>, z.infer<Q>, z.infer<B>, K>,
    context: ApiContext,
  ) => Promise<Reply>
}

/** A route of any shape: its input has been validated by its own schemas when `handle` is called. */
export type Route = RouteSpec<z.ZodType, z.ZodType, z.ZodType, KeyPolicy>

export function route<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, K extends KeyPolicy>(
  spec: RouteSpec<P, Q, B, K>,
): Route {
  return spec as unknown as Route
}

/** The fields of a GET that needs nothing but its path. */
export const PLAIN_GET = {
  method: 'GET',
  key: 'none',
  params: z.strictObject({}),
  query: noQuery,
  body: z.undefined(),
} as const
