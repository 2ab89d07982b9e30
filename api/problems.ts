// Every error answer is made here: RFC 9457 problem details, chosen by the kind of the error alone.
import { STATUS_CODES } from 'node:http'
import { type ErrorKind, type Fault, ServiceError } from '../schemas/errors.ts'
import type { Problem } from '../schemas/payloads.ts'

const STATUS: Record<ErrorKind, number> = {
  invalid: 422,
  unauthorized: 401,
  forbidden: 403,
  notFound: 404,
  conflict: 409,
  limited: 429,
  unavailable: 503,
  corrupt: 503,
}

/** Defined by draft-ietf-httpapi-ratelimit-headers-10. */
const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded'

/** When to try again if it is not known for how long the failure will last. An operator has to mend what is corrupt. */
const RETRY_AFTER_S: Partial<Record<ErrorKind, number>> = { unavailable: 5, corrupt: 60 }

export const FAILED = 'the service failed; the failure was noted'
export const STORE_DOWN = 'the store does not answer; try again'
const DAMAGED = 'what the store holds for this call is damaged; the failure was noted, try again later'

/** An error of HTTP itself: an unreadable body, a wrong method. */
export class HttpError extends Error {
  readonly status: number

  constructor(status: number, detail: string) {
    super(detail)
    this.name = 'HttpError'
    this.status = status
  }
}

export interface ProblemAnswer {
  problem: Problem
  headers: Record<string, string>
}

/** What a caller is told about an error: nothing but that it was noted if its message is not meant for callers. */
export function problemOf(error: unknown): ProblemAnswer {
  if (error instanceof HttpError) return { problem: problem(error.status, error.message), headers: {} }
  if (!(error instanceof ServiceError)) return { problem: problem(500, FAILED), headers: {} }
  const told = problem(STATUS[error.kind], detailOf(error), error.expose ? error.faults : [])
  if (error.policy !== undefined) {
    told.type = QUOTA_EXCEEDED
    told['violated-policies'] = [error.policy]
  }
  if (error.checks) told.checks = error.checks
  const headers: Record<string, string> = {}
  const retryAfterS = error.retryAfterS ?? RETRY_AFTER_S[error.kind]
  if (retryAfterS !== undefined) headers['Retry-After'] = String(retryAfterS)
  return { problem: told, headers }
}

function detailOf({ kind, expose, message }: ServiceError): string {
  if (expose) return message
  if (kind === 'corrupt') return DAMAGED
  return kind === 'unavailable' ? STORE_DOWN : FAILED
}

export function problem(status: number, detail: string, faults: readonly Fault[] = []): Problem {
  const title = STATUS_CODES[status] ?? 'Error'
  return { type: 'about:blank', title, status, detail, ...(faults.length > 0 ? { errors: [...faults] } : {}) }
}
