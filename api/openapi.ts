// The OpenAPI document, generated from the routes and the schemas that validate.
import { z } from 'zod'
import { problem } from '../schemas/payloads.ts'
import type { Route } from './route.ts'

/** Failures that every call can have. */
const GENERAL = [400, 405, 422, 500]
const BODY = [413, 415]

const DESCRIPTIONS: Record<number, string> = {
  400: 'The request cannot be read',
  401: 'No key, or an unknown one',
  403: 'A key of another agent',
  404: 'Not there',
  405: 'Another method',
  409: 'Not possible in the present state',
  413: 'The body is too large',
  415: 'The body is of another type than JSON',
  422: 'A value is not valid; errors name which',
  429: 'Too often',
  500: 'The service failed',
  503: 'A dependency does not answer; try again after Retry-After',
}

export function openApiDocument(routes: readonly Route[], version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const spec of routes) {
    ;(paths[spec.path] ??= {})[spec.method.toLowerCase()] = operation(spec)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Forecast verification service',
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    components: {
      schemas: { Problem: z.toJSONSchema(problem) },
      securitySchemes: {
        agent: { type: 'http', scheme: 'bearer' },
        client: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
    },
  }
}

function operation(spec: Route): object {
  const statuses = [...new Set([...GENERAL, ...(spec.method === 'POST' ? BODY : []), ...spec.failures])].sort(
    (a, b) => a - b,
  )
  const failures = statuses.map((status): [string, object] => [
    String(status),
    {
      description: DESCRIPTIONS[status] ?? '',
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    },
  ])
  const success = {
    description: 'Success',
    content: {
      [spec.success.mediaType ?? 'application/json']: { schema: z.toJSONSchema(spec.success.body) },
    },
  }
  return {
    summary: spec.summary,
    parameters: [...parameters(spec.params, 'path'), ...parameters(spec.query, 'query')],
    ...(spec.method === 'POST'
      ? {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: inputSchema(spec.body) } },
          },
        }
      : {}),
    ...(spec.key === 'agent' ? { security: [{ agent: [] }] } : {}),
    ...(spec.key === 'optional' ? { security: [{}, { client: [] }] } : {}),
    responses: { [spec.success.status]: success, ...Object.fromEntries(failures) },
  }
}

function parameters(schema: z.ZodType, place: 'path' | 'query'): object[] {
  const { properties = {}, required = [] } = inputSchema(schema) as {
    properties?: Record<string, object>
    required?: string[]
  }
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: property,
  }))
}

const inputSchema = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input' })
