// The headers of answers as the OpenAPI document describes them.
import { CHALLENGES } from '../http/route.ts'
import { AGENT_ID } from './examples.ts'
import { logExamples } from './log-examples.ts'
import { SECURITY_HEADERS } from '../http/answer-head.ts'

export type HeaderName = keyof typeof HEADERS

/** An answer always has the headers that it lists, unless an entry here says otherwise. */
const HEADERS = {
  'X-Request-Id': {
    description: 'Identifies this answer in the logs of the operator.',
    schema: { type: 'string', pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' },
    example: AGENT_ID,
  },
  'Cache-Control': {
    description: 'Whether, where and for how long the answer may be cached (RFC 9111).',
    schema: {
      type: 'string',
      pattern:
        '^(no-store|no-cache|(public|private), max-age=[0-9]+(, (immutable|stale-while-revalidate=[0-9]+))?)$',
    },
    example: 'public, max-age=60',
  },
  Vary: {
    description: 'A cached answer is only for callers that send the same in these headers, such as no key.',
    schema: { type: 'string', enum: ['X-API-Key, Authorization', 'Accept'] },
    example: 'X-API-Key, Authorization',
  },
  'Cross-Origin-Resource-Policy': {
    description: 'Any web page may show the picture.',
    schema: { type: 'string', const: 'cross-origin' },
    example: 'cross-origin',
  },
  Location: {
    description: 'The path of the profile of the agent, which is there from the next release on.',
    schema: { type: 'string', pattern: '^(/sandbox)?/agents/[0-9a-f-]{36}$' },
    example: `/agents/${AGENT_ID}`,
  },
  'Access-Control-Allow-Origin': {
    description: 'Any web page may read the answer to a GET.',
    schema: { type: 'string', const: '*' },
    example: '*',
  },
  'Access-Control-Expose-Headers': {
    description: 'The headers that a web page may read.',
    schema: { type: 'string', pattern: '^[A-Za-z-]+(, [A-Za-z-]+)*$' },
    example: 'ETag, Retry-After, X-Service-Signature',
  },
  ETag: {
    description:
      'The SHA-256 of the body. Send it as `If-None-Match` to be answered 304 while the body is the same.',
    schema: { type: 'string', pattern: '^"[0-9a-f]{64}"$' },
    example: `"${'9f86d081884c7d65'.repeat(4)}"`,
  },
  'X-Service-Signature': {
    description:
      'HMAC-SHA256 over the exact bytes of the body, in hex; while a secret is rotated, one for each secret. ' +
      'Absent where signing is off.',
    required: false,
    schema: { type: 'string', pattern: '^v1=[0-9a-f]{64}(, v1=[0-9a-f]{64})?$' },
    example: `v1=${'7d0f3a94c25e18b6'.repeat(4)}`,
  },
  'X-Service-Receipt': {
    description:
      'Base64 of a receipt for the exact bytes of the body: a c2sp.org/tlog-proof whose checkpoint the public log has signed. ' +
      'Absent where the service keeps no public log.',
    required: false,
    schema: { type: 'string', pattern: '^[0-9A-Za-z+/]+={0,2}$' },
    example: logExamples().receipt,
  },
  'RateLimit-Policy': {
    description:
      'The quota that this call counted toward, `q` calls in `w` seconds (draft-ietf-httpapi-ratelimit-headers-10).',
    schema: { type: 'string', pattern: '^"[a-z-]+";q=[0-9]+;w=[0-9]+$' },
    example: '"forecasts";q=240;w=120',
  },
  RateLimit: {
    description:
      'What is left of the quota: `r` calls; after `t` seconds the whole quota is available again.',
    schema: { type: 'string', pattern: '^"[a-z-]+";r=[0-9]+;t=[0-9]+$' },
    example: '"forecasts";r=239;t=120',
  },
  'Retry-After': {
    description: 'Try again after this many seconds.',
    schema: { type: 'integer', minimum: 1 },
    example: 5,
  },
  'WWW-Authenticate': {
    description: 'How to send a key: as a bearer token, or in the header X-API-Key.',
    schema: { type: 'string', enum: [...new Set(Object.values(CHALLENGES))] },
    example: CHALLENGES.agent,
  },
  Allow: {
    description: 'The methods that this path takes.',
    schema: { type: 'string', pattern: '^[A-Z]+(, [A-Z]+)*$' },
    example: 'HEAD, GET',
  },
}

/** Headers that every answer has, so that no answer lists them. */
const OF_EVERY_ANSWER: Record<keyof typeof SECURITY_HEADERS, string> = {
  'Content-Security-Policy': 'A browser loads and runs nothing from an answer, except what a page needs.',
  'Referrer-Policy': 'A browser does not tell other sites where it came from.',
  'Strict-Transport-Security': 'After a visit over TLS, a browser uses TLS only.',
  'X-Content-Type-Options': 'A browser does not guess another Content-Type.',
  'X-Frame-Options': 'No page may show an answer in a frame.',
}

const componentName = (name: string) => name.replaceAll('-', '')
const OPTIONAL = 'IfAny'
/** Headers that some answers have only sometimes. */
const OPTIONAL_HEADERS: readonly HeaderName[] = [
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Access-Control-Allow-Origin',
  'Access-Control-Expose-Headers',
]

/** Returns references to headers that an answer always has, and to `optional` ones that it sometimes has. */
export function headerRefs(names: readonly HeaderName[], optional: readonly HeaderName[] = []): object {
  const ref = (name: HeaderName, suffix = '') => [
    name,
    { $ref: `#/components/headers/${componentName(name)}${suffix}` },
  ]
  return Object.fromEntries([
    ...names.map((name) => ref(name)),
    ...optional.map((name) => ref(name, OPTIONAL)),
  ])
}

export function headerComponents(): Record<string, object> {
  const components: Record<string, object> = {}
  for (const [name, header] of Object.entries(HEADERS)) {
    components[componentName(name)] = { required: true, ...header }
  }
  for (const name of OPTIONAL_HEADERS) {
    components[componentName(name) + OPTIONAL] = { ...HEADERS[name], required: false }
  }
  for (const [name, example] of Object.entries(SECURITY_HEADERS)) {
    const description = OF_EVERY_ANSWER[name as keyof typeof SECURITY_HEADERS]
    components[componentName(name)] = { description, required: true, schema: { type: 'string' }, example }
  }
  return components
}
