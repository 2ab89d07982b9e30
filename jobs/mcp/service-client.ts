// Calls the HTTP API of a service, and reports refusals in the service's own words.
import { z } from 'zod'
import { type BoundedAnswer, boundedFetch } from '../../pipeline/bounded-fetch.ts'
import { problem } from '../../schemas/answers.ts'
import { type ErrorKind, ServiceError } from '../../schemas/errors.ts'

export interface ServiceClientOptions {
  /** Without a slash at its end. */
  url: string
  /** The API key of an agent; undefined for a client that only reads. */
  apiKey: string | undefined
  /** The time that one request may take. */
  timeoutMs: number
  /** A new UUID that nobody can guess. */
  newId: () => string
}

/** A call of the API. */
export interface Asked {
  /** Begins with a slash. */
  path: string
  query?: Record<string, unknown>
  /** Without a method a call with a body is a POST and any other a GET. */
  method?: 'GET' | 'POST' | 'DELETE'
  /** Sent as JSON. */
  body?: object
  /** Whether the agent makes the call: then its API key is sent. */
  isOwn?: boolean
  /** The members that the answer must have. A newer service may add others. */
  answer: z.ZodType<Record<string, unknown>>
}

/** The fields of a problem that a refusal uses. */
const refusal = z.object({ detail: problem.shape.detail, errors: problem.shape.errors })

const KIND_OF: Record<number, ErrorKind> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'notFound',
  409: 'conflict',
  429: 'limited',
}

export class ServiceClient {
  readonly #options: ServiceClientOptions

  constructor(options: ServiceClientOptions) {
    this.#options = options
  }

  get canSubmit(): boolean {
    return this.#options.apiKey !== undefined
  }

  /**
   * Sends the request once more, unchanged, if its connection breaks; its Idempotency-Key lets it take effect
   * only once.
   *
   * @throws ServiceError of the kind and in the words of a refusal, or `unavailable` if the service does not
   *   answer. The error never holds the API key.
   */
  async call(asked: Asked, signal: AbortSignal): Promise<Record<string, unknown>> {
    const { path, query = {}, body, isOwn = false, answer } = asked
    const { method = body === undefined ? 'GET' : 'POST' } = asked
    const { url, apiKey, newId } = this.#options
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value as string | number)] as const],
    )
    const search = new URLSearchParams(Object.fromEntries(given)).toString()
    const address = `${url}${path}${search === '' ? '' : `?${search}`}`
    const headers: Record<string, string> = {
      ...(isOwn && apiKey !== undefined && { Authorization: `Bearer ${apiKey}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(method !== 'GET' && { 'Idempotency-Key': newId() }),
    }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const response = await this.#send(address, init, signal).catch((error: unknown) => {
      if (isBrokenConnection(error)) return this.#send(address, init, signal)
      throw error
    })
    const content = jsonOf(response.bytes)
    if (response.status < 200 || response.status > 299) throw refusalOf(response, content)
    const parsed = answer.safeParse(content)
    if (!parsed.success)
      throw unavailable(`${url} did not answer ${path} as this version of the service does`)
    return parsed.data
  }

  /** A redirection must not take the key elsewhere. */
  async #send(address: string, init: RequestInit, signal: AbortSignal): Promise<BoundedAnswer> {
    const { url, timeoutMs } = this.#options
    const limit = AbortSignal.timeout(timeoutMs)
    try {
      return await boundedFetch(address, { ...init, signal: AbortSignal.any([limit, signal]) })
    } catch (error) {
      const { cause } = error as ServiceError
      if (limit.aborted) throw unavailable(`${url} did not answer within ${timeoutMs / 1000} seconds`, cause)
      if (cause === undefined) throw error
      throw unavailable(`${url} cannot be reached, or broke the connection`, cause)
    }
  }
}

function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError('unavailable', message, { cause })
}

/**
 * fetch throws a TypeError for every failure of the network, and for nothing else that the request could
 * cause.
 */
function isBrokenConnection(error: unknown): boolean {
  return error instanceof ServiceError && error.cause instanceof TypeError
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

function refusalOf(response: BoundedAnswer, content: unknown): ServiceError {
  const { data } = refusal.safeParse(content)
  const kind = KIND_OF[response.status] ?? (response.status >= 500 ? 'unavailable' : 'invalid')
  if (!data) return unavailable(`the service answered ${response.status} and did not say why`)
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new ServiceError(kind, data.detail, {
    faults: data.errors ?? [],
    ...(Number.isFinite(seconds) ? { retryAfterS: seconds } : {}),
  })
}
