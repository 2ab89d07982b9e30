// Calls the HTTP API of a service, and reports refusals in the service's own words.
import { type Asked, methodOf, readAnswer, searchOf } from '../../api/mcp/asked.ts'
import { type BoundedAnswer, boundedFetch } from '../../pipeline/bounded-fetch.ts'
import { ServiceError } from '../../schemas/errors.ts'

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

export class ServiceClient {
  readonly #options: ServiceClientOptions

  constructor(options: ServiceClientOptions) {
    this.#options = options
  }

  /**
   * Sends the request once more, unchanged, if its connection breaks; its Idempotency-Key lets it take effect
   * only once.
   *
   * @throws ServiceError of the kind and in the words of a refusal, or `unavailable` if the service does not
   *   answer. The error never holds the API key.
   */
  async call(asked: Asked, signal: AbortSignal): Promise<Record<string, unknown>> {
    const { path: named, params = {}, body, isOwn = false } = asked
    const { url, apiKey, newId } = this.#options
    const method = methodOf(asked)
    const path = named.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(params[name]!))
    const search = searchOf(asked)
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
    return readAnswer(asked, response)
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
