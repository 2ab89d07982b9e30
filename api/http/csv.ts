// Tables as CSV (RFC 4180), written piece by piece. Spreadsheets run no text of a user as a formula.
import { z } from 'zod'
import { entityTag, isNamedBy } from './entity-tag.ts'
import { begun, noBytes } from './ranges.ts'
import type { Reply, RouteRequest } from './route.ts'

export type CsvValue = string | number | boolean | null | undefined

export interface CsvColumn<R> {
  name: string
  valueOf: (row: R) => CsvValue
}

/** Describes the table that a route answers. */
export const csvSuccess = (columns: readonly string[]) => ({
  description: 'The table',
  body: z.string(),
  mediaType: 'text/csv',
  cache: 'public, max-age=60',
  example: `${columns.join(',')}\r\n`,
})

interface Table<R> {
  /** To save it by. */
  filename: string
  /** All that the rows follow from. The entity tag is made of it, because a stream is hashed too late. */
  source: readonly unknown[]
  columns: readonly CsvColumn<R>[]
  groups: () => AsyncIterable<readonly R[]>
}

type TableRequest = Pick<RouteRequest<unknown, unknown, unknown, 'none'>, 'header' | 'isHead'>

/**
 * Answers with a table. Its first rows are read before the answer begins, so that a failure is told as a
 * problem, and not read for who has them.
 */
export async function csvReply<R>(
  { header, isHead }: TableRequest,
  { filename, source, columns, groups }: Table<R>,
): Promise<Reply> {
  const names = columns.map(({ name }) => name)
  const tag = entityTag(new TextEncoder().encode(JSON.stringify([filename, source, names])))
  const headers = { ETag: tag, 'Content-Disposition': `attachment; filename="${filename}.csv"` }
  const isSent = !isHead && !isNamedBy(header('if-none-match'), tag)
  const rows = isSent ? await begun(groups()) : noBytes
  return { body: new Uint8Array(), stream: () => csv(columns, rows()), headers }
}

const LINE_END = '\r\n'
/** A spreadsheet takes text that begins so for a formula (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/
/** Also what separates fields where the comma is a decimal sign. */
const NEEDS_QUOTES = /[",;\t\r\n]|^\s|\s$/

/** Yields a line of names, then a line for each row, in one piece for each group of rows. */
export async function* csv<R>(
  columns: readonly CsvColumn<R>[],
  groups: AsyncIterable<readonly R[]>,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  yield encoder.encode(csvLine(columns.map(({ name }) => name)))
  for await (const rows of groups) {
    const lines = rows.map((row) => csvLine(columns.map(({ valueOf }) => valueOf(row))))
    yield encoder.encode(lines.join(''))
  }
}

function csvLine(values: readonly CsvValue[]): string {
  return values.map(field).join(',') + LINE_END
}

/** Numbers stay numbers, also negative ones. A missing value is empty, and an empty text is in quotes. */
function field(value: CsvValue): string {
  if (value === null || value === undefined) return ''
  if (typeof value !== 'string') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return text === '' || NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Returns a column for each member of a schema, and of the objects in it: `skill_interval_lower`. */
export function columnsOf(schema: z.ZodObject, prefix: readonly string[] = []): CsvColumn<object>[] {
  return Object.entries(schema.shape).flatMap(([key, member]) => {
    const path = [...prefix, key]
    const inner = unwrapped(member as z.ZodType)
    if (inner instanceof z.ZodObject) return columnsOf(inner, path)
    return { name: path.join('_'), valueOf: (row: object) => memberAt(row, path) }
  })
}

function unwrapped(schema: z.ZodType): z.ZodType {
  const isWrapped = schema instanceof z.ZodNullable || schema instanceof z.ZodOptional
  return isWrapped ? unwrapped(schema.unwrap() as z.ZodType) : schema
}

/** A member of what is null is null. */
function memberAt(row: object, path: readonly string[]): CsvValue {
  let value: unknown = row
  for (const key of path) value = (value as Record<string, unknown> | null | undefined)?.[key]
  return value as CsvValue
}
