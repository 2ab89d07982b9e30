// A call of the API: what it takes, who may make it and what it answers, as a plain function over validated
// input, with the words and examples for the OpenAPI document.
import { z } from 'zod'
import { type Fault, ServiceError } from '../../schemas/errors.ts'
import type { ProblemName } from '../../schemas/problems.ts'
import type { ApiContext } from './context.ts'
import type { Caller, KnownKey } from '../limits/callers.ts'
import type { LimitedCall } from '../limits/admission.ts'
import type { AnswerSource } from '../published/memo.ts'

/**
 * The key that a call takes: none, an optional `X-API-Key` of a client or agent, or the bearer token of an
 * agent.
 */
export type KeyPolicy = 'none' | 'optional' | 'agent'

/** How to send the key of a call. No scheme is registered for a key in a header of its own. */
export const CHALLENGES = { agent: 'Bearer', optional: 'ApiKey header="X-API-Key"' } as const

interface CallerOf {
  none: { kind: 'anonymous' }
  optional: Caller
  agent: KnownKey & { kind: 'agent' }
}

export interface Reply {
  /** Sent as canonical JSON unless it is bytes, which are sent as they are. */
  body: object | Uint8Array
  headers?: Record<string, string>
  /** Whether an earlier call was repeated: that one was counted, and this one is not. */
  isRepeated?: boolean
}

export interface RouteRequest<P, Q, B, K extends KeyPolicy> {
  params: P
  query: Q
  body: B
  caller: CallerOf[K]
  /** The same in every repetition of a request; undefined unless the route is `idempotent`. */
  idempotencyKey: string | undefined
  /**
   * For a `repeatable` call, before it does anything anew.
   *
   * @throws ServiceError `limited` for a call too many.
   */
  assertAdmitted: () => void
}

/** The part of the document that lists a call. */
export type Tag = 'Agents' | 'Verification' | 'Records' | 'Questions' | 'Log' | 'Method' | 'Service'

/** Headers of the success of some calls. */
export type SuccessHeader = 'X-Service-Signature' | 'X-Service-Receipt' | 'Vary'

/** What a problem says: its type, its detail, and which values were wrong. */
export interface ProblemText {
  type: ProblemName
  detail: string
  errors?: readonly Fault[]
}

/** The description of a call. It is a POST if it has a body or if `method` says so, and otherwise a GET. */
interface RouteSpec<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, K extends KeyPolicy> {
  /** With parameters as `{name}`, and `{+name}` at its end for one of several parts. */
  path: string
  method?: 'GET' | 'POST'
  operationId: string
  tag: Tag
  summary: string
  description: string
  /** False for what is no part of the API: it is not in the document. */
  isDocumented?: false
  /** None if it is left out. */
  key?: K
  /** The limit that counts the call: that of reads for a GET which names no other. */
  limit?: LimitedCall | 'none'
  /** Whether the call takes an `Idempotency-Key`. */
  idempotent?: true
  /** Whether a call too many may still be answered if it repeats an earlier one by its `Idempotency-Key`. */
  repeatable?: true
  /** Whether the answer depends on how far this node has followed the store. */
  follows?: true
  /** Whether the call answers 503 while the store does not answer. */
  needsStore?: true
  /**
   * Whether the answer depends on what questions there are: the call waits until the node has read them, and
   * answers 503 where that takes long.
   */
  needsQuestions?: true
  /** Of the path and of the query: none if they are left out. */
  params?: P
  query?: Q
  body?: B
  /** The most items that a list of the body may have, by its field. Decided before any item is looked at. */
  mostItems?: Record<string, (caller: Caller, context: ApiContext) => number>
  /** How many submissions a call counts as, by its body; one if left out. */
  submissions?: (body: z.infer<B>) => number
  /** Example values of the parameters by their names, and an example body. */
  examples?: { params?: Record<string, string>; query?: Record<string, string | number>; body?: object }
  success: {
    /** 200 unless another one is named. */
    status?: number
    description: string
    body: z.ZodType
    /** JSON unless another type is named: application/octet-stream, or that of a text in UTF-8. */
    mediaType?: string
    /** The `Cache-Control`; left out where each reply has its own. */
    cache?: string
    example: object | string
    headers?: readonly SuccessHeader[]
    /**
     * Calls that the answer leads to, by name: each with the parameters that it gives them, as runtime
     * expressions.
     */
    links?: Record<string, { operationId: string; parameters: Record<string, string> }>
  }
  /**
   * Examples, by status, of failures that only this call has or that it words in its own way. Failures that
   * follow from the fields above are documented without one.
   */
  problems?: Record<number, ProblemText>
  /**
   * Whether a plain POST is handled before Koa (fast/direct.ts), because the call is made so often. Its path
   * has one id at most.
   */
  isDirect?: true
  handle: (
    request: RouteRequest<z.infer<P>, z.infer<Q>, z.infer<B>, K>,
    context: ApiContext,
  ) => Reply | Promise<Reply>
  /**
   * For a GET that `follows`, of what is the same bytes for everyone: what lets it be answered before Koa
   * (fast/prepared.ts), where its path has no parameter, or one that is an id or one of `names`. `find`
   * returns what `handle` would make its reply of, without waiting, or undefined if that is not in memory;
   * the same object as long as it is current. `reply` makes of it the reply of `handle`, which may differ
   * only between callers with a key and without.
   */
  prepared?: {
    names?: readonly string[]
    find: (named: string, context: ApiContext) => AnswerSource | undefined
    reply: (found: AnswerSource, caller: Caller, context: ApiContext) => Reply
  }
}

/** A route of any shape: its input has been validated by its own schemas when `handle` is called. */
export interface Route extends RouteSpec<z.ZodType, z.ZodType, z.ZodType, KeyPolicy> {
  method: 'GET' | 'POST'
  key: KeyPolicy
  limit: LimitedCall | 'none'
  params: z.ZodType
  query: z.ZodType
}

/** A route whose answers are prepared. */
export type PreparedRoute = Route & {
  prepared: NonNullable<Route['prepared']>
  limit: 'verification' | 'read'
  follows: true
}

/** No parameters. */
const nothing = z.strictObject({})

export function route<
  P extends z.ZodType = typeof nothing,
  Q extends z.ZodType = typeof nothing,
  B extends z.ZodType = z.ZodUndefined,
  K extends KeyPolicy = 'none',
>(spec: RouteSpec<P, Q, B, K>): Route {
  const method = spec.body ? 'POST' : 'GET'
  return { method, key: 'none', limit: 'read', params: nothing, query: nothing, ...spec } as unknown as Route
}

/**
 * For a call of an agent: its key must be that of the agent in the path. @throws ServiceError `forbidden`.
 */
export function assertOwnKey(own: string, named: string): void {
  if (own !== named) throw new ServiceError('forbidden', `this key belongs to another agent than ${named}`)
}
