// Reading an operator's file: its rows, the places of bad rows, and files that are not tables.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Database, literal } from '../../pipeline/duckdb.ts'
import { type IncomingRows, readRows } from '../../pipeline/import/read-file.ts'
import { suiteFolder, testFolder } from '../support/folder.ts'
import { runs } from '../support/runs.ts'

const COLUMNS = { required: ['id', 'title'], optional: ['url'] }

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

async function read(name: string, content: string | Uint8Array, columns = COLUMNS): Promise<IncomingRows> {
  const path = join(await testFolder(), name)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
  return readRows(context(), path, columns, PLAIN)
}

const incoming = () => database.rows(`SELECT COLUMNS('^(id|title|url)$') FROM incoming ORDER BY record`)
const records = async () =>
  (await database.rows<{ record: bigint }>('SELECT record FROM incoming ORDER BY record')).map(({ record }) =>
    Number(record),
  )
/** The places of all rows, in order. */
const places = async (rows: IncomingRows) => rows.placesOf(await records())

/** A value in the notation of RFC 4180: quoted if it must be, or if `quoted` says so. */
const field = (value: string, quoted: boolean) =>
  quoted || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value

const row = (id: string | null, title: string | null, url: string | null = null) => ({ id, title, url })

describe('CSV', () => {
  test.for([
    ['in its usual form', 'id,title\n1,a\n2,b\n', [row('1', 'a'), row('2', 'b')]],
    ['without a last line break', 'id,title\n1,a\n2,b', [row('1', 'a'), row('2', 'b')]],
    ['from Windows', 'id,title\r\n1,a\r\n2,b\r\n', [row('1', 'a'), row('2', 'b')]],
    ['with a byte order mark', '\ufeffid,title\n1,a\n', [row('1', 'a')]],
    ['with columns in another order', 'url,title,id\nu,a,1\n', [row('1', 'a', 'u')]],
    ['with quoted names', '"id","title"\n1,a\n', [row('1', 'a')]],
    ['with spaces around names', 'id , title\n1,a\n', [row('1', 'a')]],
    ['with empty and quoted empty values', 'id,title,url\n1,,""\n', [row('1', null)]],
    [
      'with quotes, commas and line breaks',
      'id,title\n1,"a ""b"", c\nd\r\ne"\n',
      [row('1', 'a "b", c\nd\r\ne')],
    ],
    ['with a quote inside a field', 'id,title\n1,5" disk\n2,b\n', [row('1', '5" disk'), row('2', 'b')]],
    ['with text beyond ASCII', 'id,title\n1,🦉 ñ \u2028\n', [row('1', '🦉 ñ \u2028')]],
    [
      'with text that looks like SQL',
      `id,title\n1,'); DROP TABLE incoming; --\n`,
      [row('1', "'); DROP TABLE incoming; --")],
    ],
    ['with semicolons', 'id;title\n1;a,b\n2;"c;d"\n', [row('1', 'a,b'), row('2', 'c;d')]],
    ['with tabs', 'id\ttitle\n1\ta;b,c\n', [row('1', 'a;b,c')]],
    ['in UTF-16 from Windows', Buffer.from('\ufeffid;title\r\n1;ñ 🦉\r\n', 'utf16le'), [row('1', 'ñ 🦉')]],
    [
      'in UTF-16 with the high byte first',
      Buffer.from('\ufeffid\ttitle\n1\tñ 🦉\n', 'utf16le').swap16(),
      [row('1', 'ñ 🦉')],
    ],
    ['packed by gzip', gzipSync('id,title\n1,a\n'), [row('1', 'a')]],
    ['with blank lines', 'id,title\n\n1,a\n\n\n2,b\n\n', [row('1', 'a'), row('2', 'b')]],
    ['with a header and no rows', 'id,title\n', []],
    ['with a header and no line break', 'id,title', []],
    ['with carriage returns alone', 'id,title\r1,a\r2,"b\rc"\r', [row('1', 'a'), row('2', 'b\nc')]],
  ] as const)('%s is read', async ([, content, expected]) => {
    const { rejected } = await read('rows.csv', content)
    expect(rejected).toMatchObject({ count: 0, faults: [] })
    expect(await incoming()).toEqual(expected)
  })

  test.for([
    ['nothing special', 'id,title\n1,a\n2,b\n3,c\n', [2, 3, 4]],
    ['line breaks in quotes', 'id,title\n1,"a\n\nb"\n2,"c\nd"\n3,e\n', [2, 5, 7]],
    ['quotes in quotes', 'id,title\n1,"a ""\n"" b"\n2,""""\n3,c\n', [2, 4, 5]],
    ['quotes inside fields', 'id,title\n1,5" disk\n2,3" disk\n3,c\n', [2, 3, 4]],
    ['carriage returns', 'id,title\r\n1,"a\r\nb"\r\n2,c\r\n', [2, 4]],
    ['blank lines', '\ufeffid,title\n\n1,a\n\n\n2,b\n', [3, 6]],
    ['a quoted header', '"id","title"\n1,a\n2,b', [2, 3]],
  ] as const)('knows the lines of its rows, with %s', async ([, content, lines]) => {
    expect(await places(await read('rows.csv', content))).toEqual(lines.map((line) => `line ${line}`))
  })

  test('is read as RFC 4180 defines it, with the line of each record', async () => {
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
        const incomingRows = await read('rows.csv', ended ? content + eol : content)
        expect(incomingRows.rejected.count).toBe(0)
        expect(await incoming()).toEqual(
          rows.map(({ id, title }) => row(id === '' ? null : id, title === '' ? null : title)),
        )
        expect(await places(incomingRows)).toEqual(lines.map((line) => `line ${line}`))
      }),
      { numRuns: runs(60) },
    )
  })

  test('that several threads read gives each row the number of its place', async () => {
    const rows = Array.from({ length: 400_000 }, (_, index) => `${index},title ${index}`)
    await read('rows.csv', ['id,title', ...rows, ''].join('\n'))
    const [found] = await database.rows(
      'SELECT count(*)::INTEGER AS n, (count(*) FILTER (WHERE record <> id::BIGINT))::INTEGER AS moved FROM incoming',
    )
    expect(found).toEqual({ n: 400_000, moved: 0 })
  })

  test('of one column skips blank lines but counts them', async () => {
    const rows = await read('rows.csv', 'id\n\n1\n\n\n2\n3', { required: ['id'], optional: [] })
    expect(await incoming()).toEqual([{ id: '1' }, { id: '2' }, { id: '3' }])
    expect(await places(rows)).toEqual(['line 3', 'line 6', 'line 7'])
  })

  test.for([
    ['too few values', 'id,title\n1,"a\nb"\n2\n3,c\n', [4], /Expected Number of Columns: 2 Found: 1/],
    ['too few values, from Windows with a mark', '\ufeffid,title\r\n1,a\r\n2\r\n3,c\r\n', [3], /Found: 1/],
    ['too many values', 'id,title\n1,a\n2,b,c,d\n', [3], /Found: 3/],
    ['a quote that does not end', 'id,title\n1,a\n2,"b\n3,c\n', [3], /quote/],
    ['text after a quote', 'id,title\n1,a\n2,"b"c\n3,d\n', [3], /quote/],
    ['bytes that are not UTF-8', Buffer.from('id,title\n1,a\n2,\xff\xfe\n3,c\n', 'latin1'), [3], /utf-8/],
    ['a line of three megabytes', `id,title\n1,a\n2,${'x'.repeat(3_000_000)}\n`, [3], /Maximum line size/],
  ] as const)('with %s says on which line', async ([, content, lines, reason]) => {
    const { rejected } = await read('rows.csv', content)
    expect(rejected.faults.map(({ pointer }) => pointer)).toEqual(lines.map((line) => `line ${line}`))
    expect(rejected.count).toBe(lines.length)
    for (const fault of rejected.faults) expect(fault.detail).toMatch(reason)
  })

  test('with many unreadable lines names the first twenty and counts each line once', async () => {
    const lines = Array.from({ length: 300 }, (_, index) => (index % 2 === 0 ? `${index},a` : String(index)))
    const { rejected } = await read('rows.csv', ['id,title,url', ...lines].join('\n'))
    expect(rejected.count).toBe(300)
    expect(rejected.faults.map(({ pointer }) => pointer)).toEqual(
      Array.from({ length: 20 }, (_, index) => `line ${index + 2}`),
    )
  })

  test('does not report the faults of a file that was read before', async () => {
    expect((await read('rows.csv', 'id,title\n1\n')).rejected.count).toBe(1)
    expect((await read('rows.csv', 'id,title\n1,a\n')).rejected.count).toBe(0)
  })

  test.for([
    ['nothing', '', /lacks "id", "title"; the columns it may have are id, title, url/],
    ['a missing column', 'id,url\n', /lacks "title"/],
    ['an unknown column', 'id,title,colour,taste\n', /has unknown "colour", "taste"/],
    ['a column twice', 'id,title,id\n', /repeats "id"/],
    ['names in capitals', 'ID,title\n', /lacks "id"/],
    [
      'UTF-16 without a mark',
      Buffer.from('id,title\n1,a\n', 'utf16le'),
      /has bytes of zero; if it is UTF-16/,
    ],
    [
      'noise',
      Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7919) % 256)),
      /has bytes of zero/,
    ],
    ['lines that end in two ways', 'id,title\n1,a\r\n2,b\n', /its lines do not all end in the same way/],
    ['a carriage return inside a field', 'id,title\n1,a\rb\n', /its lines do not all end in the same way/],
  ] as const)('with %s is refused as a whole', async ([, content, message]) => {
    await expect(read('rows.csv', content)).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(message) as string,
    })
  })
})

