// Makes every error answer: RFC 9457 problem details, chosen by the kind and the type of the error alone.
import type { Problem } from '../../schemas/answers.ts'
import { type ErrorKind, type Fault, ServiceError } from '../../schemas/errors.ts'
import {
  PROBLEM_TYPES,
  type ProblemName,
  QUOTA_EXCEEDED,
  QUOTA_TYPE,
  problemAddress,
} from '../../schemas/problems.ts'

/** The problem of an error that names no type, by its kind. */
const TYPES: Record<Exclude<ErrorKind, 'limited'>, ProblemName> = {
  invalid: 'invalid-body',
  unauthorized: 'unknown-key',
  forbidden: 'other-agents-key',
  notFound: 'not-found',
  conflict: 'request-in-progress',
  unavailable: 'unavailable',
  corrupt: 'damaged',
}

/**
 * The pause before a retry if nobody knows how long the failure will last. An operator has to repair corrupt
 * data.
 */
const RETRY_AFTER_S: Partial<Record<ErrorKind, number>> = { unavailable: 5, corrupt: 60 }

export const FAILED = 'the service failed; the failure was noted'
export const STORE_DOWN = 'the store does not answer; try again'
const DAMAGED = 'what the store holds for this call is damaged; the failure was noted, try again later'

/** An error of HTTP itself, such as an unreadable body or a wrong method. */
export class HttpError extends Error {
  readonly type: ProblemName
  readonly headers: Record<string, string>

  constructor(type: ProblemName, detail: string, headers: Record<string, string> = {}) {
    super(detail)
    this.name = 'HttpError'
    this.type = type
    this.headers = headers
  }
}

export interface ProblemAnswer {
  problem: Problem
  headers: Record<string, string>
}

/**
 * Returns the problem that a caller sees. It has the error's message only if that is meant for callers, and
 * otherwise a general one.
 */
export function problemOf(error: unknown): ProblemAnswer {
  if (error instanceof HttpError) {
    return { problem: problem(error.type, error.message), headers: error.headers }
  }
  if (!(error instanceof ServiceError)) return { problem: problem('failed', FAILED), headers: {} }
  const told = toldOf(error)
  if (error.checks) told.checks = error.checks
  const headers: Record<string, string> = {}
  const retryAfterS = error.retryAfterS ?? RETRY_AFTER_S[error.kind]
  if (retryAfterS !== undefined) headers['Retry-After'] = String(retryAfterS)
  return { problem: told, headers }
}

function toldOf(error: ServiceError): Problem {
  const { kind, policy } = error
  const detail = detailOf(error)
  if (kind === 'limited') {
    const quota = { type: QUOTA_EXCEEDED, title: QUOTA_TYPE.title, status: 429, detail } as const
    return policy === undefined ? quota : { ...quota, 'violated-policies': [policy] }
  }
  return problem(error.type ?? TYPES[kind], detail, error.expose ? error.faults : [])
}

function detailOf({ kind, expose, message }: ServiceError): string {
  if (expose) return message
  if (kind === 'corrupt') return DAMAGED
  return kind === 'unavailable' ? STORE_DOWN : FAILED
}

export function problem(type: ProblemName, detail: string, faults: readonly Fault[] = []): Problem {
  const { status, title } = PROBLEM_TYPES[type]
  const errors = faults.length > 0 ? { errors: [...faults] } : {}
  return { type: problemAddress(type), title, status, detail, ...errors }
}
