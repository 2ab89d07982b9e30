// The page of all calls for developers, made from the OpenAPI document: what each call takes and answers, a
// command that makes it, and the fields of all schemas. It needs no program in the browser.
import { type Html, type HtmlPart, html, scrolling } from './html.ts'
import { page } from './layout.ts'
import { inlineMarkdown, paragraphsOf } from './markdown.ts'
import { type Site, commandAddress, linkTo } from './site.ts'

export function referencePage(site: Site, document: ApiDocument): Html {
  const calls = callsOf(document)
  const tags = document.tags.filter(({ name }) =>
    calls.some(({ operation }) => operation.tags.includes(name)),
  )
  const schemas = Object.entries(document.components.schemas)
  return page({
    site,
    title: 'For developers',
    description: 'All calls of the service, with what they take and answer.',
    path: '/docs',
    kind: 'article',
    alternates: { 'application/json': '/openapi.json' },
    intro: html`This service scores the forecasts of people and programs. Here are all calls by which a program forecasts, reads scores and checks them, as in <a href="${linkTo(site, '/openapi.json')}">openapi.json</a>. The published files have <a href="${linkTo(site, '/docs/data')}">a page of their own</a>, and language models <a href="${linkTo(site, '/llms.txt')}">a short guide</a>.`,
    content: html`<p>Commands take the address and the key from the shell:</p>
<pre>export FVS_URL=${site.publicUrl === undefined ? '… # the address of this page, without /docs at its end' : commandAddress(site, '')}
export FVS_KEY=… # from the answer to a registration</pre>
${paragraphsOf(document.info.description)}
<nav class="contents" aria-label="Contents"><ul class="ways">
${tags.map(({ name }) => html`<li><a href="#tag-${name}">${name}</a></li>\n`)}<li><a href="#schemas">Schemas</a></li>
</ul></nav>
${tags.map(
  ({ name, description }) => html`<section aria-labelledby="tag-${name}">
<h2 id="tag-${name}">${name}</h2>
<p>${inlineMarkdown(description)}</p>
${calls.filter(({ operation }) => operation.tags.includes(name)).map((call) => callOf(site, document, call))}</section>
`,
)}<section aria-labelledby="schemas">
<h2 id="schemas">Schemas</h2>
<p>What calls take and answer, by name.</p>
${schemas.map(schemaOf)}</section>`,
  })
}

function schemaOf([name, schema]: [string, Schema]): Html {
  return html`<details class="call"><summary><h3><code>${name}</code></h3></summary>
<div id="${anchorOf(name)}">
${schema.description !== undefined && html`<p>${inlineMarkdown(schema.description)}</p>\n`}${fieldsTable(`Fields of ${name}`, schema) ?? html`<p>${typeOf(schema)}</p>`}
</div></details>
`
}

const KEYS = {
  none: 'No key is needed.',
  agent: 'Needs the agent’s own key.',
  operator: 'Needs a key of the operator.',
  client: 'Works without a key. With one, the call counts toward the key.',
}

/** Returns the kind of key that a call takes. */
function neededKey({ operation: { security } }: Call): keyof typeof KEYS {
  const names = security.flatMap((each) => Object.keys(each))
  if (names.includes('client')) return 'client'
  if (names.includes('operator')) return 'operator'
  return names.includes('agent') ? 'agent' : 'none'
}

/**
 * Returns a call that opens and closes. Its anchor is inside, because browsers open what holds the target of
 * a link.
 */
function callOf(site: Site, document: ApiDocument, call: Call): Html {
  const { method, path, operation } = call
  const { operationId: id, summary, description, parameters, requestBody, responses } = operation
  const body = requestBody && Object.entries(requestBody.content)[0]
  return html`<details class="call"><summary><h3><code><b>${method}</b> ${path}</code> <span>${summary}</span></h3></summary>
<div id="${id}">
${paragraphsOf(description)}
<p class="mute">${KEYS[neededKey(call)]}</p>
${parameters.length > 0 && html`<h4>Parameters</h4>\n${parametersTable(id, parameters)}\n`}${
    body &&
    html`<h4>Body</h4>
${bodyOf(id, body[1], document)}
`
  }<h4>In a shell</h4>
<pre>${commandOf(site, call)}</pre>
<h4>Answers</h4>
${answersOf(responses, document)}
</div></details>
`
}

function parametersTable(id: string, parameters: readonly Parameter[]): Html {
  return scrolling(
    `Parameters of ${id}`,
    html`<table class="fields"><thead><tr><th scope="col">name</th><th scope="col">value</th><th scope="col">meaning</th></tr></thead>
<tbody>
${parameters.map(
  ({ name, in: place, required, description, schema }) =>
    html`<tr><th scope="row"><code>${name}</code> <small>${place}${!required && ', optional'}</small></th><td>${typeOf(schema)}</td><td>${description !== undefined && inlineMarkdown(description)}</td></tr>
`,
)}</tbody></table>`,
  )
}

/** Shows the fields of a body. */
function bodyOf(id: string, { schema = {} }: Content, { components }: ApiDocument): HtmlPart {
  const named = schema.$ref === undefined ? undefined : components.schemas[componentOf(schema.$ref)]
  return html`<p>${typeOf(schema)}</p>
${fieldsTable(`Body of ${id}`, named ?? schema)}`
}

/** Shows an answer by an example; its fields stand among the schemas, because many calls share them. */
function contentOf({ schema = {}, examples = {} }: Content): HtmlPart {
  const value = Object.values(examples)[0]?.value
  const written = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return html`<p>Fields: ${typeOf(schema)}</p>
${value !== undefined && html`<pre>${written}</pre>`}`
}

