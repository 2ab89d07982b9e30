// Shows one call: what it takes, what it answers, and a command that makes it.
import { type Html, type HtmlPart, html } from '../html.ts'
import { inlineMarkdown, paragraphsOf } from '../markdown.ts'
import { type Site, commandAddress } from '../site.ts'
import { scrolling } from '../table.ts'
import {
  type Answer,
  type ApiDocument,
  type Call,
  type Content,
  type Parameter,
  componentOf,
} from './document.ts'
import { fieldsTable, typeOf } from './schemas.ts'

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
export function callOf(site: Site, document: ApiDocument, call: Call): Html {
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
  const [example] = Object.values(examples)
  return html`<p>Fields: ${typeOf(schema)}</p>
${example?.value !== undefined && html`<pre>${written(example.value)}</pre>`}`
}

function written(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
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
