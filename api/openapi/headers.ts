// The headers of answers as the OpenAPI document describes them, each once.
import { AGENT_ID } from './examples.ts'
import { SECURITY_HEADERS } from '../security-headers.ts'

interface Header {
  description: string
  required: boolean
  schema: object
  example: string | number
}

export type HeaderName = keyof typeof HEADERS

const POLICIES = { type: 'string', pattern: '^"[a-z-]+";q=[0-9]+;w=[0-9]+$' }
const STANDING = { type: 'string', pattern: '^"[a-z-]+";r=[0-9]+;t=[0-9]+$' }

const HEADERS = {
  'X-Request-Id': {
    description: 'Names this answer in the logs of the operator.',
    required: true,
    schema: { type: 'string', pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' },
    example: AGENT_ID,
  },
  'Cache-Control': {
    description: 'How long an answer may be kept, and by whom (RFC 9111).',
    required: true,
    schema: { type: 'string', pattern: '^(no-store|no-cache|(public|private), max-age=[0-9]+)$' },
    example: 'public, max-age=60',
  },
  Vary: {
    description: 'Who keeps this answer keeps it for those only who send no key.',
    required: true,
    schema: { type: 'string', const: 'X-API-Key' },
    example: 'X-API-Key',
  },
  'Access-Control-Allow-Origin': {
    description: 'Any web page may read what a GET answers.',
    required: true,
    schema: { type: 'string', const: '*' },
    example: '*',
  },
  'Access-Control-Expose-Headers': {
    description: 'The headers that a web page may read.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z-]+(, [A-Za-z-]+)*$' },
    example: 'ETag, Retry-After, X-Service-Signature',
  },
  ETag: {
    description: 'The SHA-256 of the body. Send it as `If-None-Match` to be told 304 while it holds.',
    required: true,
    schema: { type: 'string', pattern: '^"[0-9a-f]{64}"$' },
    example: `"${'9f86d081884c7d65'.repeat(4)}"`,
  },
  'X-Service-Signature': {
    description:
      'HMAC-SHA256 over the exact bytes of the body, in hex; while secrets are changed, one by each. ' +
      'Absent where signing is off.',
    required: false,
    schema: { type: 'string', pattern: '^v1=[0-9a-f]{64}(, v1=[0-9a-f]{64})?$' },
    example: `v1=${'7d0f3a94c25e18b6'.repeat(4)}`,
  },
  'RateLimit-Policy': {
    description:
      'The quota that this call counted toward, `q` calls in `w` seconds (draft-ietf-httpapi-ratelimit-headers-10).',
    required: true,
    schema: POLICIES,
    example: '"forecasts";q=240;w=120',
  },
  RateLimit: {
    description: 'What is left of it: `r` calls; after `t` seconds the quota is whole again.',
    required: true,
    schema: STANDING,
    example: '"forecasts";r=239;t=120',
  },
  'Retry-After': {
    description: 'Try again after so many seconds.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 5,
  },
  'WWW-Authenticate': {
    description: 'The scheme by which a key is sent.',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
    example: 'Bearer',
  },
  Allow: {
    description: 'The methods that this path has.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Z]+(, [A-Z]+)*$' },
    example: 'HEAD, GET',
  },
} as const satisfies Record<string, Header>

/** Sent with whatever is answered, and so not named with each answer. */
const OF_EVERY_ANSWER: Record<keyof typeof SECURITY_HEADERS, string> = {
  'Content-Security-Policy':
    'A browser loads and runs nothing of an answer, but for the page /docs what that needs.',
  'Referrer-Policy': 'A browser tells no other site where it came from.',
  'Strict-Transport-Security': 'Behind TLS a browser comes back by TLS only.',
  'X-Content-Type-Options': 'The Content-Type is meant as it stands.',
  'X-Frame-Options': 'No page may frame an answer.',
}

const componentName = (name: string) => name.replaceAll('-', '')
const OPTIONAL = 'IfAny'

/** Names a header that is always there, or one that is there at times, as `required: false` says. */
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

/** Every header once, and once more where it is there at times only. */
export function headerComponents(): Record<string, object> {
  const often: readonly HeaderName[] = [
    'RateLimit',
    'RateLimit-Policy',
    'Retry-After',
    'Access-Control-Allow-Origin',
    'Access-Control-Expose-Headers',
  ]
  return {
    ...Object.fromEntries(Object.entries(HEADERS).map(([name, header]) => [componentName(name), header])),
    ...Object.fromEntries(
      often.map((name) => [componentName(name) + OPTIONAL, { ...HEADERS[name], required: false }]),
    ),
    ...Object.fromEntries(
      Object.entries(SECURITY_HEADERS).map(([name, value]) => [
        componentName(name),
        {
          description: OF_EVERY_ANSWER[name as keyof typeof SECURITY_HEADERS],
          required: true,
          schema: { type: 'string' },
          example: value,
        },
      ]),
    ),
  }
}