describe('NDJSON', () => {
  test.for([
    [
      'in its usual form',
      '{"id":"1","title":"a"}\n{"id":"2","title":"b","url":"u"}\n',
      [row('1', 'a'), row('2', 'b', 'u')],
    ],
    [
      'with carriage returns alone',
      '{"id":"1","title":"a"}\r{"id":"2","title":"b"}\r',
      [row('1', 'a'), row('2', 'b')],
    ],
    ['from Windows', '{"id":"1","title":"a"}\r\n{"id":"2","title":"b"}\r\n', [row('1', 'a'), row('2', 'b')]],
    ['with a byte order mark', '\ufeff{"id":"1","title":"a"}\n', [row('1', 'a')]],
    ['with nulls and empty texts', '{"id":null,"title":"","url":null}\n', [row(null, null)]],
    ['with booleans', '{"id":"1","title":true}\n', [row('1', 'true')]],
    ['with numbers', '{"id":0.30000000000000004,"title":1e-7}\n', [row('0.30000000000000004', '1e-7')]],
    ['with escapes', '{"id":"\\u0031","title":"a\\n\\"b\\" \\\\ 🦉"}\n', [row('1', 'a\n"b" \\ 🦉')]],
    ['with commas, quotes and apostrophes', `{"id":"1","title":"a,b','"}\n`, [row('1', "a,b','")]],
    ['with spaces', '  { "title" : "a" , "id" : "1" }  \n', [row('1', 'a')]],
    ['empty', '', []],
    ['of blank lines', '\n \n\n', []],
  ] as const)('%s is read', async ([, content, expected]) => {
    for (const name of ['rows.ndjson', 'rows.jsonl', 'ROWS.NDJSON']) {
      const { rejected } = await read(name, content)
      expect(rejected).toMatchObject({ count: 0, faults: [] })
      expect(await incoming()).toEqual(expected)
    }
  })

  test('knows the lines of its rows', async () => {
    const rows = await read('rows.ndjson', '\n{"id":"1","title":"a"}\n\n  \n{"id":"2","title":"b"}\n')
    expect(await places(rows)).toEqual(['line 2', 'line 5'])
  })

  const good = '{"id":"1","title":"a"}\n'
  test.for([
    ['is not JSON', 'nope', /^not JSON$/],
    ['is cut off', '{"id":"1"', /^not JSON$/],
    ['has a comma too many', '{"id":"1"},', /^not JSON$/],
    ['holds two objects', '{"id":"1"} {"id":"2"}', /^not JSON$/],
    ['has half a character', '{"id":"\\ud800"}', /^not JSON$/],
    ['is a list', '["1","a"]', /^not a JSON object$/],
    ['is a text', '"a"', /^not a JSON object$/],
    ['has a field twice', '{"id":"1","id":"2","title":"a"}', /^a field appears twice$/],
    ['has an object for a value', '{"id":"1","title":{"en":"a"}}', /^title is neither text nor a number$/],
    ['has a list for a value', '{"id":"1","title":["a"]}', /^title is neither text nor a number$/],
    ['has a raw control character', '{"id":"1","title":"a\x1fb"}', /./],
    ['is not UTF-8', Buffer.from('{"id":"1","title":"\xff"}', 'latin1'), /utf-8/],
    ['has more than a megabyte', `{"id":"1","title":"${'x'.repeat(1_100_000)}"}`, /Maximum line size/],
  ] as const)('whose third line %s says so', async ([, line, reason]) => {
    const content = Buffer.concat([Buffer.from(good + good), Buffer.from(line), Buffer.from(`\n${good}`)])
    const { rejected } = await read('rows.ndjson', content)
    expect(rejected).toMatchObject({
      count: 1,
      faults: [{ pointer: 'line 3', detail: expect.stringMatching(reason) as string }],
    })
  })

  test('with many bad lines names the first twenty and counts all', async () => {
    const { rejected } = await read('rows.ndjson', 'nope\n'.repeat(45))
    expect(rejected.count).toBe(45)
    expect(rejected.faults).toHaveLength(20)
    expect(rejected.faults.at(-1)).toEqual({ pointer: 'line 20', detail: 'not JSON' })
  })
})

