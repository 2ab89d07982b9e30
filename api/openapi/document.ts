// The OpenAPI document, generated from the routes and the schemas that validate.
import { z } from 'zod'
import { RESPONSES, REQUESTS } from '../../schemas/json-schemas.ts'
import { MAX_KEY_LENGTH, MIN_UNGUESSABLE_LENGTH } from '../idempotency-key.ts'
import { MOUNTS } from '../mounts.ts'
import { answersOf, sharedAnswers } from './answers.ts'
import { OPERATIONS } from './calls.ts'
import { IDEMPOTENCY_KEY } from './examples.ts'
import { headerComponents } from './headers.ts'
import { type CallText, TAGS } from './text.ts'
import type { Route } from '../route.ts'

const DESCRIPTION = `Takes probabilities, scores everyone by one published method and publishes the result as signed JSON.

**Sandbox.** The same calls are there under \`/sandbox\`, with keys of their own, on simulated questions that open, close and
resolve by themselves. A key of the other environment is answered 401.

**Problems.** Every error is \`application/problem+json\` (RFC 9457). Its \`type\` is \`about:blank\`, so that the status says what
kind it is, but for a quota that is used up. Unknown parameters and fields are refused, and so
are those that stand twice. What is not HTTP at all is answered
400, 408, 413 or 431 in the same form, but without \`X-Request-Id\`.

**Every other answer** has \`X-Request-Id\` and the headers that keep a browser from taking it for more than it is:
\`Content-Security-Policy\`, \`Referrer-Policy\`, \`Strict-Transport-Security\`, \`X-Content-Type-Options\` and \`X-Frame-Options\`.
HEAD works wherever GET does, and any web page may read what a GET answers.`

/** What the service keeps for itself, and nobody is sent. */
const STORED = new Set(['release-shard', 'release-manifest', 'snapshot-shard', 'snapshot-manifest'])

export function openApiDocument(routes: readonly Route[], version: string): object {
  const schemas = new NamedSchemas()
  const paths: Record<string, Record<string, object>> = {}
  for (const spec of routes) {
    ;(paths[spec.path] ??= {})[spec.method.toLowerCase()] = operation(spec, schemas)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Forecast verification service',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      { url: MOUNTS.production === '' ? '/' : MOUNTS.production, description: 'Production' },
      { url: MOUNTS.sandbox, description: 'The sandbox: simulated questions, and keys of its own' },
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

function operation(spec: Route, schemas: NamedSchemas): object {
  const text = OPERATIONS[`${spec.method} ${spec.path}`]
  if (!text) throw new Error(`api/openapi/calls.ts says nothing of ${spec.method} ${spec.path}`)
  return {
    operationId: text.id,
    tags: [text.tag],
    summary: spec.summary,
    description: text.description,
    parameters: [
      ...parameters(spec.params, 'path', text),
      ...parameters(spec.query, 'query', text),
      ...(spec.idempotent ? [idempotencyKey(spec.key === 'none')] : []),
    ],
    ...(spec.method === 'POST'
      ? {
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: schemas.of(spec.body, 'input'),
                examples: { request: { value: text.body } },
              },
            },
          },
        }
      : {}),
    // An empty list says that nobody needs a key.
    security: { agent: [{ agent: [] }], optional: [{}, { client: [] }], none: [] }[spec.key],
    responses: answersOf(spec, text, schemas.of(spec.success.body, 'output')),
  }
}

function parameters(schema: z.ZodType, place: 'path' | 'query', { parameters: values }: CallText): object[] {
  const { properties = {}, required = [] } = withoutDialect(z.toJSONSchema(schema, { io: 'input' })) as {
    properties?: Record<string, object>
    required?: string[]
  }
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rules } = property as { description?: string }
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      description,
      schema: rules,
      example: values?.[name],
    }
  })
}

/** As draft-ietf-httpapi-idempotency-key-header has it, and without its quotation marks. */
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
    example: IDEMPOTENCY_KEY,
  }
}

/** Schemas that have a name stand in the document once, under it. */
class NamedSchemas {
  readonly components: Record<string, object> = {}
  readonly #names = new Map<z.ZodType, string>()

  constructor() {
    this.#add(RESPONSES, 'output')
    this.#add(REQUESTS, 'input')
  }

  of(schema: z.ZodType, io: 'input' | 'output'): object {
    const name = this.#names.get(schema)
    if (name !== undefined) return { $ref: `#/components/schemas/${name}` }
    return withoutDialect(z.toJSONSchema(schema, { io }))
  }

  #add(named: Record<string, z.ZodType>, io: 'input' | 'output'): void {
    const registry = z.registry<{ id: string }>()
    for (const [file, schema] of Object.entries(named)) {
      if (STORED.has(file)) continue
      const id = componentName(file)
      registry.add(schema, { id })
      this.#names.set(schema, id)
    }
    const { schemas } = z.toJSONSchema(registry, { io, uri: (id) => `#/components/schemas/${id}` })
    for (const [name, schema] of Object.entries(schemas)) this.components[name] = withoutDialect(schema)
  }
}

/** The dialect and the address of a schema are the document's. */
function withoutDialect(schema: object): object {
  const { $schema: _dialect, $id: _address, ...rules } = schema as Record<string, unknown>
  return rules
}

/** `agent-verification` is AgentVerification. */
function componentName(file: string): string {
  return file.replace(/(?:^|-)([a-z])/g, (_whole, letter: string) => letter.toUpperCase())
}
