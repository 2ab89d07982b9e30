// A call of the API: what it takes, who may make it and what it answers, as a plain function over validated input;
// with the words and the examples by which the OpenAPI document describes it.
import { z } from 'zod'
import type { KeyRecord } from '../pipeline/access/registry.ts'
import type { Fault } from '../schemas/errors.ts'
import { noQuery } from '../schemas/requests.ts'
import type { ApiContext } from './context.ts'
import type { Caller } from './limits/callers.ts'
import type { LimitedCall } from './limits/admission.ts'

/** Whose key a call wants: none, a client's or agent's `X-API-Key` if there is one, or an agent's bearer token. */
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
  /** By which a caller says that this is the same request again; only of a call that is `idempotent`. */
  idempotencyKey: string | undefined
}

/** Where the document lists a call. */
export type Tag = 'Agents' | 'Verification' | 'Records' | 'Questions' | 'Method' | 'Service'

/** Headers that only the success of some calls has; with `ETag` a call may answer 304. */
export type SuccessHeader = 'ETag' | 'X-Service-Signature' | 'Vary'

/** What a problem says: its detail, and which values were wrong. */
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
  /** As what the call is counted; undefined for one that anybody may make at any rate. */
  limit?: LimitedCall
  /** Whether the call takes an `Idempotency-Key`. */
  idempotent?: true
  /** Whether the call fails while the store does not answer. */
  needsStore?: true
  params: P
  query: Q
  body: B
  /** Values of the parameters by their names, and a body. */
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
  /** Examples of the failures that are this call's own, or that this call words in its own way, by status. */
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

/** What a call is made of that anybody may make with nothing but its path. */
export const PLAIN_GET = {
  method: 'GET',
  key: 'none',
  params: z.strictObject({}),
  query: noQuery,
  body: z.undefined(),
} as const
