// The page of the data: every column of every Parquet file of a store stands on it with its type and its words,
// and every field of the manifest.
import { parquetMetadata } from 'hyparquet'
import { expect, test } from 'vitest'
import { FIELD_FILES, dataPage } from '../../../api/pages/data.ts'
import { COLUMN_FILES, type ColumnFile } from '../../../schemas/file-columns.ts'
import { releaseManifest } from '../../../schemas/manifests.ts'
import { TABLE_NAMES, tableSpec } from '../../../schemas/tables.ts'
import { suiteFolder } from '../../support/folder.ts'
import { testService } from '../../support/http/service.ts'
import { loggedWorld } from '../../support/worlds/logged-world.ts'

const { text } = dataPage({ environment: 'production', publicUrl: undefined })

/** The section of the page with an anchor. */
const sectionOf = (id: string) => text.split(`<section aria-labelledby="${id}">`)[1]!.split('</section>')[0]!

/** Returns the description of a file of a store. */
function describedFile(path: string): ColumnFile | undefined {
  const named = path.replace(/^releases\/\d{8}/, 'releases/<8 digits>')
  return COLUMN_FILES.find(({ path: pattern }) =>
    named.startsWith(pattern.replace(/<(nnn|period)>\.parquet$|<day>.*$/, '')),
  )
}

/** The columns of a file with their types, in the words of the page. */
function columnsOf(bytes: Uint8Array) {
  return parquetMetadata(new Uint8Array(bytes).buffer)
    .schema.slice(1)
    .map(({ name, type, logical_type: logical }) => {
      const types: Record<string, string> = {
        BYTE_ARRAY: 'text',
        DOUBLE: 'double',
        BOOLEAN: 'boolean',
        INT32: logical?.type === 'DATE' ? 'date' : 'integer',
        INT64: logical?.type === 'TIMESTAMP' ? 'time' : 'integer',
      }
      return { name, type: types[type!] }
    })
}

test('every Parquet file of a store is described, with its columns in order and their types', async () => {
  const { store } = await loggedWorld(await suiteFolder(), false)
  const files = [...store.objects].filter(([path]) =>
    /^(releases|tables)\/.*(?<!checkpoint)\.parquet$/.test(path),
  )
  const seen = new Set<string>()
  for (const [path, bytes] of files) {
    const described = describedFile(path)
    expect(described, path).toBeDefined()
    seen.add(described!.id)
    expect(
      described!.columns.map(({ name, type }) => ({ name, type: type.replace('UUID ', '') })),
      path,
    ).toEqual(columnsOf(bytes))
  }
  const absent = COLUMN_FILES.map(({ id }) => id).filter((id) => !seen.has(id))
  expect(absent.filter((id) => !['table-rationales', 'table-usage'].includes(id))).toEqual([])
})

test.each(COLUMN_FILES)('$path: the page has its columns with their words', ({ id, columns }) => {
  const rows = [...sectionOf(id).matchAll(/<tr><th scope="row"><code>(\w+)<\/code><\/th>(.*)<\/tr>/g)]
  expect(rows.map(([, name]) => name)).toEqual(columns.map(({ name }) => name))
  for (const [, name, cells] of rows) expect(cells, name).toMatch(/<td>[^<].{3,}<\/td>$/)
})

test('a number of a score has its unit, its range and which values are better', () => {
  expect(sectionOf('scores')).toMatch(
    /<code>brier<\/code><\/th><td>double<\/td><td>[^<]+<\/td><td>0\.\.1<\/td><td>lower<\/td>/,
  )
})

test.each(TABLE_NAMES)('%s: the page says which columns may be null', (name) => {
  const section = sectionOf(`table-${name}`)
  for (const { name: column, nullable } of tableSpec(name).columns) {
    const [, type] = new RegExp(`<code>${column}</code></th><td>([^<]+)</td>`).exec(section)!
    expect(type!.endsWith(' or null'), column).toBe(nullable)
  }
})

test('the manifest stands there with every field', () => {
  const section = sectionOf('manifest')
  for (const field of Object.keys(releaseManifest.shape)) expect(section).toContain(`<code>${field}</code>`)
  expect(section).toContain('<code>files[].sha256</code>')
})

test('every anchor is there once', () => {
  const ids = Array.from(text.matchAll(/ id="([^"]+)"/g), ([, id]) => id!)
  expect(new Set(ids).size).toBe(ids.length)
  for (const { id } of [...COLUMN_FILES, ...FIELD_FILES]) expect(ids).toContain(id)
  for (const [, anchor] of text.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(anchor)
})

test.for(['', '/sandbox'])('%s/docs leads to it', async (mount) => {
  const { client } = await testService()
  expect((await client.get(`${mount}/docs`)).text).toContain(`href="${mount}/docs/data"`)
  const { status, headers, text: served } = await client.get(`${mount}/docs/data`)
  expect(status).toBe(200)
  expect(headers['cache-control']).toBe('public, max-age=60')
  expect(served).toContain('<h1>The data</h1>')
})
