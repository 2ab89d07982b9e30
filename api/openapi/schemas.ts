// The schemas of the OpenAPI document, generated from the zod schemas that validate requests and answers.
import { z } from 'zod'
import { PARTS, REQUESTS, REQUEST_PARTS, RESPONSES } from '../../schemas/json-schemas.ts'

/** Readers must take members that a later version adds to an answer; requests are strict. */
const OPEN = {
  input: {},
  output: {
    override: ({ jsonSchema }: { jsonSchema: { additionalProperties?: unknown } }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  },
} as const

/** The members that tell the kinds of an object apart. */
const KINDS = ['status', 'type'] as const

/** The document defines each named schema once and refers to it. */
export class NamedSchemas {
  readonly components: Record<string, object> = {}
  readonly #names = new Map<z.ZodType, string>()

  constructor() {
    this.#add({ ...RESPONSES, ...PARTS }, 'output')
    this.#add({ ...REQUESTS, ...REQUEST_PARTS }, 'input')
  }

  schemaOf(schema: z.ZodType, io: 'input' | 'output'): object {
    const name = this.#names.get(schema)
    if (name !== undefined) return { $ref: `#/components/schemas/${name}` }
    return withoutDialect(z.toJSONSchema(schema, { io, ...OPEN[io] }))
  }

  #add(named: Record<string, z.ZodType>, io: 'input' | 'output'): void {
    const registry = z.registry<{ id: string }>()
    for (const [file, schema] of Object.entries(named)) {
      const id = componentName(file)
      registry.add(schema, { id })
      this.#names.set(schema, id)
    }
    const { schemas } = z.toJSONSchema(registry, {
      io,
      uri: (id) => `#/components/schemas/${id}`,
      ...OPEN[io],
    })
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

/** Adds a discriminator to each choice between components that all have a constant of one name. */
function addDiscriminators(schema: unknown, components: Record<string, object>): void {
  if (typeof schema !== 'object' || schema === null) return
  for (const part of Object.values(schema)) addDiscriminators(part, components)
  const { oneOf } = schema as { oneOf?: { $ref?: string }[] }
  if (!oneOf) return
  for (const propertyName of KINDS) {
    const mapping = oneOf.flatMap(({ $ref }) => {
      const component: Discriminated | undefined = components[$ref?.split('/').at(-1) ?? '']
      const kind = component?.properties?.[propertyName]?.const
      return kind === undefined ? [] : [[kind, $ref!] as const]
    })
    if (mapping.length < oneOf.length) continue
    Object.assign(schema, { discriminator: { propertyName, mapping: Object.fromEntries(mapping) } })
  }
}

interface Discriminated {
  properties?: Partial<Record<(typeof KINDS)[number], { const?: string }>>
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
