// The page of all calls for developers, made from the OpenAPI document, so that it needs no program in the
// browser.
import { type Html, html } from '../html.ts'
import { page } from '../layout.ts'
import { inlineMarkdown, paragraphsOf } from '../markdown.ts'
import { type Site, commandAddress, linkTo } from '../site.ts'
import { type ApiDocument, type Schema, callsOf } from './document.ts'
import { callOf } from './operation.ts'
import { anchorOf, fieldsTable, typeOf } from './schemas.ts'

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
    content: html`<p class="lead">All calls of the service, as in <a href="${linkTo(site, '/openapi.json')}">openapi.json</a>. Language models find a short guide in <a href="${linkTo(site, '/llms.txt')}">llms.txt</a>.</p>
<p>Commands take the address and the key from the shell:</p>
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