describe('Parquet', () => {
  async function written(select: string, name = 'rows.parquet'): Promise<string> {
    const path = join(await testFolder(), name)
    await mkdir(dirname(path), { recursive: true })
    await database.run(`COPY (${select}) TO ${literal(path)} (FORMAT parquet)`)
    return path
  }

  test('converts every type to the text that a CSV file would have', async () => {
    const path = await written(
      `SELECT '1' AS id, NULL::VARCHAR AS title, '' AS url
       UNION ALL SELECT '2', 'a', 'u'`,
    )
    const rows = await readRows(context(), path, COLUMNS, PLAIN)
    expect(rows.rejected.count).toBe(0)
    expect(await incoming()).toEqual([row('1', null), row('2', 'a', 'u')])
    expect(await places(rows)).toEqual(['row 1', 'row 2'])
  })

  test.for([
    [`UUID '0000000A-0000-4000-8000-000000000001'`, '0000000a-0000-4000-8000-000000000001'],
    ['0.1::FLOAT', '0.1'],
    ['0.30000000000000004::DOUBLE', '0.30000000000000004'],
    ['0.25::DECIMAL(9, 6)', '0.250000'],
    ['7::INTEGER', '7'],
    [`'a'::BLOB`, 'a'],
    [`TIMESTAMPTZ '2026-01-31 12:00:00.123456+05:30'`, '2026-01-31 06:30:00.123456Z'],
    [`TIMESTAMP '2026-01-31 12:00:00.123'`, '2026-01-31 12:00:00.123'],
    [`TIMESTAMP_NS '2026-01-31 12:00:00.123456789'`, '2026-01-31 12:00:00.123456789'],
    [`TIMESTAMP_MS '2026-01-31 12:00:00.123'`, '2026-01-31 12:00:00.123'],
  ] as const)('gives %s as %s', async ([value, text]) => {
    const path = await written(`SELECT 1 AS id, ${value} AS title`)
    await readRows(context(), path, COLUMNS, PLAIN)
    expect(await incoming()).toEqual([row('1', text)])
  })

  test('takes no column from the names of its folders', async () => {
    const path = await written(`SELECT '1' AS id, 'a' AS title`, 'day=2026-01-31/rows.parquet')
    await readRows(context(), path, COLUMNS, PLAIN)
    expect(await incoming()).toEqual([row('1', 'a')])
  })

  test('without rows has none', async () => {
    const path = await written(`SELECT '1' AS id, 'a' AS title WHERE false`)
    await readRows(context(), path, COLUMNS, PLAIN)
    expect(await incoming()).toEqual([])
  })

  test.for([
    ['a missing column', `SELECT '1' AS id`, /lacks "title"/],
    ['an unknown column', `SELECT '1' AS id, 'a' AS title, 1 AS colour`, /has unknown "colour"/],
  ] as const)('with %s is refused', async ([, select, message]) => {
    const path = await written(select)
    await expect(readRows(context(), path, COLUMNS, PLAIN)).rejects.toThrow(message)
  })

  test.for([
    ['nothing', () => new Uint8Array()],
    ['noise', () => Uint8Array.from({ length: 4096 }, (_, index) => (index * 7919) % 256)],
    ['half of one', (bytes: Uint8Array) => bytes.subarray(0, bytes.length / 2)],
    [
      'one without its middle',
      (bytes: Uint8Array) =>
        bytes
          .with(8, bytes[8]! ^ 255)
          .with(9, 255)
          .with(20, 255),
    ],
  ] as const)('that is %s is refused with its name', async ([, damage]) => {
    const path = await written(`SELECT range AS id, 'title ' || range AS title FROM range(1000)`)
    await writeFile(path, damage(new Uint8Array(await readFile(path))))
    await expect(readRows(context(), path, COLUMNS, PLAIN)).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining(`${path} cannot be read: `) as string,
    })
  })
})

