// Answers requests that never became one: what Node's parser refuses or gives up on, without asking the application.
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { canonical } from '../pipeline/proof/canonical.ts'
import { HttpError, problemOf } from './problems.ts'
import { SECURITY_HEADERS } from './security-headers.ts'

/** Of the path and the headers together. */
export const HEADER_LIMIT_BYTES = 16 * 1024

const REFUSALS: Record<string, HttpError> = {
  HPE_HEADER_OVERFLOW: new HttpError(
    431,
    `the path and the headers have more than ${HEADER_LIMIT_BYTES} bytes`,
  ),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new HttpError(413, 'the extensions of the chunks are too long'),
  ERR_HTTP_REQUEST_TIMEOUT: new HttpError(408, 'the request did not come to its end in time'),
}
const MALFORMED = new HttpError(400, 'what was sent is not HTTP/1.1')

export interface OwedAnswers {
  /** The answers that a connection waits for. */
  of(socket: Socket): readonly ServerResponse[]
  /** Ends a connection from which nothing more can be read, once what came whole is answered. */
  endAfter(socket: Socket): void
}

export function answerUnreadRequests(server: Server, owed: OwedAnswers): void {
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket
    // What is sent must not be taken for the answer to a request that came whole, nor stand in the middle of one.
    const isFree = owed.of(socket).every(({ req, headersSent }) => !req.complete && !headersSent)
    if (socket.writable && isFree) socket.write(answerTo(REFUSALS[error.code ?? ''] ?? MALFORMED))
    owed.endAfter(socket)
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
  return `HTTP/1.1 ${problem.status} ${problem.title}\r\n${lines.join('')}\r\n${body}`
}
