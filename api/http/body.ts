// Reads the JSON body of a request, of limited size and with the right content type.
import type { IncomingMessage } from 'node:http'
import { parse as parseContentType } from 'content-type'
import getRawBody from 'raw-body'
import { parseJson } from './json.ts'
import { HttpError } from './problems.ts'
import { sentValues } from './sent-headers.ts'

export const BODY_LIMIT_BYTES = 64 * 1024

/** @throws HttpError `wrong-content-type`, `too-large` or `unreadable-body`. */
export async function readJson(request: IncomingMessage, limitBytes: number): Promise<unknown> {
  assertJson(soleContentType(request))
  if (
    request.headers['content-encoding'] !== undefined &&
    request.headers['content-encoding'] !== 'identity'
  ) {
    throw new HttpError('wrong-content-type', 'send the body without a content coding')
  }
  let bytes: Uint8Array
  try {
    bytes = await getRawBody(request, {
      limit: limitBytes,
      length: request.headers['content-length'] ?? null,
    })
  } catch (error) {
    const tooLarge = error instanceof Error && 'type' in error && error.type === 'entity.too.large'
    if (tooLarge) throw new HttpError('too-large', `the body has more than ${limitBytes} bytes`)
    throw new HttpError('unreadable-body', 'the body ended before its declared length')
  }
  return parseJson(bytes)
}

/** Whether a request says that a body follows its head. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function soleContentType(request: IncomingMessage): string | undefined {
  const sent = sentValues(request, 'content-type')
  if (sent.length <= 1) return sent[0]
  throw new HttpError(
    'malformed-request',
    `the header Content-Type was sent ${sent.length} times: send it once`,
  )
}

function assertJson(header: string | undefined): void {
  const { type, parameters } = parseContentType(header ?? '')
  const { charset = 'utf-8' } = parameters
  if (type !== 'application/json' || charset.toLowerCase() !== 'utf-8') {
    const sent = header === undefined ? 'but none was sent' : `not ${JSON.stringify(header.slice(0, 100))}`
    throw new HttpError('wrong-content-type', `the Content-Type must be application/json, ${sent}`)
  }
}
