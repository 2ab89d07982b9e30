// Prepared answers to plain GETs and HEADs whose bytes are the same for everyone, such as a signed
// verification. They are counted like all calls, and put together from parts that were made once. Koa spends
// 3.5 times the processor time of a bare node:http server on such a call, spread over contexts, routing,
// headers and promises; this way takes 1.3 times (docs/performance.md). Koa answers all other requests, with
// the same bytes.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Environment } from '../../../schemas/values.ts'
import type { AppComponents } from '../app.ts'
import { hasBody } from '../body.ts'
import type { NodeContext } from '../context.ts'
import type { Caller } from '../../limits/callers.ts'
import { CountedCall } from '../../limits/counted-call.ts'
import type { AdmittedNow } from '../../limits/counted-now.ts'
import type { AnswerSource } from '../../published/memo.ts'
import { isPlain } from '../request-head.ts'
import type { PreparedRoute, Route } from '../route.ts'
import { keysIn } from '../sent-headers.ts'
import { type Answering, type CallAtPath, type RouteInEnvironment, byPath } from './paths.ts'
import { type PreparedAnswer, completed, prepareAnswer } from './prepared-answer.ts'
import { sendAtEndOfTurn } from './send.ts'

/** A call whose answers are prepared, in one environment. */
interface PreparedCall extends RouteInEnvironment<PreparedRoute> {
  /** The keys of its answers in a memo, for callers without an API key and with one. */
  anonymous: symbol
  known: symbol
}

type CallAt = ReturnType<typeof byPath<PreparedRoute, PreparedCall>>

/** A plain request, and the source of its answer. */
interface PreparedRequest extends CallAtPath<PreparedCall> {
  source: AnswerSource
  /** Pays for a failure, also where the answer is the same for everybody. */
  caller: Caller
  ifNoneMatch: string | undefined
}

const ANONYMOUS = { kind: 'anonymous' } as const

export function prepareAnswers(
  contexts: Partial<Record<Environment, NodeContext>>,
  components: AppComponents,
): Answering {
  const specs = components.routes.filter((spec: Route): spec is PreparedRoute => spec.prepared !== undefined)
  const callAt = byPath(specs, contexts, (placed) => ({
    ...placed,
    anonymous: Symbol('without a key'),
    known: Symbol('with a key'),
  }))
  const prepared = new PreparedAnswers(components)
  return (request, response, otherwise) => {
    const asked = askedIn(request, callAt)
    if (asked) return prepared.answer(asked, request, response, otherwise)
    otherwise(request, response)
    return undefined
  }
}

/**
 * Returns the request if it is plain and its answer is in memory, without waiting and without counting it.
 */
function askedIn(request: IncomingMessage, callAt: CallAt): PreparedRequest | undefined {
  const { method } = request
  if (method !== 'GET' && method !== 'HEAD') return undefined
  const found = callAt(request.url!)
  if (!found || !isPlain(request) || hasBody(request)) return undefined
  const { call, named } = found
  const { spec, context } = call
  const { 'if-none-match': ifNoneMatch } = request.headers
  const sent = keysIn(request)
  if (sent.length > 1) return undefined
  const known = sent[0] === undefined ? ANONYMOUS : context.callers.atHand(sent[0])
  const source = known && spec.prepared.find(named, context)
  return source && { call, named, source, caller: known, ifNoneMatch }
}

class PreparedAnswers {
  readonly #components: AppComponents

  constructor(components: AppComponents) {
    this.#components = components
  }

  /** Counts the call as Koa does, and answers it: in this turn of the event loop, unless it has to wait. */
  answer(
    asked: PreparedRequest,
    request: IncomingMessage,
    response: ServerResponse,
    otherwise: RequestListener,
  ): Promise<void> {
    const startedMs = this.#components.monotonicMs()
    const { call, caller } = asked
    const { spec, context } = call
    const networks = this.#components.networksOf(request)
    const admitted = context.isFollowing()
      ? context.limits.admitNow(spec.limit, caller, networks, startedMs)
      : undefined
    if (admitted) {
      void context.catchUp()
      return this.#send(asked, request, response, startedMs, admitted)
    }
    const counted = new CountedCall(context.limits, networks)
    return this.#sourceOf(asked, counted).then((source) => {
      const { state, usage } = counted
      if (source) {
        return this.#send({ ...asked, source }, request, response, startedMs, { state, usage })
      }
      otherwise(request, response)
      return undefined
    })
  }

  /**
   * Waits in the same order as the way through Koa, and returns the source of the answer. Returns undefined
   * for a call that it leaves to Koa and therefore does not count.
   */
  async #sourceOf(
    { call: { spec, context }, named, caller }: PreparedRequest,
    counted: CountedCall,
  ): Promise<AnswerSource | undefined> {
    try {
      await counted.identify(async ({ assertAttemptLeft }) => {
        if (caller.kind === 'anonymous') await assertAttemptLeft()
        return caller
      })
      await counted.admit(spec.limit, caller, false)
      await context.catchUp()
      const source = spec.prepared.find(named, context)
      // The node has switched to another release.
      if (!source) await counted.giveBack()
      return source
    } catch {
      // Koa refuses the call again, and says why.
      await counted.giveBack()
      return undefined
    }
  }

  /** Does most of the work before the end of the turn, so that little is left between two answers. */
  #send(
    { call, source, caller, ifNoneMatch }: PreparedRequest,
    request: IncomingMessage,
    response: ServerResponse,
    startedMs: number,
    { state, usage }: AdmittedNow,
  ): Promise<void> {
    const { newRequestId, accepting } = this.#components
    const requestId = newRequestId()
    const isLast = !accepting()
    const { spec, context, route } = call
    const told = spec.key === 'none' ? ANONYMOUS : caller
    const prepared = preparedOf(source, call, told)
    const ready = completed(prepared, { requestId, ifNoneMatch, state, isLast })
    if (usage) context.usage.count(usage)
    const keyId = told.kind === 'anonymous' ? undefined : told.key_id
    const received = { request, response, route, requestId, startedMs, keyId }
    return sendAtEndOfTurn(received, ready, this.#components)
  }
}

function preparedOf(
  source: AnswerSource,
  { spec, context, anonymous, known }: PreparedCall,
  caller: Caller,
): PreparedAnswer {
  const key = caller.kind === 'anonymous' ? anonymous : known
  return source.memo.of(key, () => prepareAnswer(spec, spec.prepared.reply(source, caller, context)))
}
