// What no case of `cases/` can say of reading a file: what holds of any text, any name, and any size.
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Database } from '../../pipeline/duckdb.ts'
import { openInput } from '../../pipeline/import/input.ts'
import { openJson } from '../../pipeline/import/json-file.ts'
import { readRows } from '../../pipeline/import/read-file.ts'
import { suiteFolder, testFolder } from '../support/folder.ts'
import { runs } from '../support/runs.ts'

const COLUMNS = { required: ['id', 'title'], optional: [] }
const PLAIN = { delimiter: undefined, map: new Map<string, string>(), ignoreUnknown: false }

const spill = await suiteFolder()
const context = () => ({ database, directory: spill })
let database: Database
beforeAll(async () => {
  database = await Database.open({ threads: 2, memoryLimit: '1GB', directory: spill })
})
afterAll(() => {
  database[Symbol.dispose]()
})

async function readText(path: string, content: string) {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
  return readRows(context(), path, COLUMNS, PLAIN)
}

const incoming = () => database.rows('SELECT id, title FROM incoming ORDER BY record')

/** A value in the notation of RFC 4180: quoted if it must be, or if `quoted` says so. */
const field = (value: string, quoted: boolean) =>
  quoted || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value

test('CSV is read as RFC 4180 defines it, with the line of each record', async () => {
  const path = join(await testFolder(), 'rows.csv')
  const text = fc.string({
    unit: fc.constantFrom('a', '"', ',', '\n', '\r\n', ' ', 'é', "'"),
    maxLength: 6,
  })
  const record = fc.record({
    id: text,
    title: text,
    quoted: fc.boolean(),
    blanksBefore: fc.integer({ min: 0, max: 2 }),
  })
  const written = fc.record({
    rows: fc.array(record, { minLength: 1, maxLength: 8 }),
    eol: fc.constantFrom('\n', '\r\n'),
    mark: fc.constantFrom('', '\ufeff'),
    ended: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(written, async ({ rows, eol, mark, ended }) => {
      let content = `${mark}id,title`
      const lines: number[] = []
      for (const { id, title, quoted, blanksBefore } of rows) {
        content += eol.repeat(1 + blanksBefore)
        lines.push(content.split('\n').length)
        content += [id, title].map((value) => field(value, quoted)).join(',')
      }
      const { rejected, placesOf } = await readText(path, ended ? content + eol : content)
      expect(rejected.count).toBe(0)
      expect(await incoming()).toEqual(
        rows.map(({ id, title }) => ({ id: id || null, title: title || null })),
      )
      const read = await database.rows<{ record: bigint }>('SELECT record FROM incoming ORDER BY record')
      const places = await placesOf(read.map((one) => Number(one.record)))
      expect(places).toEqual(lines.map((line) => `line ${line}`))
    }),
    { numRuns: runs(60) },
  )
})

test('a file that several threads read gives each row the number of its place', async () => {
  const rows = Array.from({ length: 400_000 }, (_, index) => `${index},title ${index}`)
  await readText(join(await testFolder(), 'rows.csv'), ['id,title', ...rows, ''].join('\n'))
  const [found] = await database.rows(
    'SELECT count(*)::INTEGER AS n, (count(*) FILTER (WHERE record <> id::BIGINT))::INTEGER AS moved FROM incoming',
  )
  expect(found).toEqual({ n: 400_000, moved: 0 })
})

test.for([
  "it's.csv",
  'a b.csv',
  'rows[1].csv',
  'rows?.csv',
  'rows*.csv',
  'rows[[]1].csv',
  'day=1/rows.csv',
  'ROWS.CSV',
  '🦉.csv',
])('a file named %s is read, and no other', async (name) => {
  const beside = await testFolder()
  const content = (id: string) => `id,title\n${id},a\n`
  // Files that these names would match if they were patterns.
  for (const other of ['rows1.csv', 'rows2.csv', 'rows[.csv'])
    await writeFile(join(beside, other), content('other'))
  await readText(join(beside, name), content('own'))
  expect(await incoming()).toEqual([{ id: 'own', title: 'a' }])
})

test('the faults of a file are not those of one that was read before', async () => {
  const path = join(await testFolder(), 'rows.csv')
  expect((await readText(path, 'id,title\n1\n')).rejected.count).toBe(1)
  expect((await readText(path, 'id,title\n1,a\n')).rejected.count).toBe(0)
})

test('a list takes no memory for each row times the members around it', async () => {
  const directory = await testFolder()
  const path = join(directory, 'large.json')
  const markets = Array.from({ length: 5000 }, (_, index) => ({ id: `m${index}` }))
  await writeFile(path, JSON.stringify({ text: 'x'.repeat(50_000), markets }))
  using small = await Database.open({ threads: 2, memoryLimit: '300MB', directory: spill })
  const columns = { required: [], optional: [] }
  const input = await openInput(path, directory)
  const { around } = await openJson(small, input, columns, { ...PLAIN, rows: 'markets' })
  expect(around).toEqual(['text'])
})

test(
  'a file that grows is unpacked only to a bound, and leaves nothing behind',
  { tags: ['slow'] },
  async () => {
    const directory = await testFolder()
    const bomb = join(await testFolder(), 'bomb.csv.gz')
    await writeFile(bomb, gzipSync(Buffer.alloc(50_000_000)))
    const message = `holds more than 1,000,000 bytes when unpacked; import it in parts, as plain files`
    await expect(openInput(bomb, directory, 1_000_000)).rejects.toMatchObject({
      kind: 'invalid',
      message: `${bomb} ${message}`,
    })
    async function* endless(): AsyncIterable<Uint8Array> {
      for (;;) yield Buffer.alloc(65_536, 'a')
    }
    await expect(openInput(endless(), directory, 1_000_000)).rejects.toThrow(`standard input ${message}`)
    expect(await readdir(directory)).toEqual([])
  },
)
