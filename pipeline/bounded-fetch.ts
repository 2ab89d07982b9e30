// The only way in which commands make HTTP requests: within limits of time and size, and without redirects,
// because only the requested server may answer.
import { ServiceError } from '../schemas/errors.ts'

export type Fetch = typeof globalThis.fetch

/** Larger than any answer of the service that a command reads. */
const MOST_BYTES = 4 * 1024 * 1024
const TIMEOUT_MS = 10_000
/** Timers may be late: a body with less time left than this is too late. */
const LEAST_WAIT_MS = 100
/** A slow line is faster than this. */
const LEAST_BYTES_PER_S = 64 * 1024

export interface Request extends RequestInit {
  fetch?: Fetch
  /** The limit of the body after any content coding; 4 MiB if left out. */
  mostBytes?: number
  /**
   * Ends the call, body included. If left out, the call may take 10 s, and longer only while the body comes
   * at 64 KiB a second: a server that drips bytes is left as soon as a silent one.
   */
  signal?: AbortSignal
}

export interface BoundedAnswer {
  status: number
  headers: Headers
  /** Without parameters. */
  mediaType: string
  bytes: Uint8Array
}

/**
 * Returns an answer of any status, even a redirect.
 *
 * @throws ServiceError `unavailable` if no whole answer comes in time, or if it has more than `mostBytes`.
 *   Reads no more than that.
 */
export async function boundedFetch(
  url: string,
  { fetch = globalThis.fetch, mostBytes = MOST_BYTES, signal: given, ...init }: Request = {},
): Promise<BoundedAnswer> {
  using patience = new Patience()
  const signal = given ?? patience.signal
  try {
    const { status, headers, body } = await fetch(url, { ...init, signal, redirect: 'manual' })
    const mediaType = headers.get('content-type')?.split(';')[0]!.trim().toLowerCase() ?? ''
    const bytes = body === null ? new Uint8Array() : await readUpTo(mostBytes, body, patience)
    if (bytes !== undefined) return { status, headers, mediaType, bytes }
  } catch (cause) {
    throw new ServiceError('unavailable', `${url} does not answer (${failureOf(cause)})`, { cause })
  }
  throw new ServiceError('unavailable', `${url} answers with more than ${mostBytes} bytes`)
}

/** Whether the reason of an error is that an answer took too long. */
export function isTooSlow(error: unknown): boolean {
  return (
    error instanceof ServiceError && (error.cause as { name?: unknown } | undefined)?.name === 'TimeoutError'
  )
}

/** Ends a call after 10 s, plus the time that the received bytes may take. */
class Patience implements Disposable {
  readonly #over = new AbortController()
  /** The total time that the call may take, with the time for received bytes. */
  #earnedMs = TIMEOUT_MS
  #timer: NodeJS.Timeout | undefined

  constructor() {
    this.#wait()
  }

  get signal(): AbortSignal {
    return this.#over.signal
  }

  received(bytes: number): void {
    this.#earnedMs += (bytes / LEAST_BYTES_PER_S) * 1000
  }

  #wait(): void {
    const allowedMs = this.#earnedMs
    this.#earnedMs = 0
    this.#timer = setTimeout(() => {
      if (this.#earnedMs >= LEAST_WAIT_MS) this.#wait()
      else this.#over.abort(new DOMException('it took too long', 'TimeoutError'))
    }, allowedMs)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }
}

/** Returns undefined if there are more bytes, without reading the rest. */
async function readUpTo(
  mostBytes: number,
  body: ReadableStream<Uint8Array>,
  patience: Patience,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let sizeBytes = 0
  for await (const chunk of body) {
    sizeBytes += chunk.byteLength
    if (sizeBytes > mostBytes) return undefined
    chunks.push(chunk)
    patience.received(chunk.byteLength)
  }
  return Buffer.concat(chunks)
}

function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason'
  return error.cause instanceof Error ? error.cause.message : error.message
}
