// The parts of a prepared answer that stay the same, made once for what it publishes, and kept as long as that is.
import { answerOf } from '../answer.ts'
import { EXPOSED_HEADERS } from '../app.ts'
import { entityTag, isNamedBy } from '../entity-tag.ts'
import { type QuotaState, rateLimitHeaders } from '../limits/admission.ts'
import type { Reply, Route } from '../route.ts'
import { SECURITY_HEADERS } from '../security-headers.ts'
import { type Ready, append } from './send.ts'

export interface PreparedAnswer {
  tag: string
  /** Header names and values by turns: all before those of the limit. */
  firstHeaders: readonly string[]
  /** Header names and values by turns: all that follow those of the limit, with those of the body. */
  headers: readonly string[]
  /** The same of an answer without a body. */
  bareHeaders: readonly string[]
  /** Each character is a byte: Node sends such a text and its head in one piece, which takes a tenth less than two. */
  body: string
}

const FIRST_HEADERS: Record<string, string> = {
  ...SECURITY_HEADERS,
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED_HEADERS,
}

export function prepareAnswer(spec: Route, reply: Reply): PreparedAnswer {
  const { headers, body: bytes } = answerOf(spec, reply)
  const tag = entityTag(bytes)
  const { 'Content-Type': type, ...others } = headers
  const own = Object.entries(others)
  // One that every answer has keeps its place, whatever value it gets.
  const replaced = own.filter(([name]) => Object.hasOwn(FIRST_HEADERS, name))
  const bareHeaders = [...own.filter((header) => !replaced.includes(header)).flat(), 'ETag', tag]
  return {
    tag,
    firstHeaders: Object.entries({ ...FIRST_HEADERS, ...Object.fromEntries(replaced) }).flat(),
    headers: ['Content-Type', type, 'Content-Length', String(bytes.byteLength), ...bareHeaders],
    bareHeaders,
    body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1'),
  }
}

/** The status, the head and the body to send, in the order in which Koa has the headers. */
export function completed(
  { tag, firstHeaders, headers, bareHeaders, body }: PreparedAnswer,
  {
    requestId,
    ifNoneMatch,
    state,
    isLast,
  }: { requestId: string; ifNoneMatch: string | undefined; state: QuotaState | undefined; isLast: boolean },
): Ready {
  const isKnown = isNamedBy(ifNoneMatch, tag)
  const head = ['X-Request-Id', requestId, ...firstHeaders]
  if (state) append(head, rateLimitHeaders(state))
  head.push(...(isKnown ? bareHeaders : headers))
  if (isLast) head.push('Connection', 'close')
  return isKnown ? { status: 304, head, body: undefined } : { status: 200, head, body }
}
