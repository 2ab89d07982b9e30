// The parts of an OpenAPI 3.1 document that its page shows.

export interface Schema {
  $ref?: string
  type?: string | readonly string[]
  description?: string
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: readonly Schema[]
  oneOf?: readonly Schema[]
  enum?: readonly unknown[]
  const?: unknown
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: Schema
  example?: string | number
}

export interface Content {
  schema?: Schema
  examples?: Readonly<Record<string, { value?: unknown }>>
}

export interface Answer {
  $ref?: string
  description?: string
  content?: Readonly<Record<string, Content>>
}

export interface Operation {
  operationId: string
  tags: readonly string[]
  summary: string
  description: string
  parameters: readonly Parameter[]
  requestBody?: { required: boolean; content: Readonly<Record<string, Content>> }
  security: readonly Readonly<Record<string, unknown>>[]
  responses: Readonly<Record<string, Answer>>
}

export interface ApiDocument {
  info: { title: string; version: string; description: string }
  tags: readonly { name: string; description: string }[]
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  components: {
    schemas: Readonly<Record<string, Schema>>
    responses: Readonly<Record<string, Answer>>
  }
}

/** An operation with its place. */
export interface Call {
  /** In capital letters. */
  method: string
  path: string
  operation: Operation
}

export function callsOf({ paths }: ApiDocument): Call[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

/** Returns the last part of a reference, which is the name of a component. */
export function componentOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}
