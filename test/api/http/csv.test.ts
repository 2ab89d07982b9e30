// CSV as RFC 4180 has it, which no spreadsheet takes for formulas (OWASP, CSV injection).
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type CsvValue, columnsOf, csv } from '../../../api/http/csv.ts'

async function textOf(rows: readonly CsvValue[][], width = rows[0]?.length ?? 0): Promise<string> {
  const columns = Array.from({ length: width }, (_, index) => ({
    name: `c${index}`,
    valueOf: (row: CsvValue[]) => row[index],
  }))
  const groups = async function* () {
    for (const row of rows) yield await Promise.resolve([row])
  }
  const pieces = await Array.fromAsync(csv(columns, groups()))
  return Buffer.concat(pieces).toString()
}

/** A plain parser of RFC 4180. */
function parsed(text: string): string[][] {
  const rows: string[][] = [[]]
  const fields = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy
  for (const [, quoted, bare, end] of text.matchAll(fields)) {
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? bare!)
    if (end !== ',') rows.push([])
  }
  expect(rows.pop()).toEqual([])
  return rows
}

test.for<[CsvValue, string]>([
  [-0.5, '-0.5'],
  [0, '0'],
  [1e-7, '1e-7'],
  [true, 'true'],
  [null, ''],
  [undefined, ''],
  ['', '""'],
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['a;b', '"a;b"'],
  ['say "no"', '"say ""no"""'],
  ['two\r\nlines', '"two\r\nlines"'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', '"\'\t=1"'],
  ['\r=1', '"\'\r=1"'],
  ['=HYPERLINK("x","y")', '"\'=HYPERLINK(""x"",""y"")"'],
])('%j is written as %s', async ([value, written]) => {
  expect(await textOf([[value]])).toBe(`c0\r\n${written}\r\n`)
})

test('without rows there is a line of names', async () => {
  expect(await textOf([], 2)).toBe('c0,c1\r\n')
})

test('any text comes back, with an apostrophe before what would be a formula', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', '"', ',', ';', ' ', 'a') }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(text, text), { minLength: 1 }), async (rows) => {
      const [, ...read] = parsed(await textOf(rows))
      const shown = (value: string) => (/^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : value)
      expect(read).toEqual(rows.map((row) => row.map(shown)))
      expect(read.flat().filter((value) => /^[=+\-@\t\r\n]/.test(value))).toEqual([])
    }),
  )
})

test('a schema gives a column for each member, also of objects that may be missing', () => {
  const schema = z.strictObject({
    id: z.string(),
    range: z.strictObject({ lower: z.number(), upper: z.number() }).nullable().optional(),
  })
  const columns = columnsOf(schema)
  expect(columns.map(({ name }) => name)).toEqual(['id', 'range_lower', 'range_upper'])
  const read = (row: object) => columns.map(({ valueOf }) => valueOf(row))
  expect(read({ id: 'a', range: { lower: 1, upper: 2 } })).toEqual(['a', 1, 2])
  expect(read({ id: 'a', range: null })).toEqual(['a', undefined, undefined])
  expect(read({ id: 'a' })).toEqual(['a', undefined, undefined])
})