function answersOf(responses: Readonly<Record<string, Answer>>, document: ApiDocument): Html {
  const all = Object.entries(responses).map(([status, answer]) => {
    const { $ref } = answer
    return [
      status,
      $ref === undefined ? answer : (document.components.responses[componentOf($ref)] ?? answer),
    ] as const
  })
  const [success] = all.filter(([status]) => status.startsWith('2'))
  const [mediaType, content] = Object.entries(success?.[1].content ?? {})[0] ?? []
  return html`<p><b>${success?.[0]}</b> ${inlineMarkdown(success?.[1].description ?? '')}${mediaType !== undefined && html`, as <code>${mediaType}</code>`}</p>
${content && contentOf(content)}
<ul>
${all
  .filter(([status]) => status !== success?.[0])
  .map(
    ([status, { description }]) => html`<li><b>${status}</b> ${inlineMarkdown(description ?? '')}</li>\n`,
  )}</ul>`
}

/** Keys and addresses are variables of the shell, so that the command can be pasted as it is. */
function commandOf(site: Site, call: Call): string {
  const { method, path, operation } = call
  const { parameters, requestBody } = operation
  const filled = path.replaceAll(/\{\+?(\w+)\}/g, (_whole, name: string) =>
    String(parameters.find((each) => each.name === name)?.example ?? `$${name.toUpperCase()}`),
  )
  const query = parameters
    .filter((each) => each.in === 'query' && each.required && each.example !== undefined)
    .map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`)
    .join('&')
  const key = neededKey(call)
  const [content] = Object.values(requestBody?.content ?? {})
  const [example] = Object.values(content?.examples ?? {})
  const lines = [
    `curl ${method === 'GET' || (method === 'POST' && example) ? '' : `-X ${method} `}"${commandAddress(site, filled)}${query && `?${query}`}"`,
    key === 'agent' || key === 'operator' ? `-H "Authorization: Bearer $FVS_KEY"` : undefined,
    example && `--json '${JSON.stringify(example.value).replaceAll("'", "'\\''")}'`,
  ]
  return lines.filter((line) => line !== undefined).join(' \\\n  ')
}

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
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
}

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: Schema
  example?: string | number
}

interface Content {
  schema?: Schema
  examples?: Readonly<Record<string, { value?: unknown }>>
}

interface Answer {
  $ref?: string
  description?: string
  content?: Readonly<Record<string, Content>>
}

interface Operation {
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
interface Call {
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
function componentOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}

/** The anchor of a named schema. */
function anchorOf(name: string): string {
  return `schema-${name}`
}

/** Says what a value may be, in words, with links to named schemas. */
export function typeOf(schema: Schema): Html {
  const { $ref, anyOf, oneOf, enum: values, items, additionalProperties: others } = schema
  if ($ref !== undefined) {
    const name = componentOf($ref)
    return html`<a href="#${anchorOf(name)}">${name}</a>`
  }
  const choices = anyOf ?? oneOf
  if (choices) return joined(choices.map(typeOf), ' or ')
  if ('const' in schema) return literal(schema.const)
  if (values) return joined(values.map(literal), ', ')
  if (items) return html`list of ${typeOf(items)}${limits(schema.minItems, schema.maxItems, 'items')}`
  if (typeof others === 'object' && !schema.properties) return html`object of ${typeOf(others)}`
  const types = [schema.type ?? 'any value'].flat().join(' or ')
  return html`${schema.format === undefined ? types : `${types}, ${schema.format}`}${limits(schema.minimum, schema.maximum)}${limits(schema.minLength, schema.maxLength, 'characters')}`
}

const literal = (value: unknown) => html`<code>${JSON.stringify(value)}</code>`

function joined(parts: readonly Html[], between: string): Html {
  return html`${parts.map((part, index) => [index > 0 && between, part])}`
}

function limits(least: number | undefined, most: number | undefined, noun?: string): string | undefined {
  const unit = noun === undefined ? '' : ` ${noun}`
  if (least !== undefined && most !== undefined) return `, ${least} to ${most}${unit}`
  if (least !== undefined) return `, at least ${least}${unit}`
  if (most !== undefined) return `, at most ${most}${unit}`
  return undefined
}

/** Returns the table of the fields of an object; undefined for a value without any. */
export function fieldsTable(name: string, schema: Schema): Html | undefined {
  const rows = fieldRows(schema, '')
  if (rows.length === 0) return undefined
  return scrolling(
    name,
    html`<table class="fields"><thead><tr><th scope="col">field</th><th scope="col">value</th><th scope="col">meaning</th></tr></thead>
<tbody>
${rows}</tbody></table>`,
  )
}

/** Fields of objects without a name of their own follow that object, as in `interval.lower`. */
function fieldRows(schema: Schema, before: string): HtmlPart[] {
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).flatMap(([field, its]) => {
    const name = before + field
    const row = html`<tr><th scope="row"><code>${name}</code>${required.includes(field) ? undefined : html` <small>optional</small>`}</th><td>${typeOf(its)}</td><td>${its.description !== undefined && inlineMarkdown(its.description)}</td></tr>
`
    return [row, ...inlineObjects(its, name).flatMap(([inner, path]) => fieldRows(inner, `${path}.`))]
  })
}

/** Yields the objects in a value that have no name of their own, each with its path. */
function inlineObjects(schema: Schema, path: string): [Schema, string][] {
  if (schema.$ref !== undefined) return []
  if (schema.properties) return [[schema, path]]
  if (schema.items) return inlineObjects(schema.items, `${path}[]`)
  return (schema.anyOf ?? schema.oneOf ?? []).flatMap((choice) => inlineObjects(choice, path))
}
