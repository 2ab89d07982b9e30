// The headers by which the answer to a plain GET differs, out of a head in which nothing may be refused.
import { isHost } from '../request-head.ts'

/** Far more than any client sends, and less than Node parses. */
const MOST_HEADERS = 64

export interface PlainHeaders {
  key: string | undefined
  ifNoneMatch: string | undefined
}

/**
 * Names and values by turns, as received. Undefined for what Koa may refuse or reads in ways of its own: no host or several, a
 * header twice, and what announces a body or an expectation.
 */
export function plainHeaders(raw: readonly string[]): PlainHeaders | undefined {
  if (raw.length > 2 * MOST_HEADERS) return undefined
  let host: string | undefined
  let key: string | undefined
  let ifNoneMatch: string | undefined
  for (let index = 0; index < raw.length; index += 2) {
    const value = raw[index + 1]!
    switch (raw[index]!.toLowerCase()) {
      case 'host':
        if (host !== undefined) return undefined
        host = value
        break
      case 'x-api-key':
        if (key !== undefined) return undefined
        key = value
        break
      case 'if-none-match':
        if (ifNoneMatch !== undefined) return undefined
        ifNoneMatch = value
        break
      case 'content-length':
      case 'transfer-encoding':
      case 'expect':
      case 'upgrade':
        return undefined
      default:
    }
  }
  return host !== undefined && isHost(host) ? { key, ifNoneMatch } : undefined
}
