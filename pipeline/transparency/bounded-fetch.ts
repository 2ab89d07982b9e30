// Makes HTTP requests within limits: a time, a greatest size, and no redirects, because only the server that
// was asked may answer.
import { ServiceError } from '../../schemas/errors.ts'

export type Fetch = typeof globalThis.fetch

export interface Request extends RequestInit {
  /** Ends the call, body included. */
  signal: AbortSignal
  mostBytes: number
}

export interface BoundedAnswer {
  status: number
  /** Without parameters. */
  mediaType: string
  bytes: Uint8Array
}

/**
 * Returns an answer of any status, even a redirect.
 *
 * @throws ServiceError `unavailable` if no whole answer comes in time, or if it has more than `mostBytes`: it
 *   reads no more than that.
 */
export async function boundedFetch(
  fetch: Fetch,
  url: string,
  { mostBytes, ...init }: Request,
): Promise<BoundedAnswer> {
  try {
    const { status, headers, body } = await fetch(url, { ...init, redirect: 'manual' })
    const mediaType = headers.get('content-type')?.split(';')[0]!.trim().toLowerCase() ?? ''
    const bytes = body === null ? new Uint8Array() : await readUpTo(mostBytes, body)
    if (bytes !== undefined) return { status, mediaType, bytes }
  } catch (cause) {
    throw new ServiceError('unavailable', `${url} does not answer (${reasonOf(cause)})`, { cause })
  }
  throw new ServiceError('unavailable', `${url} answers with more than ${mostBytes} bytes`)
}

/** Returns undefined if there are more bytes, and does not read the rest. */
async function readUpTo(
  mostBytes: number,
  body: ReadableStream<Uint8Array>,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let sizeBytes = 0
  for await (const chunk of body) {
    sizeBytes += chunk.byteLength
    if (sizeBytes > mostBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason'
  return error.cause instanceof Error ? error.cause.message : error.message
}