describe('a path', () => {
  test.for([
    [
      'of an unknown format',
      'rows.txt',
      /must end in .csv, .tsv, .json, .ndjson, .jsonl, .parquet, or one of these with .gz/,
    ],
    ['of a compressed file that is not one', 'rows.csv.gz', /is not packed by gzip, as its name says/],
    ['without an ending', 'rows', /must end in/],
  ] as const)('%s is refused', async ([, name, message]) => {
    await expect(read(name, 'id,title\n')).rejects.toThrow(message)
  })

  test('of a folder or of nothing is refused', async () => {
    const path = join(await testFolder(), 'rows.csv')
    await expect(readRows(context(), path, COLUMNS, PLAIN)).rejects.toMatchObject({
      kind: 'invalid',
      message: `there is no file ${path}`,
    })
    await mkdir(path)
    await expect(readRows(context(), path, COLUMNS, PLAIN)).rejects.toMatchObject({
      kind: 'invalid',
      message: `${path} is a directory`,
    })
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
  ])('named %s is read, and no other file', async (name) => {
    const beside = await testFolder()
    const content = (id: string) => `id,title\n${id},a\n`
    // Files that these names would match if they were patterns.
    for (const other of ['rows1.csv', 'rows2.csv', 'rows[.csv'])
      await writeFile(join(beside, other), content('other'))
    await mkdir(dirname(join(beside, name)), { recursive: true })
    await writeFile(join(beside, name), content('own'))
    await readRows(context(), join(beside, name), COLUMNS, PLAIN)
    expect(await incoming()).toEqual([row('own', 'a')])
  })
})
