// POSTs as text: plain ones as programs make them, in which a test changes one part at a time.

/** Header lines, none or several of each. */
export interface Post {
  path: string
  body?: string
  method?: string
  version?: string
  host?: readonly string[]
  type?: readonly string[]
  /** How the end of the body is told; by default in a Content-Length that is right. */
  framing?: readonly string[]
  key?: readonly string[]
  /** All others. */
  more?: readonly string[]
}

const LINE_END = '\r\n'

/** Its key as an agent sends it, and as callers of verifications do. */
export const bearer = (key = '{key}') => [`Authorization: Bearer ${key}`]
export const apiKey = (key = '{client-key}') => [`X-API-Key: ${key}`]

/** A forecast in a body. */
export const on = (question_id: unknown, probability: unknown = 0.25, more = {}) => ({
  question_id,
  probability,
  ...more,
})

/** In Latin-1, each character of which is a byte. `{address}` stands for that of the caller. */
export function post({
  path,
  body = '',
  method = 'POST',
  version = 'HTTP/1.1',
  host = ['Host: x'],
  type = ['Content-Type: application/json'],
  framing = [`Content-Length: ${body.length}`],
  key = [],
  more = [],
}: Post): string {
  const headers = [...host, 'X-Forwarded-For: {address}', ...type, ...framing, ...key, ...more]
  return [`${method} ${path} ${version}`, ...headers, '', body].join(LINE_END)
}

export const CHUNKED = ['Transfer-Encoding: chunked']

/** A body in chunks of up to so many bytes. */
export function chunked(body: string, bytes: number): string {
  const chunks = body.match(new RegExp(`[^]{1,${bytes}}`, 'g')) ?? []
  return [...chunks, ''].map((chunk) => [chunk.length.toString(16), chunk, ''].join(LINE_END)).join('')
}

/** Text as its bytes in UTF-8. */
export const utf8 = (text: string): string => Buffer.from(text).toString('latin1')
