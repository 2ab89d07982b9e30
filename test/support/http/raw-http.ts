// Sends a request as bytes on a connection of its own, however malformed, and parses the answers.
import { connect } from 'node:net'

export interface RawRequest {
  method: string
  /** The path and the query, or whatever is sent instead. */
  target: string
  /** In the order of sending; names may repeat. */
  headers: readonly (readonly [name: string, value: string])[]
  body: Buffer
  version: string
  /** Whether the client ends its side of the connection after sending, as one that gave up does. */
  hangsUp: boolean
}

export interface RawAnswer {
  status: number
  /** By name in lower case. */
  headers: Record<string, string>
  body: Buffer
}

const EMPTY_LINE = '\r\n\r\n'

/** The bytes of a request; text is encoded in UTF-8. */
export function bytesOf({ method, target, headers, body, version }: RawRequest): Buffer {
  const lines = [`${method} ${target} ${version}`, ...headers.map(([name, value]) => `${name}: ${value}`)]
  return Buffer.concat([Buffer.from(lines.join('\r\n') + EMPTY_LINE), body])
}

/**
 * Resolves to the answers: after the first one, or, if an answer announces it, after the service has closed
 * the connection. Resolves to none if the service closed the connection without an answer. Rejects if an
 * answer is not HTTP or is cut off.
 */
export function exchange(
  url: string,
  sent: Buffer,
  { hangsUp = false, isHead = false } = {},
): Promise<RawAnswer[]> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0)
    const socket = connect({ host: hostname, port: Number(port) })
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      const last = answersIn(received, isHead ? Infinity : 0).answers.at(-1)
      if (last !== undefined && last.headers['connection'] !== 'close') socket.destroy()
    })
    // `close` follows an error.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      const { answers, rest } = answersIn(received, isHead ? Infinity : 0)
      if (rest.length === 0) resolve(answers)
      else reject(new Error(`no whole answer: ${JSON.stringify(rest.toString('latin1').slice(0, 500))}`))
    })
    socket.write(sent)
    if (hangsUp) socket.end()
  })
}

/**
 * Resolves to the answers once the service has closed the connection; `heads` of them, the first, have no
 * body.
 */
export async function conversation(url: string, sent: Buffer, heads: number): Promise<RawAnswer[]> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  const received: Buffer[] = []
  await new Promise((resolve) => {
    socket.on('data', (chunk: Buffer) => void received.push(chunk))
    // `close` follows an error.
    socket.on('error', () => undefined)
    socket.on('close', resolve)
    socket.write(sent)
  })
  const bytes = Buffer.concat(received)
  const { answers, rest } = answersIn(bytes, heads)
  if (rest.length > 0) throw new Error(`no whole answer: ${bytes.toString('latin1').slice(0, 500)}`)
  return answers
}

/** The one answer that these bytes are. */
export function answerIn(bytes: Buffer): RawAnswer {
  const { answers, rest } = answersIn(bytes, 0)
  if (answers.length !== 1 || rest.length > 0) throw new Error(`not one answer: ${bytes.toString('latin1')}`)
  return answers[0]!
}

/** The complete answers except interim ones (1xx), and the bytes after them. */
function answersIn(received: Buffer, heads: number): { answers: RawAnswer[]; rest: Buffer } {
  const answers: RawAnswer[] = []
  for (let rest = received; ;) {
    const end = rest.indexOf(EMPTY_LINE)
    const head = end < 0 ? undefined : headOf(rest.toString('latin1', 0, end))
    if (head === undefined) return { answers, rest }
    const { status, headers } = head
    // A malformed request is answered before it is known to be a HEAD.
    const isEmpty = answers.length < heads && headers['x-request-id'] !== undefined
    const isBare = isEmpty || status < 200 || status === 204 || status === 304
    const after = rest.subarray(end + EMPTY_LINE.length)
    const found = isBare ? { body: after.subarray(0, 0), size: 0 } : bodyIn(after, headers)
    if (!found) return { answers, rest }
    if (status >= 200) answers.push({ status, headers, body: found.body })
    rest = after.subarray(found.size)
  }
}

/** The body at the start of these bytes and how many of them it takes; undefined if it is not whole. */
function bodyIn(bytes: Buffer, headers: RawAnswer['headers']): { body: Buffer; size: number } | undefined {
  const length = headers['content-length']
  if (length !== undefined) {
    const size = Number(length)
    return size <= bytes.length ? { body: bytes.subarray(0, size), size } : undefined
  }
  if (headers['transfer-encoding'] === 'chunked') return chunksIn(bytes)
  // Without a length, a body ends with the connection (RFC 9112, section 6.3).
  return headers['connection'] === 'close' ? { body: bytes, size: bytes.length } : undefined
}

function chunksIn(bytes: Buffer): { body: Buffer; size: number } | undefined {
  const chunks: Buffer[] = []
  for (let at = 0; ;) {
    const [line = ''] = /^[0-9a-f]+\r\n/i.exec(bytes.toString('latin1', at, at + 20)) ?? []
    const from = at + line.length
    const end = from + parseInt(line, 16)
    if (line === '' || bytes.length < end + 2) return undefined
    at = end + 2
    if (end === from) return { body: Buffer.concat(chunks), size: at }
    chunks.push(bytes.subarray(from, end))
  }
}

/**
 * The status and headers of an answer; undefined if the text is not the head of an answer or repeats a
 * header.
 */
function headOf(text: string): Pick<RawAnswer, 'status' | 'headers'> | undefined {
  const [first = '', ...lines] = text.split('\r\n')
  const status = /^HTTP\/1\.1 (\d{3}) [\w' -]+$/.exec(first)?.[1]
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const [, name = '', value = ''] = /^([\w-]+): ([\x20-\x7e]*)$/.exec(line) ?? []
    if (name === '' || Object.hasOwn(headers, name.toLowerCase())) return undefined
    headers[name.toLowerCase()] = value
  }
  return status === undefined ? undefined : { status: Number(status), headers }
}
