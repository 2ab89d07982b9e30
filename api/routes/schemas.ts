// The JSON Schema of each payload and each request, as verifiers without this code validate by.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { type SchemaName, schemaTexts } from '../../schemas/json-schemas.ts'
import { route } from '../http/route.ts'

/** Made at the first call, because making all takes longer than any other part of a start. */
let texts: ReadonlyMap<string, string> | undefined

const EXAMPLE: SchemaName = 'problem'

export const jsonSchema = route({
  path: '/schemas/{name}',
  operationId: 'getJsonSchema',
  tag: 'Service',
  summary: 'The JSON Schema of a payload or a request',
  description:
    'JSON Schema 2020-12. It refuses members that it does not name, as this version of the service writes none; the ' +
    'OpenAPI document allows them, so that clients take those of later versions.',
  params: z.strictObject({ name: z.string().describe('The name, such as `agent-verification`') }),
  examples: { params: { name: EXAMPLE } },
  success: {
    description: 'The schema',
    body: z.record(z.string(), z.unknown()),
    mediaType: 'application/schema+json',
    cache: 'public, max-age=86400',
    example: { $schema: 'https://json-schema.org/draft/2020-12/schema', title: EXAMPLE, type: 'object' },
  },
  problems: { 404: { type: 'not-found', detail: noSchema('nothing') } },
  handle: ({ params }) => {
    texts ??= schemaTexts()
    const text = texts.get(params.name)
    if (text === undefined) throw new ServiceError('notFound', noSchema(params.name))
    return { body: new TextEncoder().encode(text) }
  },
})

function noSchema(name: string): string {
  return `there is no schema ${JSON.stringify(name.slice(0, 100))}; GET /openapi.json names the payloads of every call`
}
