// A call of the API: its input, its callers and its answer, as a plain function over validated input, with
// the words and examples for the OpenAPI document.
import { z } from 'zod'
import { type Fault, ServiceError } from '../../schemas/errors.ts'
import type { ProblemName } from '../../schemas/problems.ts'
import type { ApiContext } from './context.ts'
import type { Release } from '../published/release-payloads.ts'
import type { OperatorScope } from '../../schemas/tiers.ts'
import type { Caller, KeyOf } from '../limits/callers.ts'
import type { Effort } from './compressed.ts'
import type { LimitedCall } from '../limits/admission.ts'
import type { Asker } from '../turns.ts'

/**
 * The key that a call takes: none, an optional key of anyone, in `X-API-Key` or as bearer token, or the
 * bearer token of an agent or an operator. A call that takes none refuses a wrong one all the same.
 */
export type KeyPolicy = 'none' | 'optional' | 'agent' | 'operator'

/**
 * Challenges that say how to send the key of a call. No scheme is registered for a key in a separate header.
 */
const [BEARER, EITHER] = ['Bearer', 'Bearer, ApiKey header="X-API-Key"']
export const CHALLENGES = { agent: BEARER, operator: BEARER, optional: EITHER, none: EITHER } as const

/** A body that is no text: a generated client that took it for one would lose bytes of it. */
export const bytes = z.string().meta({ format: 'binary' })

/**
 * The `Cache-Control` of bytes that never change and that nobody can take back. No answer about an agent or a
 * person has it, not even of an earlier release: a name may be hidden or erased, and retention deletes
 * releases.
 */
export const FOR_EVER = 'public, max-age=31536000, immutable'

interface CallerOf {
  none: { kind: 'anonymous' }
  optional: Caller
  agent: KeyOf<'agent'>
  operator: KeyOf<'operator'>
}

export interface Reply {
  /** That of the route if it is left out. */
  status?: number
  /** An object is sent as canonical JSON, bytes are sent as they are. */
  body: object | Uint8Array
  /**
   * Sent piece by piece instead of the body, for answers that are too large for the memory. It has a length
   * and an entity tag only if the headers say them, and no signature. A failure breaks the connection off.
   */
  stream?: () => AsyncIterable<Uint8Array>
  headers?: Record<string, string>
  /** Whether this call repeats an earlier one. Only the earlier one counts. */
  isRepeated?: boolean
}

/** A call that another call makes in the name of its caller. */
export interface InnerRequest {
  params: Record<string, string>
  querystring: string
  /** Whether the key of the caller is sent. */
  isOwn: boolean
  body: object | undefined
}

export interface InnerAnswer {
  status: number
  headers: Headers
  bytes: Uint8Array
  /** The failure of the service, if there was one: throw it, so that an operator is told. */
  failure?: Error
}

export interface RouteRequest<P, Q, B, K extends KeyPolicy> {
  params: P
  query: Q
  body: B
  caller: CallerOf[K]
  /**
   * The same in every repetition of a request; undefined if none was sent or the route is not `idempotent`.
   */
  idempotencyKey: string | undefined
  /**
   * A `repeatable` call calls this before it does anything new.
   *
   * @throws ServiceError `limited` for a call over the limit.
   */
  assertAdmitted: () => void
  /** For whom the work is done, and who pays for it. */
  asker: Asker
  /** Whether the caller wants the head of the answer alone. */
  isHead: boolean
  /** Returns a header of the request, named in lower case. */
  header: (name: string) => string | undefined
  /**
   * Makes another call of this service for the same caller. It is identified, counted and answered anew, and
   * this call counts nothing from then on.
   */
  inner: (spec: Route, request: InnerRequest) => Promise<InnerAnswer>
}

/** The part of the document that lists a call. */
export type Tag =
  'Agents' | 'Operator' | 'Verification' | 'Records' | 'Questions' | 'Log' | 'Method' | 'Service'

/** Headers that some calls add to a successful answer. */
export type SuccessHeader =
  'X-Service-Signature' | 'X-Service-Receipt' | 'Vary' | 'Location' | 'Cross-Origin-Resource-Policy'

/** The text of a problem: its type, its detail, and the wrong values. */
export interface ProblemText {
  type: ProblemName
  detail: string
  errors?: readonly Fault[]
}

