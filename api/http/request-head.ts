// What the head of a request has to be like (RFC 9112), so that nobody before or behind this service can read it otherwise.
import type { IncomingMessage } from 'node:http'
import type Koa from 'koa'
import { HttpError } from './problems.ts'
import { sentValues } from './sent-headers.ts'

/** A name or an address, and perhaps a port (RFC 3986, 3.2.2). An empty one is allowed. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)(?::\d*)?$/

/** Whether the value of a Host header is well-formed. */
export function isHost(value: string): boolean {
  return HOST.test(value)
}

/**
 * Takes the path and the query out of the target, which may be a whole URL (RFC 9112, 3.2.2).
 *
 * @throws HttpError `malformed-request` or `not-supported`; then the connection is closed, since what follows may be no request.
 */
export function takeHead(ctx: Koa.Context): void {
  try {
    takeTarget(ctx)
    assertHost(ctx.req)
    assertFraming(ctx.req)
  } catch (error) {
    ctx.set('Connection', 'close')
    throw error
  }
}

function takeTarget(ctx: Koa.Context): void {
  if (ctx.url === '*' && ctx.method !== 'OPTIONS') {
    throw new HttpError('malformed-request', 'the request target * is for OPTIONS only: name a path')
  }
  if (ctx.url.startsWith('/') || ctx.url === '*') return
  const target = URL.parse(ctx.url)
  ctx.url = target ? target.pathname + target.search : '/'
  if (!target) throw new HttpError('malformed-request', 'the request target is not a valid URL')
}

/** HTTP/1.1 requires one Host header (RFC 9112, 3.2). */
function assertHost(request: IncomingMessage): void {
  const sent = sentValues(request, 'host')
  if (sent.length > 1) {
    throw new HttpError('malformed-request', `the header Host was sent ${sent.length} times: send it once`)
  }
  if (sent.length === 0 && request.httpVersion === '1.1')
    throw new HttpError('malformed-request', 'the request has no Host header')
  if (sent[0] !== undefined && !isHost(sent[0])) {
    throw new HttpError(
      'malformed-request',
      'the Host header is malformed: send a name or an address, and perhaps a port',
    )
  }
}

export const OTHER_CODING = new HttpError(
  'not-supported',
  'the only Transfer-Encoding that this service takes is chunked',
)

/** Node takes any list of codings that ends in chunked, and would hand on a body that is still coded. */
function assertFraming({ httpVersion, headers }: IncomingMessage): void {
  const coding = headers['transfer-encoding']
  if (coding === undefined) return
  if (coding.trim().toLowerCase() !== 'chunked') throw OTHER_CODING
  if (httpVersion === '1.0')
    throw new HttpError('malformed-request', 'HTTP/1.0 has no Transfer-Encoding: send a Content-Length')
}
