// The rules for the head of a request (RFC 9112). They refuse a head that a proxy before this service could
// read in another way.
import type { IncomingMessage } from 'node:http'
import type Koa from 'koa'
import type { Head } from './answer-head.ts'
import { HttpError } from './problems.ts'
import { sentValues } from './sent-headers.ts'

/** A name or an address, and perhaps a port (RFC 3986, 3.2.2). An empty one is allowed. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)(?::\d*)?$/

/**
 * Takes the path and the query out of the target, which may be a whole URL (RFC 9112, 3.2.2).
 *
 * @throws HttpError `malformed-request` or `not-supported`. The answer then also closes the connection,
 *   because the bytes that follow may not be a request.
 */
export function takeHead(ctx: Koa.Context, answer: Head): void {
  try {
    takeTarget(ctx)
    assertVersion(ctx.req)
    const hostFault = hostFaultOf(ctx.req)
    if (hostFault !== undefined) throw new HttpError('malformed-request', hostFault)
    assertFraming(ctx.req)
  } catch (error) {
    answer['Connection'] = 'close'
    throw error
  }
}

/** Node also takes HTTP/0.9, whose answers have no head, and HTTP/2.0 in the form of HTTP/1.1. */
function assertVersion({ httpVersion }: IncomingMessage): void {
  if (httpVersion === '1.1' || httpVersion === '1.0') return
  throw new HttpError(
    'malformed-request',
    `the service speaks HTTP/1.1 and HTTP/1.0, not HTTP/${httpVersion}`,
  )
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

/** HTTP/1.1 requires one well-formed Host header (RFC 9112, 3.2); HTTP/1.0 none. */
function hostFaultOf(request: IncomingMessage): string | undefined {
  const sent = sentValues(request, 'host')
  const [host] = sent
  if (sent.length > 1) return `the header Host was sent ${sent.length} times: send it once`
  if (host === undefined) return request.httpVersion === '1.1' ? 'the request has no Host header' : undefined
  if (HOST.test(host)) return undefined
  return 'the Host header is malformed: send a name or an address, and perhaps a port'
}

export const OTHER_CODING = new HttpError(
  'not-supported',
  'the only Transfer-Encoding that this service takes is chunked',
)

/** Node accepts any list of codings that ends in chunked, and would pass on a body that is still encoded. */
function assertFraming({ httpVersion, headers }: IncomingMessage): void {
  const coding = headers['transfer-encoding']
  if (coding === undefined) return
  if (coding.trim().toLowerCase() !== 'chunked') throw OTHER_CODING
  if (httpVersion === '1.0')
    throw new HttpError('malformed-request', 'HTTP/1.0 has no Transfer-Encoding: send a Content-Length')
}
