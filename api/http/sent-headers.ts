// The headers of a request as they were sent. Node keeps the first of several and drops the rest, but a proxy
// may have read another one.
import type { IncomingMessage } from 'node:http'

/** Returns all values of a header, whose name is given in lower case. */
export function sentValues({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index]!
    if (sent.length === name.length && sent.toLowerCase() === name) values.push(rawHeaders[index + 1]!)
  }
  return values
}

/** Returns the API keys of a request: that in `X-API-Key` or, where there is none, its bearer tokens. */
export function keysIn(request: IncomingMessage): string[] {
  // Node joins the values of a key that was sent twice, and the result is no known key.
  const key = request.headers['x-api-key']?.toString()
  return key === undefined ? bearersIn(request) : [key]
}

/**
 * Returns the bearer tokens of a request, one for each header; empty for one that has none. Other schemes of
 * `Authorization` are for a proxy.
 */
export function bearersIn(request: IncomingMessage): string[] {
  if (request.headers.authorization === undefined) return []
  return sentValues(request, 'authorization').flatMap((sent) =>
    /^Bearer\b/i.test(sent) ? [/^Bearer +(\S+)$/i.exec(sent)?.[1] ?? ''] : [],
  )
}
