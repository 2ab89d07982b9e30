// The answers of a call in the OpenAPI document: every status with its headers, its body and an example.
import { BODY_LIMIT_BYTES } from '../http/body.ts'
import type { Problem } from '../../schemas/answers.ts'
import { type LimitedCall, type QuotaState, Refusal } from '../limits/admission.ts'
import { STORE_DOWN, FAILED, problem, problemOf } from '../http/problems.ts'
import { type ProblemText, type Route, isReadableAnywhere } from '../http/route.ts'
import { invalid } from './examples.ts'
import { type HeaderName, headerRefs } from './headers.ts'

const DESCRIPTIONS: Record<number, string> = {
  400: 'The body cannot be read',
  401: 'No key where one is needed, or one that does not work here',
  403: 'A key of another agent, or without the scope',
  404: 'Not found',
  405: 'The path does not take this method',
  409: 'Not possible in the current state',
  413: 'The body is too large',
  415: 'The body is not JSON',
  422: 'A value is not valid: `errors` says which one and why',
  429: 'A quota is used up: `violated-policies` names it',
  500: 'The service failed',
  503: 'A dependency does not answer, stored data is damaged, or the service is stopping',
}

/** Problems that are the same for every call. The document defines each once and refers to it. */
const SHARED: Record<number, ProblemText & { name: string }> = {
  400: {
    name: 'BadRequest',
    type: 'unreadable-body',
    detail: 'the body is not JSON: at line 1, column 20, there is "}" where a value should be',
  },
  405: { name: 'MethodNotAllowed', type: 'wrong-method', detail: '/questions takes only HEAD, GET' },
  413: {
    name: 'ContentTooLarge',
    type: 'too-large',
    detail: `the body has more than ${BODY_LIMIT_BYTES} bytes`,
  },
  415: {
    name: 'UnsupportedMediaType',
    type: 'wrong-content-type',
    detail: 'the Content-Type must be application/json, not "text/plain"',
  },
  500: { name: 'InternalServerError', type: 'failed', detail: FAILED },
  503: { name: 'ServiceUnavailable', type: 'unavailable', detail: STORE_DOWN },
}

/** Failures of every call, and of every call with a body. */
const GENERAL = [405, 422, 500]
const BODY = [400, 413, 415]

const NO_SUCH_PARAMETER = invalid('query', 'colour', 'is not known here')

const KEY_PROBLEMS: Record<Route['key'], ProblemText> = {
  agent: { type: 'no-key', detail: 'no API key: send the header Authorization: Bearer <api_key>' },
  operator: { type: 'no-key', detail: 'no API key: send the header Authorization: Bearer <api_key>' },
  optional: { type: 'unknown-key', detail: 'the X-API-Key is unknown or was revoked' },
  none: { type: 'unknown-key', detail: 'the bearer token is unknown or was revoked' },
}

/** Problems of a call that takes an Idempotency-Key. */
const KEYED: Record<number, ProblemText> = {
  409: {
    type: 'request-in-progress',
    detail: 'a request with this Idempotency-Key is still under way: send it again later',
  },
  422: {
    type: 'idempotency-key-reused',
    detail: 'this Idempotency-Key was used for another request: send that one unchanged, or use a new key',
  },
}

const exceeded = (state: Omit<QuotaState, 'remaining' | 'windowS'>): Problem =>
  problemOf(new Refusal({ ...state, remaining: 0, windowS: state.resetS })).problem

const FAILED_TOO_OFTEN = { 'after many failures': exceeded({ policy: 'attempts', quota: 60, resetS: 17 }) }

const QUOTAS: Record<LimitedCall, Record<string, Problem>> = {
  register: { problem: exceeded({ policy: 'registrations', quota: 10, resetS: 30 * 60 }) },
  forecast: {
    problem: exceeded({ policy: 'forecasts', quota: 240, resetS: 17 }),
    'from one address': exceeded({ policy: 'forecasts-by-address', quota: 1_200, resetS: 17 }),
  },
  operator: { problem: exceeded({ policy: 'operator-calls', quota: 120, resetS: 17 }) },
  verification: {
    problem: exceeded({ policy: 'verifications', quota: 20, resetS: 17 }),
    'for the month': exceeded({ policy: 'monthly-calls-by-address', quota: 100, resetS: 3 * 86_400 }),
    'with a key': exceeded({ policy: 'monthly-calls', quota: 100, resetS: 3 * 86_400 }),
  },
  read: { problem: exceeded({ policy: 'reads', quota: 600, resetS: 17 }) },
  page: { problem: exceeded({ policy: 'pages', quota: 600, resetS: 17 }) },
  other: { problem: exceeded({ policy: 'other-calls', quota: 6_000, resetS: 17 }) },
}

