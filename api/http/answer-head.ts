// The head of an answer: the headers that every answer has, and the order in which all ways to answer send
// them. An object keeps the position of a key that is set again, and so does Node, so a later header takes
// the position of the one that it replaces.
import type { Answer } from './answer.ts'

/** Header names and values, in their order. */
export type Head = Record<string, string>

/** Headers that limit what a browser does with an answer. */
export const SECURITY_HEADERS = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const

/** Headers that let any web page read an answer. */
export const CROSS_ORIGIN_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'ETag, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, X-Service-Receipt, X-Service-Signature',
} as const

/** Returns the headers with which every answer to a request begins. */
export function firstHeaders(requestId: string): Head {
  return { 'X-Request-Id': requestId, ...SECURITY_HEADERS }
}

/** Returns the headers of the body, if there is one, then the other headers of this answer. */
export function ownHeaders({ headers, body, stream }: Answer): Head {
  const { 'Content-Type': type, ...others } = headers
  if (type === undefined) return others
  const length = stream ? {} : { 'Content-Length': String(body.byteLength) }
  return { 'Content-Type': type, ...length, ...others }
}
