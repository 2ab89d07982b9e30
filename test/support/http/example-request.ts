// Makes requests from the examples of the OpenAPI document, for a world in which they are true.
import type { Operation } from './api-document.ts'
import type { ExampleKeys } from '../worlds/example-world.ts'
import { type Answer, type Client, bearer } from './service.ts'

/** A request from the document's examples, in parts that a test may change. */
export interface Request {
  method: string
  path: string
  query: Record<string, string>
  headers: Record<string, string>
  body?: unknown
}

export function exampleOf(operation: Operation, keys: ExampleKeys): Request {
  const { method, parameters, requestBody, security } = operation
  const of = (place: string) =>
    parameters.filter((parameter) => parameter.in === place && parameter.example !== undefined)
  const filled = (text: string, { name, example }: { name: string; example: unknown }) =>
    text.replace(`{${name}}`, String(example))
  const values = (place: string) => of(place).map(({ name, example }) => [name, String(example)])
  const headers: Record<string, string> = {}
  const isOptional = security.some((scheme) => Object.keys(scheme).length === 0)
  if (!isOptional && security.some((scheme) => 'agent' in scheme)) Object.assign(headers, bearer(keys.agent))
  if (security.some((scheme) => 'operator' in scheme)) Object.assign(headers, bearer(keys.operator))
  if (security.some((scheme) => 'client' in scheme)) headers['X-API-Key'] = keys.client
  if (requestBody || method === 'POST') headers['Content-Type'] = 'application/json'
  return {
    method,
    path: of('path').reduce(filled, operation.path),
    query: Object.fromEntries(values('query')) as Record<string, string>,
    headers,
    body: requestBody?.content['application/json']!.examples['request']!.value,
  }
}

export function send(client: Client, { method, path, query, headers, body }: Request): Promise<Answer> {
  const search = new URLSearchParams(query).toString()
  return client.send(method, search === '' ? path : `${path}?${search}`, { headers, body })
}
