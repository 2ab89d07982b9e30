// The page of the data: each file of a release, with its columns or fields, made from the schemas.
import { z } from 'zod'
import { type ColumnFile, COLUMN_FILES, type FileColumn } from '../../schemas/file-columns.ts'
import { releaseManifest, snapshotManifest } from '../../schemas/manifests.ts'
import { categoriesFile, questionsFile } from '../../schemas/payloads.ts'
import { type Html, html, scrolling } from './html.ts'
import { page } from './layout.ts'
import { inlineMarkdown } from './markdown.ts'
import { type Schema, fieldsTable } from './reference.ts'
import { type Site, linkTo } from './site.ts'

interface FieldFile {
  id: string
  path: string
  about: string
  schema: z.ZodType
}

export const FIELD_FILES: readonly FieldFile[] = [
  {
    id: 'manifest',
    path: 'releases/<8 digits>/manifest.json',
    about: 'What a release consists of: every file with its hash, and what changed since the release before.',
    schema: releaseManifest,
  },
  {
    id: 'settled-questions',
    path: 'releases/<8 digits>/questions/<nnn>.json',
    about: 'What was forecast on questions that have closed and have an outcome.',
    schema: questionsFile,
  },
  {
    id: 'categories',
    path: 'releases/<8 digits>/categories/index.json',
    about: 'The categories of questions, and how many take part in each.',
    schema: categoriesFile,
  },
  {
    id: 'snapshot-manifest',
    path: 'snapshots/<day>/manifest.json',
    about: 'The files with the rank and skill of everyone on a day.',
    schema: snapshotManifest,
  },
]

export function dataPage(site: Site): Html {
  return page({
    site,
    title: 'The data',
    description: 'Each file of a release, with the type, unit, range and meaning of its columns.',
    path: '/docs/data',
    kind: 'article',
    intro:
      'This service scores the forecasts of people and programs, and publishes the results in numbered releases, each a folder of files. Here is what the columns of the Parquet files and the fields of the JSON files mean.',
    content: html`<p>Files are answered under <code>${linkTo(site, '/data/')}</code> as far as the operator publishes them; <a href="${linkTo(site, '/data/index.json')}">an index</a> lists those of the current release. <a href="${linkTo(site, '/docs')}">Calls</a> answer the same numbers one by one, and <a href="${linkTo(site, '/view/methodology')}">the method</a> has their formulas. Tables under <code>tables/</code> lie in the operator’s store alone.</p>
<p>Ids are UUIDs as text in lower case, times are instants in UTC with milliseconds. A range such as <code>0..1</code> includes both ends.</p>
<nav class="contents" aria-label="Contents"><ul class="ways">
${[...COLUMN_FILES, ...FIELD_FILES].map(({ id, path }) => html`<li><a href="#${id}"><code>${shortPath(path)}</code></a></li>\n`)}</ul></nav>
<h2 id="parquet">Parquet files</h2>
${COLUMN_FILES.map(columnFile)}<h2 id="json">JSON files</h2>
${FIELD_FILES.map(fieldFile)}`,
  })
}

/** Returns a path without the folder of its release. */
function shortPath(path: string): string {
  return path.replace('releases/<8 digits>/', '').replace('/recorded_date=<day>/….parquet', '')
}

function columnFile({ id, path, about, columns }: ColumnFile): Html {
  return html`<section aria-labelledby="${id}">
<h3 id="${id}"><code>${shortPath(path)}</code></h3>
<p><code>${path}</code></p>
<p>${inlineMarkdown(about)}</p>
${scrolling(
  `Columns of ${shortPath(path)}`,
  html`<table class="fields"><thead><tr><th scope="col">column</th><th scope="col">type</th><th scope="col">unit</th><th scope="col">range</th><th scope="col">better</th><th scope="col">meaning</th></tr></thead>
<tbody>
${columns.map(columnRow)}</tbody></table>`,
)}</section>
`
}

function columnRow({ name, type, isNullable = false, unit, range, better, about }: FileColumn): Html {
  return html`<tr><th scope="row"><code>${name}</code></th><td>${type}${isNullable && ' or null'}</td><td>${unit}</td><td>${range}</td><td>${better}</td><td>${inlineMarkdown(about)}</td></tr>
`
}

function fieldFile({ id, path, about, schema }: FieldFile): Html {
  const fields = z.toJSONSchema(schema, { unrepresentable: 'any' }) as Schema
  return html`<section aria-labelledby="${id}">
<h3 id="${id}"><code>${shortPath(path)}</code></h3>
<p><code>${path}</code></p>
<p>${inlineMarkdown(about)}</p>
${fieldsTable(`Fields of ${shortPath(path)}`, fields)}</section>
`
}