const CORS: readonly HeaderName[] = ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers']
const QUOTA_STATE: readonly HeaderName[] = ['RateLimit-Policy', 'RateLimit']
/** Failures after a limited call was counted. */
const AFTER_COUNTING = new Set([403, 404, 409, 429])

function corsOf(spec: Route): readonly HeaderName[] {
  return spec.method === 'GET' && isReadableAnywhere(spec) ? CORS : []
}

/** Returns the failure statuses of a call, in order. */
function failuresOf({
  body,
  limit,
  scope,
  idempotent,
  needsStore,
  needsQuestions,
  problems = {},
}: Route): number[] {
  const statuses = [
    ...GENERAL,
    ...Object.keys(problems).map(Number),
    ...(body ? BODY : []),
    ...(limit === 'other' ? [] : [401]),
    ...(scope === undefined ? [] : [403]),
    ...(idempotent ? [409] : []),
    429,
    ...(needsStore || needsQuestions ? [503] : []),
  ]
  return [...new Set(statuses)].sort((a, b) => a - b)
}

export function answersOf(spec: Route, bodySchema: object): Record<string, object> {
  const { status = 200, description, mediaType = 'application/json', alsoAs = [], example } = spec.success
  const own = [...(spec.success.headers ?? []), ...(alsoAs.length > 0 ? ['Vary' as const] : [])]
  const content = { schema: bodySchema, examples: { success: { value: example } } }
  const headers = headerRefs([
    'X-Request-Id',
    'Cache-Control',
    ...corsOf(spec),
    ...(spec.method === 'GET' ? ['ETag' as const] : []),
    ...QUOTA_STATE,
    ...own,
  ])
  const answers: Record<string, object> = {
    [status]: {
      description,
      headers,
      content: Object.fromEntries([mediaType, ...alsoAs].map((type) => [type, content])),
      ...(spec.success.links ? { links: spec.success.links } : {}),
    },
  }
  if (spec.method === 'GET') answers['304'] = { description: 'Not modified', headers }
  for (const failure of failuresOf(spec)) {
    const shared = spec.problems?.[failure] ? undefined : SHARED[failure]
    answers[failure] = shared
      ? { $ref: `#/components/responses/${shared.name}` }
      : problemAnswer(failure, spec)
  }
  return answers
}

function problemAnswer(status: number, spec: Route): object {
  const isCounted = AFTER_COUNTING.has(status)
  const always = [...corsOf(spec)]
  const sometimes: HeaderName[] = status === 401 || isCounted ? [] : [...QUOTA_STATE]
  if (isCounted) always.push(...QUOTA_STATE)
  if (status === 401) always.push('WWW-Authenticate')
  if (status === 429) always.push('Retry-After')
  if (status === 409) sometimes.push('Retry-After')
  return answerOf(status, always, sometimes, examplesOf(status, spec))
}

function examplesOf(status: number, spec: Route): Record<string, Problem> {
  const { key, limit, idempotent, problems = {} } = spec
  if (status === 429) return { ...QUOTAS[limit], ...(limit === 'other' ? {} : FAILED_TOO_OFTEN) }
  const own = problems[status] ?? (status === 401 ? KEY_PROBLEMS[key] : undefined)
  const keyed = idempotent && KEYED[status]
  return {
    problem: exampleProblem(own ?? (status === 409 && keyed ? keyed : NO_SUCH_PARAMETER)),
    ...(keyed && own !== undefined ? { 'with an Idempotency-Key': exampleProblem(keyed) } : {}),
  }
}

function exampleProblem({ type, detail, errors }: ProblemText): Problem {
  return problem(type, detail, errors)
}

/** Returns the answers that are the same for every call. */
export function sharedAnswers(): Record<string, object> {
  const answers: Record<string, object> = {}
  for (const [text, { name, ...told }] of Object.entries(SHARED)) {
    const status = Number(text)
    // Only a POST has a body, and a wrong method is refused before anything is counted.
    const sometimes = [...(BODY.includes(status) ? [] : CORS), ...(status === 405 ? [] : QUOTA_STATE)]
    answers[name] = answerOf(status, status === 405 ? ['Allow'] : [], sometimes, {
      problem: exampleProblem(told),
    })
  }
  return answers
}

function answerOf(
  status: number,
  always: readonly HeaderName[],
  sometimes: readonly HeaderName[],
  problems: Record<string, Problem>,
): object {
  const unavailable: readonly HeaderName[] = status === 503 ? ['Retry-After'] : []
  const examples: Record<string, object> = {}
  for (const [name, value] of Object.entries(problems)) examples[name] = { value }
  return {
    description: DESCRIPTIONS[status],
    headers: headerRefs(['X-Request-Id', 'Cache-Control', ...always, ...unavailable], sometimes),
    content: {
      'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' }, examples },
    },
  }
}
