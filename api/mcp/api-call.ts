// A call of the API that a tool makes, and what its answer says.
import { z } from 'zod'
import { problem } from '../../schemas/answers.ts'
import { type ErrorKind, ServiceError } from '../../schemas/errors.ts'

/** A call of the API. */
export interface ApiCall {
  /** The path as the route has it, with parameters as `{name}`. */
  path: string
  params?: Record<string, string>
  query?: Record<string, unknown>
  /** Without a method a call with a body is a POST and any other a GET. */
  method?: 'GET' | 'POST' | 'DELETE'
  /** Sent as JSON. */
  body?: object
  /** Whether the agent makes the call: then its API key is sent. */
  isOwn?: boolean
  /** The members that the answer must have. A newer service may add others. */
  answer: z.ZodType<Record<string, unknown>>
  /**
   * The evidence that the service has for the answer: the proof of a record, the receipt of a forecast, or
   * one for each forecast of a batch.
   */
  evidence?: 'proof' | 'receipt' | 'receipts'
}

/** Whether an answer was verified by the keys of the log. */
export interface Verdict {
  isVerified: boolean
  /** Continues "verified: " or "not verified: ". */
  because: string
}

/** The members of an answer, and a verdict where one can be given. */
export interface Told {
  answer: Record<string, unknown>
  verdict?: Verdict | undefined
}

/** An answer as it came. */
export interface Answered {
  status: number
  headers: Pick<Headers, 'get'>
  bytes: Uint8Array
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

/** The usual method of a call: that of one with a body is POST. */
export function methodOf({ method, body }: ApiCall): string {
  return method ?? (body === undefined ? 'GET' : 'POST')
}

/** The query of a call as text, without what is undefined. */
export function searchOf({ query = {} }: ApiCall): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value as string | number)] as const],
  )
  return new URLSearchParams(Object.fromEntries(given)).toString()
}

/**
 * Returns the members of an answer.
 *
 * @throws ServiceError of the kind and in the words of a refusal, or `unavailable` for an answer that is not
 *   one of the service.
 */
export function readAnswer({ path, answer }: ApiCall, answered: Answered): Record<string, unknown> {
  const content = jsonOf(answered.bytes)
  if (answered.status < 200 || answered.status > 299) throw refusalOf(answered, content)
  const parsed = answer.safeParse(content)
  if (parsed.success) return parsed.data
  throw new ServiceError('unavailable', `the service did not answer ${path} as this version does`)
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

function refusalOf(response: Answered, content: unknown): ServiceError {
  const { data } = refusal.safeParse(content)
  const kind = KIND_OF[response.status] ?? (response.status >= 500 ? 'unavailable' : 'invalid')
  if (!data) {
    return new ServiceError('unavailable', `the service answered ${response.status} and did not say why`)
  }
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new ServiceError(kind, data.detail, {
    faults: data.errors ?? [],
    ...(Number.isFinite(seconds) ? { retryAfterS: seconds } : {}),
  })
}
