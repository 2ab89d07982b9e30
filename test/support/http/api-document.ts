// The OpenAPI document as a client reads it: its operations, the answers that each may give, and a check of
// an answer.
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect } from 'vitest'
import { SECURITY_HEADERS } from '../../../api/http/answer-head.ts'
import type { Answer } from './service.ts'

interface Content {
  [mediaType: string]: { schema: object; examples: Record<string, { value: unknown }> }
}

interface Header {
  required: boolean
  schema: { type: string }
  example: unknown
}

export interface ResponseObject {
  description: string
  headers: Record<string, Header>
  content?: Content
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description: string
  schema: Record<string, unknown>
  example: unknown
}

interface OperationObject {
  operationId: string
  tags: string[]
  summary: string
  description: string
  parameters: Parameter[]
  requestBody?: { content: Content }
  security: Record<string, string[]>[]
  responses: Record<string, object>
}

export interface Document {
  tags: { name: string }[]
  servers: { url: string }[]
  paths: Record<string, Record<string, OperationObject>>
  components: {
    schemas: Record<string, object>
    headers: Record<string, Header>
    responses: Record<string, object>
  }
}

export interface Operation extends OperationObject {
  method: string
  path: string
}

/** Headers of HTTP itself, which any answer may have. */
const TRANSPORT = ['connection', 'content-length', 'content-type', 'date', 'keep-alive']

export class ApiDocument {
  readonly document: Document
  readonly operations: Operation[]
  readonly #ajv = new Ajv2020({ strictTypes: false, allErrors: true })

  constructor(document: Document) {
    this.document = document
    addFormats.default(this.#ajv)
    // Of OpenAPI: it says which of the choices applies, and restricts nothing.
    this.#ajv.addKeyword('discriminator')
    this.#ajv.addSchema({ $id: 'openapi', $defs: local(document.components.schemas) })
    this.operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        ...operation,
        method: method.toUpperCase(),
        path,
      })),
    )
  }

  /** Follows a `$ref`; returns any other value as it is. */
  resolved<T>(value: object): T {
    if (!('$ref' in value)) return value as T
    const [, components, kind, name] = String(value.$ref).split('/') as [string, string, string, string]
    const found = (this.document as unknown as Record<string, Record<string, Record<string, unknown>>>)[
      components
    ]?.[kind]?.[name]
    if (found === undefined) throw new Error(`there is nothing at ${String(value.$ref)}`)
    return found as T
  }

  response(operation: Operation, status: string): ResponseObject {
    const found = this.resolved<ResponseObject>(operation.responses[status]!)
    const headers = Object.entries(found.headers).map(([name, header]) => [
      name,
      this.resolved<Header>(header),
    ])
    return { ...found, headers: Object.fromEntries(headers) as Record<string, Header> }
  }

  /** The violations of its schema in a value. */
  faultsOf(schema: object, value: unknown): string[] {
    const validate = this.#ajv.compile(local(schema))
    validate(value)
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
  }
}

/** Fails if an answer is not as the document describes it. */
export function expectDocumented(api: ApiDocument, operation: Operation, answer: Answer): void {
  const status = String(answer.status)
  expect(Object.keys(operation.responses), answer.text).toContain(status)
  const { headers, content } = api.response(operation, status)
  expectHeaders(api, headers, answer)
  if (content === undefined) {
    expect(answer.text).toBe('')
    return
  }
  const [mediaType] = answer.headers['content-type']!.split(';') as [string]
  expect(Object.keys(content)).toContain(mediaType)
  const body: unknown = /json$|\/vc$/.test(mediaType) ? answer.json() : answer.text
  const faults = api.faultsOf(content[mediaType]!.schema, body)
  expect(faults, `${faults.join('; ')} in ${answer.text}`).toEqual([])
  if (mediaType === 'application/problem+json') {
    expect(body).toMatchObject({ status: answer.status })
  }
}

function expectHeaders(api: ApiDocument, documented: Record<string, Header>, answer: Answer): void {
  const ofEveryAnswer = Object.keys(SECURITY_HEADERS).map((name) => [
    name,
    api.document.components.headers[name.replaceAll('-', '')]!,
  ])
  const headers = { ...documented, ...(Object.fromEntries(ofEveryAnswer) as Record<string, Header>) }
  for (const [name, { required, schema }] of Object.entries(headers)) {
    const sent = answer.headers[name.toLowerCase()]
    if (sent === undefined) expect(required, `${name} is missing from ${answer.status}`).toBe(false)
    else expect(api.faultsOf(schema, schema.type === 'integer' ? Number(sent) : sent), name).toEqual([])
  }
  const known = [...Object.keys(headers).map((name) => name.toLowerCase()), ...TRANSPORT]
  expect(Object.keys(answer.headers).filter((name) => !known.includes(name))).toEqual([])
}

/**
 * The schemas of the document, by their addresses in the validator. Readers take members that a later version
 * adds, but this version answers none that the document does not name.
 */
function local(schema: object): object {
  const text = JSON.stringify(schema).replaceAll('#/components/schemas/', 'openapi#/$defs/')
  return JSON.parse(text, (_name, part: unknown) =>
    isObjectSchema(part) ? { additionalProperties: false, ...part } : part,
  ) as object
}

function isObjectSchema(part: unknown): part is object {
  return typeof part === 'object' && part !== null && 'properties' in part && 'type' in part
}
