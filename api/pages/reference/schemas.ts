// Shows a schema: its type in words, and its fields as rows of a table.
import { type Html, type HtmlPart, html } from '../html.ts'
import { inlineMarkdown } from '../markdown.ts'
import { scrolling } from '../table.ts'
import { type Schema, componentOf } from './document.ts'

/** The anchor of a named schema. */
export function anchorOf(name: string): string {
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

function limits(least: number | undefined, most: number | undefined, of?: string): string | undefined {
  const unit = of === undefined ? '' : ` ${of}`
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
