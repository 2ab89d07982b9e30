// The schemas of the OpenAPI document, generated from the zod schemas that validate requests and answers.
import { z } from 'zod'
import { PARTS, REQUESTS, RESPONSES } from '../../schemas/json-schemas.ts'

/** Files in the store that no call returns. */
const STORED = new Set([
  'release-shard',
  'owner-shard',
  'leaderboard-file',
  'row-groups-file',
  'release-manifest',
  'snapshot-shard',
  'snapshot-manifest',
])

/** The document defines each named schema once and refers to it. */
export class NamedSchemas {
  readonly components: Record<string, object> = {}
  readonly #names = new Map<z.ZodType, string>()

  constructor() {
    this.#add({ ...RESPONSES, ...PARTS }, 'output')
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
    addDiscriminators(this.components, this.components)
  }
}

/** Returns the fields of an object as parameters, each with its example. */
export function parameters(
  schema: z.ZodType,
  place: 'path' | 'query',
  examples: Record<string, unknown> = {},
): object[] {
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
      example: examples[name],
    }
  })
}

/** Adds a discriminator to each choice between components that all have a constant `status`. */
function addDiscriminators(schema: unknown, components: Record<string, object>): void {
  if (typeof schema !== 'object' || schema === null) return
  for (const part of Object.values(schema)) addDiscriminators(part, components)
  const { oneOf } = schema as { oneOf?: { $ref?: string }[] }
  if (!oneOf) return
  const mapping = oneOf.flatMap(({ $ref }) => {
    const component: Discriminated | undefined = components[$ref?.split('/').at(-1) ?? '']
    const status = component?.properties?.status?.const
    return status === undefined ? [] : [[status, $ref!] as const]
  })
  if (mapping.length < oneOf.length) return
  Object.assign(schema, { discriminator: { propertyName: 'status', mapping: Object.fromEntries(mapping) } })
}

interface Discriminated {
  properties?: { status?: { const?: string } }
}

/** The document sets the dialect and the address of all schemas. */
function withoutDialect(schema: object): object {
  const { $schema: _dialect, $id: _address, ...rules } = schema as Record<string, unknown>
  return rules
}

/** Turns `agent-verification` into AgentVerification. */
export function componentName(file: string): string {
  return file.replace(/(?:^|-)([a-z])/g, (_whole, letter: string) => letter.toUpperCase())
}
