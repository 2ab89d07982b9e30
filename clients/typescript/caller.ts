// Makes requests of the service, each within limits. Repeats one unchanged if the service asks for that.

export interface CallerOptions {
  /** The address of the service without a slash at its end, with `/sandbox` for the sandbox. */
  url: string
  /** The API key of an agent. */
  apiKey?: string | undefined
  fetch?: typeof globalThis.fetch
  /** Returns a new text of at least 20 characters that nobody can guess. */
  newId?: () => string
  pause?: (ms: number) => Promise<unknown>
  /** The time that one request may take; 10 s if left out. */
  timeoutMs?: number
  /** How often a request is repeated; 4 times if left out. */
  repetitions?: number
  /** The longest wait that the service may ask for; 60 s if left out. */
  longestWaitS?: number
}

export interface Call {
  path: string
  method?: string
  query?: Readonly<Record<string, unknown>> | undefined
  /** Sent as JSON. */
  body?: object | undefined
  /** Whether the API key is sent. */
  isOwn?: boolean
  /** The Idempotency-Key of a call that changes something; a new one if left out. */
  idempotencyKey?: string | undefined
  signal?: AbortSignal | undefined
}

export interface Answer {
  status: number
  headers: Headers
  bytes: Uint8Array
}

/** No whole answer came. */
export class NoAnswer extends Error {
  override name = 'NoAnswer'
}

const MOST_ANSWER_BYTES = 4 * 1024 * 1024
/** The wait after a request without an answer. */
const WAIT_S = 1

/** Replaces characters by which text from others could steer a terminal. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')

export class Caller {
  readonly #options: Required<Omit<CallerOptions, 'apiKey'>>
  apiKey: string | undefined

  constructor({ apiKey, url, ...options }: CallerOptions) {
    this.apiKey = apiKey
    this.#options = {
      fetch: (...request) => globalThis.fetch(...request),
      newId: () => crypto.randomUUID(),
      pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      timeoutMs: 10_000,
      repetitions: 4,
      longestWaitS: 60,
      ...options,
      url: url.replace(/\/+$/, ''),
    }
  }

  pause(ms: number): Promise<unknown> {
    return this.#options.pause(ms)
  }

  get url(): string {
    return this.#options.url
  }

  /**
   * Sends a request, again whenever the service says when to repeat it, and returns the last answer, of any
   * status. The Idempotency-Key lets the request take effect once.
   *
   * @throws NoAnswer if none came in time, or if it is too long.
   */
  async send({
    path,
    query = {},
    body,
    isOwn = false,
    idempotencyKey,
    signal,
    ...call
  }: Call): Promise<Answer> {
    const { newId, repetitions, longestWaitS } = this.#options
    const method = call.method ?? (body === undefined ? 'GET' : 'POST')
    const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value as string | number)]],
    )
    const search = new URLSearchParams(given).toString()
    const headers = {
      ...(isOwn && this.apiKey !== undefined && { Authorization: `Bearer ${this.apiKey}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(method !== 'GET' && { 'Idempotency-Key': idempotencyKey ?? newId() }),
    }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    for (let left = repetitions; ; left--) {
      const found = await this.#once(`${path}${search && `?${search}`}`, init, signal)
      const isLost = found instanceof NoAnswer
      const waitS = isLost ? WAIT_S : waitOf(found)
      const isRepeated = left > 0 && (isLost || waitS <= longestWaitS) && signal?.aborted !== true
      if (isRepeated) await this.pause(waitS * 1000)
      else if (isLost) throw found
      else return found
    }
  }

  /** A redirect would take the key elsewhere. */
  async #once(path: string, init: RequestInit, signal?: AbortSignal): Promise<Answer | NoAnswer> {
    const { url, fetch, timeoutMs } = this.#options
    const limit = AbortSignal.timeout(timeoutMs)
    const ends = signal ? AbortSignal.any([limit, signal]) : limit
    try {
      const { status, headers, body } = await fetch(`${url}${path}`, {
        ...init,
        signal: ends,
        redirect: 'manual',
      })
      return { status, headers, bytes: await readAll(body) }
    } catch (cause) {
      if (cause instanceof TooLong)
        throw new NoAnswer(`${url} answers with more than ${MOST_ANSWER_BYTES} bytes`)
      const reason = limit.aborted
        ? `did not answer within ${timeoutMs / 1000} seconds`
        : 'cannot be reached, or broke the connection'
      return new NoAnswer(`${url} ${reason}`, { cause })
    }
  }
}

/** Returns the wait that a refusal asks for, in seconds; infinite if it asks for none. */
function waitOf({ status, headers }: Answer): number {
  const wait = status < 400 ? null : headers.get('retry-after')
  return wait !== null && /^\d+$/.test(wait) ? Number(wait) : Infinity
}

class TooLong extends Error {}

async function readAll(body: ReadableStream<Uint8Array> | null): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = body?.getReader()
  for (let read = await reader?.read(); read?.done === false; read = await reader!.read()) {
    size += read.value.length
    if (size > MOST_ANSWER_BYTES) {
      await reader!.cancel()
      throw new TooLong()
    }
    chunks.push(read.value)
  }
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
