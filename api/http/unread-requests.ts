// Answers the requests that Node's parser refuses or gives up on, so that the application never sees them.
import { STATUS_CODES, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { canonical } from '../../pipeline/proof/canonical.ts'
import { SECURITY_HEADERS } from './answer-head.ts'
import type { Connections } from './connections.ts'
import { HttpError, problemOf } from './problems.ts'
import { OTHER_CODING } from './request-head.ts'

/** The limit of the path and the headers together. */
export const HEADER_LIMIT_BYTES = 16 * 1024

const REFUSALS: Record<string, HttpError> = {
  HPE_HEADER_OVERFLOW: new HttpError(
    'headers-too-large',
    `the path and the headers have more than ${HEADER_LIMIT_BYTES} bytes`,
  ),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new HttpError('too-large', 'the extensions of the chunks are too long'),
  ERR_HTTP_REQUEST_TIMEOUT: new HttpError('too-slow', 'the request did not come to its end in time'),
}
const MALFORMED = new HttpError('malformed-request', 'what was sent is not HTTP/1.1')
const TUNNEL = new HttpError('not-supported', 'this service opens no tunnels: send the request itself')

/**
 * An error of Node's parser, which gives the same code to an unknown coding and to a body with two lengths.
 */
interface ParserError extends NodeJS.ErrnoException {
  reason?: string
}

function refusalOf({ code = '', reason = '' }: ParserError): HttpError {
  if (code === 'HPE_INVALID_TRANSFER_ENCODING' && !reason.includes('Content-Length')) return OTHER_CODING
  return REFUSALS[code] ?? MALFORMED
}

export function answerUnreadRequests(server: Server, connections: Connections): void {
  server.on('clientError', (error: ParserError, stream) => {
    const socket = stream as Socket
    // A client must not take this for the answer to a request that arrived whole, nor find it inside an
    // answer.
    const isFree = connections.owedTo(socket).every(({ req, headersSent }) => !req.complete && !headersSent)
    if (socket.writable && isFree) socket.write(answerTo(refusalOf(error)))
    connections.endUnreadable(socket)
  })
  server.on('connect', (_request, stream) => {
    const socket = stream as Socket
    // Node has released the socket, so nothing else handles its errors.
    socket.on('error', () => socket.destroy())
    const refuse = () => {
      if (socket.writable) socket.write(answerTo(TUNNEL))
      socket.destroySoon()
    }
    // Earlier requests of the connection are answered first.
    const before = connections.owedTo(socket).at(-1)
    if (before) before.once('close', refuse)
    else refuse()
  })
}

function answerTo(refusal: HttpError): string {
  const { problem } = problemOf(refusal)
  const body = new TextDecoder().decode(canonical(problem))
  const headers = {
    ...SECURITY_HEADERS,
    'Cache-Control': 'no-store',
    Connection: 'close',
    'Content-Type': 'application/problem+json',
    'Content-Length': Buffer.byteLength(body),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`
}