/** The description of a call. It is a POST if it has a body, and otherwise a GET unless `method` says so. */
interface RouteSpec<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, K extends KeyPolicy> {
  /** The path, with parameters as `{name}`, and at its end `{+name}` for a parameter of several parts. */
  path: string
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  operationId: string
  tag: Tag
  summary: string
  description: string
  /** False for a call that is no part of the API, so that the document omits it. */
  isDocumented?: false
  /** `none` if it is left out. */
  key?: K
  /** The scope that an operator's key must have; any if it is left out. */
  scope?: OperatorScope
  /** The limit that counts the call; that of reads if it is left out. */
  limit?: LimitedCall
  /** False for a GET whose answer no web page may read. No page reads those of an operator's key anyway. */
  isCrossOrigin?: false
  /** Whether the log of the operator has the call, also if it is refused. */
  isLogged?: true
  /** Whether the call takes an `Idempotency-Key`. */
  idempotent?: true
  /** Whether a call over the limit may still be answered if its `Idempotency-Key` repeats an earlier call. */
  repeatable?: true
  /** Whether the answer depends on how far this node has followed the store. */
  follows?: true
  /** Whether the call answers 503 while the store does not answer. */
  needsStore?: true
  /**
   * Whether the query has a `release` (`releaseQuery`), to answer from an earlier one: `handle` gets that
   * release then.
   */
  namesRelease?: true
  /**
   * Whether the answer depends on the questions: the call waits until the node has read them, and answers 503
   * if that takes too long.
   */
  needsQuestions?: true
  /** The parameters of the path and of the query; none if they are left out. */
  params?: P
  query?: Q
  body?: B
  /** Whether a call without a body is one with an empty object. */
  isBodyOptional?: true
  /** The most bytes of the body; `BODY_LIMIT_BYTES` if it is left out. */
  bodyLimitBytes?: number
  /**
   * The most items that a list of the body may have, by its field. They are counted before any item is
   * validated.
   */
  mostItems?: Record<string, (caller: Caller, context: ApiContext) => number>
  /** Whether and how well the answer may be compressed. A signed answer never is. */
  compressed?: Effort
  /** How many calls of its limit a call counts as, by its input; one if left out. */
  countsAs?: (input: { query: z.infer<Q>; body: z.infer<B> }) => number
  /** Example values of the parameters by their names, and an example body. */
  examples?: { params?: Record<string, string>; query?: Record<string, string | number>; body?: object }
  success: {
    /** 200 if it is left out. */
    status?: number
    description: string
    body: z.ZodType
    /** JSON if it is left out, otherwise application/octet-stream or the type of a text in UTF-8. */
    mediaType?: string
    /** Other types of the same bytes, for callers whose `Accept` asks for them. */
    alsoAs?: readonly string[]
    /** The `Cache-Control`; left out if each reply has its own. */
    cache?: string
    example: object | string
    headers?: readonly SuccessHeader[]
    /**
     * The calls to which the answer leads, by name, each with the parameters that the answer gives, as
     * runtime expressions.
     */
    links?: Record<string, { operationId: string; parameters: Record<string, string> }>
  }
  /**
   * Examples, by status, of failures that only this call has or that it words in its own way. Failures that
   * follow from the fields above are documented without one.
   */
  problems?: Record<number, ProblemText>
  handle: (
    request: RouteRequest<z.infer<P>, z.infer<Q>, z.infer<B>, K>,
    context: ApiContext,
    release: Release,
  ) => Reply | Promise<Reply>
}

/** A route of any shape. Its own schemas validate the input before `handle` is called. */
export interface Route extends RouteSpec<z.ZodType, z.ZodType, z.ZodType, KeyPolicy> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  key: KeyPolicy
  limit: LimitedCall
  params: z.ZodType
  query: z.ZodType
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

/** Whether any web page may read the answers to a GET: not those for operators. */
export function isReadableAnywhere({ key, isCrossOrigin }: Pick<Route, 'key' | 'isCrossOrigin'>): boolean {
  return key !== 'operator' && isCrossOrigin !== false
}

/** Checks that the key of a call belongs to the agent in the path. @throws ServiceError `forbidden`. */
export function assertOwnKey(own: string, named: string): void {
  if (own !== named) throw new ServiceError('forbidden', `this key belongs to another agent than ${named}`)
}
