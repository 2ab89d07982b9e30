// Calls the HTTP API of a service for a model, and reports refusals in the service's own words.
import { type ApiCall, type Told, methodOf, readAnswer } from '../../api/mcp/api-call.ts'
import { type Call, Caller, NoAnswer } from '../../clients/typescript/caller.ts'
import type { VerifierKey } from '../../pipeline/proof/note-keys.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { verdicts } from './verdict.ts'

export interface ServiceCallOptions {
  url: string
  /** The API key of an agent; undefined for a client that only reads. */
  apiKey: string | undefined
  /** The time that one request may take; 10 s if left out. */
  timeoutMs?: number
  /** A new UUID that nobody can guess. */
  newId: () => string
  /** The keys that answers are verified by; none if left out. */
  vkeys?: readonly VerifierKey[]
}

/**
 * Returns the function that makes a call. It repeats a request once that had no answer. It repeats none that
 * has to wait: the model is told how long.
 *
 * The function throws a ServiceError of the kind and in the words of a refusal, `unavailable` if the service
 * does not answer, and `corrupt` for an answer that does not stand under the keys of the log. The error never
 * holds the API key.
 */
export function serviceCall({ vkeys = [], ...options }: ServiceCallOptions) {
  const caller = new Caller({
    ...options,
    repetitions: 1,
    longestWaitS: -1,
    pause: () => Promise.resolve(),
  })
  const verdictOf = verdicts(caller.url, vkeys)
  const send = (call: Call) =>
    caller.send(call).catch((error: unknown) => {
      if (!(error instanceof NoAnswer)) throw error
      throw new ServiceError('unavailable', error.message, { cause: error.cause })
    })
  return async (apiCall: ApiCall, signal?: AbortSignal): Promise<Told> => {
    const { path: named, params = {}, query, body, isOwn } = apiCall
    const path = named.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(params[name]!))
    const call = { path, query, body, signal, method: methodOf(apiCall), isOwn: isOwn ?? false }
    const answered = await send(call)
    const answer = readAnswer(apiCall, answered)
    const sendMore = (more: Pick<Call, 'path' | 'query'>) =>
      send({ ...more, method: 'GET', isOwn: false, signal })
    return { answer, verdict: await verdictOf({ apiCall, path, answered, send: sendMore }) }
  }
}
