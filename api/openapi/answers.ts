// The answers of a call in the OpenAPI document: every status with its headers, its body and an example.
import { STATUS_CODES } from 'node:http'
import { BODY_LIMIT_BYTES } from '../body.ts'
import { QUOTA_EXCEEDED } from '../problems.ts'
import { type HeaderName, headerRefs } from './headers.ts'
import type { CallText, ProblemText } from './text.ts'
import type { Route } from '../route.ts'

const DESCRIPTIONS: Record<number, string> = {
  400: 'The body cannot be read',
  401: 'No key, or one that does not work here',
  403: 'A key of another agent',
  404: 'Not there',
  405: 'The path has other methods',
  409: 'Not possible in the present state',
  413: 'The body is too large',
  415: 'The body is of another type than JSON',
  422: 'A value is not valid: `errors` names which and why',
  429: 'A quota is used up: `violated-policies` names it',
  500: 'The service failed',
  503: 'A dependency does not answer, or the service is stopping',
}

/** The same for whatever call is made: named once, and referred to. */
const SHARED: Record<number, ProblemText & { name: string }> = {
  400: { name: 'BadRequest', detail: 'the body is not JSON in UTF-8' },
  405: { name: 'MethodNotAllowed', detail: '/questions is called with HEAD, GET' },
  413: { name: 'ContentTooLarge', detail: `the body has more than ${BODY_LIMIT_BYTES} bytes` },
  415: {
    name: 'UnsupportedMediaType',
    detail: 'the Content-Type must be application/json, not "text/plain"',
  },
  500: { name: 'InternalServerError', detail: 'the service failed; the failure was noted' },
  503: { name: 'ServiceUnavailable', detail: 'the store does not answer; try again' },
}

/** Failures of every call, and of every one that takes a body. */
const GENERAL = [405, 422, 500]
const BODY = [400, 413, 415]

const NO_SUCH_PARAMETER: ProblemText = {
  detail: 'the query is not valid: colour is not a known field',
  errors: [{ pointer: '/colour', detail: 'is not a known field' }],
}

const CORS: readonly HeaderName[] = ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers']
const STANDING: readonly HeaderName[] = ['RateLimit-Policy', 'RateLimit']
/** By then a limited call has been counted. */
const AFTER_COUNTING = new Set([403, 404, 409, 429])

/** The statuses of failure that a call can have, in order. */
function failuresOf({ method, idempotent, failures }: Route): number[] {
  const own = [...failures, ...(idempotent ? [409] : []), ...(method === 'POST' ? BODY : [])]
  return [...new Set([...GENERAL, ...own])].sort((a, b) => a - b)
}

export function answersOf(spec: Route, text: CallText, bodySchema: object): Record<string, object> {
  const cors = spec.method === 'GET' ? CORS : []
  const counted = spec.limit ? STANDING : []
  const { status, mediaType = 'application/json' } = spec.success
  const headers: readonly HeaderName[] = ['X-Request-Id', 'Cache-Control', ...cors, ...counted]
  const own = text.headers ?? []
  const sometimes = own.filter((name) => name === 'X-Service-Signature')
  const always = own.filter((name) => name !== 'X-Service-Signature')
  const answers: Record<string, object> = {
    [status]: {
      description: text.answer,
      headers: headerRefs([...headers, ...always, ...sometimes]),
      content: { [mediaType]: { schema: bodySchema, examples: { success: { value: text.success } } } },
    },
  }
  if (always.includes('ETag')) {
    answers['304'] = {
      description: 'What `If-None-Match` names is still so',
      headers: headerRefs([...headers, ...always, ...sometimes]),
    }
  }
  for (const failure of failuresOf(spec)) {
    const shared = SHARED[failure]
    const told = text.problems?.[failure]
    answers[failure] =
      shared && !told
        ? { $ref: `#/components/responses/${shared.name}` }
        : problemAnswer(failure, told ?? NO_SUCH_PARAMETER, { cors, counted, spec })
  }
  return answers
}

interface Circumstances {
  cors: readonly HeaderName[]
  counted: readonly HeaderName[]
  spec: Route
}

function problemAnswer(status: number, text: ProblemText, { cors, counted, spec }: Circumstances): object {
  const isCounted = AFTER_COUNTING.has(status)
  const isKnown = status !== 401 && !isCounted
  const always: HeaderName[] = ['X-Request-Id', 'Cache-Control', ...cors, ...(isCounted ? counted : [])]
  const sometimes: HeaderName[] = isKnown ? [...counted] : []
  if (status === 401) always.push('WWW-Authenticate')
  if (status === 429 || status === 503) always.push('Retry-After')
  if (status === 409) sometimes.push('Retry-After')
  return {
    description: DESCRIPTIONS[status],
    headers: headerRefs(always, sometimes),
    content: problemContent(status, examplesOf(status, text, spec)),
  }
}

type Examples = Record<string, ProblemText & { policy?: string }>

const QUOTAS: Record<NonNullable<Route['limit']>, Examples> = {
  register: {
    problem: {
      policy: 'registrations',
      detail: 'at most 10 agents may be registered from one address in an hour; try again in 30 minutes',
    },
  },
  forecast: {
    problem: {
      policy: 'forecasts',
      detail: 'this agent has submitted 240 forecasts in a short time; try again in 17 s',
    },
  },
  verification: {
    problem: {
      policy: 'verifications',
      detail: 'at most 60 calls a minute come from one address without a key; try again in 17 s',
    },
    'with a key': {
      policy: 'monthly-calls',
      detail: 'the 100 verification calls of this key for this month are used up; try again in 3 days',
    },
  },
}

/** What an Idempotency-Key may come to. */
const KEYED: Record<number, ProblemText> = {
  409: { detail: 'a request with this Idempotency-Key is still under way: send it again later' },
  422: {
    detail: 'this Idempotency-Key was used for another request: send that one unchanged, or use a new key',
  },
}

function examplesOf(status: number, text: ProblemText, { limit, idempotent }: Route): Examples {
  if (status === 429 && limit) return QUOTAS[limit]
  const keyed = idempotent && KEYED[status]
  return keyed ? { problem: text, 'with an Idempotency-Key': keyed } : { problem: text }
}

function problemContent(status: number, examples: Examples): object {
  const shown = Object.entries(examples).map(([name, { detail, errors, policy }]) => {
    const value = {
      type: policy === undefined ? 'about:blank' : QUOTA_EXCEEDED,
      title: STATUS_CODES[status],
      status,
      detail,
      ...(errors ? { errors } : {}),
      ...(policy === undefined ? {} : { 'violated-policies': [policy] }),
    }
    return [name, { value }]
  })
  return {
    'application/problem+json': {
      schema: { $ref: '#/components/schemas/Problem' },
      examples: Object.fromEntries(shown) as object,
    },
  }
}

/** The answers that are the same for whatever call is made. */
export function sharedAnswers(): Record<string, object> {
  return Object.fromEntries(
    Object.entries(SHARED).map(([text, { name, ...told }]) => {
      const status = Number(text)
      const always: HeaderName[] = ['X-Request-Id', 'Cache-Control']
      if (status === 405) always.push('Allow')
      if (status === 503) always.push('Retry-After')
      // A body is sent by POST alone, and another method is refused before anything is counted.
      const sometimes = [...(BODY.includes(status) ? [] : CORS), ...(status === 405 ? [] : STANDING)]
      return [
        name,
        {
          description: DESCRIPTIONS[status],
          headers: headerRefs(always, sometimes),
          content: problemContent(status, { problem: told }),
        },
      ]
    }),
  )
}
