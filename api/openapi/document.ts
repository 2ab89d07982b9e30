// The OpenAPI document, generated from the routes.
import { MAX_KEY_LENGTH, MIN_UNGUESSABLE_LENGTH } from '../http/idempotency-key.ts'
import { type About, DEFAULT_NAME } from '../about.ts'
import { MOUNTS } from '../mounts.ts'
import type { Route, Tag } from '../http/route.ts'
import { answersOf, sharedAnswers } from './answers.ts'
import { headerComponents } from './headers.ts'
import { NamedSchemas, parameters } from './schemas.ts'

const DESCRIPTION = `Takes probabilities, scores everyone by one published method and publishes the result as JSON, signed if the operator has set a secret.

**Sandbox.** The same calls are available under \`/sandbox\`, with keys of their own, on simulated questions that open, close
and resolve by themselves where the operator runs the simulation. A key of the other environment is answered 401.

**Problems.** Every error is \`application/problem+json\` (RFC 9457). Its \`type\` is what a program
can branch on; those that begin with \`/problems/\` are addresses here, whose pages say what happened and what to do. Unknown and repeated parameters and fields are refused.
Anything that is not a valid HTTP request is answered 400, 408, 413, 431 or 501 in the same form, but without \`X-Request-Id\`.

**Every other answer** has \`X-Request-Id\` and the headers that limit what a browser does with it:
\`Content-Security-Policy\`, \`Referrer-Policy\`, \`Strict-Transport-Security\`, \`X-Content-Type-Options\` and \`X-Frame-Options\`.
HEAD works wherever GET does, and any web page may read the answer to a GET.`

/** The title where the operator has named nothing. */
const DEFAULT_TITLE = 'Forecast verification service'

const TAGS: Record<Tag, string> = {
  Agents: 'Register an agent and submit its forecasts.',
  Operator:
    'For whoever runs the questions: questions, outcomes, people and their forecasts, and owners of agents, by HTTP.',
  Verification: 'Verifications of agents and forecasters, signed if the operator has set a secret.',
  Records: 'What was published about agents and forecasters: scores, ranks and history.',
  Questions: 'The questions and their outcomes.',
  Log: 'The public log, and proofs that something was published.',
  Method: 'How forecasts are scored.',
  Service: 'For operators and their monitoring, and this document.',
}

export function openApiDocument(routes: readonly Route[], version: string, about?: About): object {
  const schemas = new NamedSchemas()
  const paths: Record<string, Record<string, object>> = {}
  for (const spec of routes.filter(({ isDocumented }) => isDocumented !== false)) {
    ;(paths[spec.path] ??= {})[spec.method.toLowerCase()] = operation(spec, schemas)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: about === undefined || about.serviceName === DEFAULT_NAME ? DEFAULT_TITLE : about.serviceName,
      version,
      description: DESCRIPTION,
      ...contactOf(about),
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      { url: MOUNTS.production === '' ? '/' : MOUNTS.production, description: 'Production' },
      { url: MOUNTS.sandbox, description: 'The sandbox: simulated questions and keys of its own' },
    ],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: schemas.components,
      responses: sharedAnswers(),
      headers: headerComponents(),
      securitySchemes: {
        agent: {
          type: 'http',
          scheme: 'bearer',
          description: 'The key of an agent, from its registration.',
        },
        operator: {
          type: 'http',
          scheme: 'bearer',
          description: 'A key of the operator, from `fvs keys create --kind operator`.',
        },
        client: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'The key of a client or an agent. Without one a call counts toward its address.',
        },
      },
    },
  }
}

/** Who answers for the service, if the operator has said so. */
function contactOf({ operatorName, contactUrl }: Partial<About> = {}): { contact?: object } {
  const contact = {
    ...(operatorName !== undefined && { name: operatorName }),
    ...(contactUrl?.startsWith('https:') && { url: contactUrl }),
    // Without the subject and other fields of the link, which no address has.
    ...(contactUrl?.startsWith('mailto:') && { email: contactUrl.slice('mailto:'.length).split('?')[0] }),
  }
  return Object.keys(contact).length > 0 ? { contact } : {}
}

function operation(spec: Route, schemas: NamedSchemas): object {
  const { examples } = spec
  return {
    operationId: spec.operationId,
    tags: [spec.tag],
    summary: spec.summary,
    description: spec.description,
    parameters: [
      ...parameters(spec.params, 'path', examples?.params),
      ...parameters(spec.query, 'query', examples?.query),
      ...(spec.idempotent ? [idempotencyKey(spec.key === 'none')] : []),
    ],
    requestBody: spec.body && {
      required: spec.isBodyOptional !== true,
      content: {
        'application/json': {
          schema: schemas.schemaOf(spec.body, 'input'),
          examples: { request: { value: examples?.body } },
        },
      },
    },
    // An empty list means that no key is needed.
    security: {
      agent: [{ agent: [] }],
      operator: [{ operator: [] }],
      optional: [{}, { client: [] }, { agent: [] }],
      none: [],
    }[spec.key],
    responses: answersOf(spec, schemas.schemaOf(spec.success.body, 'output')),
  }
}

/**
 * Describes the header in its bare form, without the quotation marks of
 * draft-ietf-httpapi-idempotency-key-header. The header has no example, because everyone who tries the call
 * on the page would send that example and get the same agent and API key.
 */
function idempotencyKey(isUnguessable: boolean): object {
  const shortest = isUnguessable ? MIN_UNGUESSABLE_LENGTH : 1
  return {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Names this request, so that it takes effect once however often it is sent. It is kept for at least two days. ' +
      (isUnguessable
        ? 'Anyone who has it and the same body is shown the API key again for 24 hours: use a random UUID and keep it secret.'
        : 'Use a random UUID.'),
    schema: { type: 'string', minLength: shortest, maxLength: MAX_KEY_LENGTH, pattern: '^[!#-~][!-~]*$' },
  }
}
