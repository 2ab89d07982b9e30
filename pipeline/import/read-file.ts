// Reads an operator's file into the view `incoming`: a record number, the wanted columns as text, and the
// values that are computed from them.
import type { PipelineComponents } from '../components.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { type Database, literal } from '../duckdb.ts'
import { type Cell, type ExpectedColumns, IS_CHOSEN, NO_CELL, rowsOf } from './cells.ts'
import { parquetColumns, parquetRows } from './column-names.ts'
import { findColumns, readHeader } from './header.ts'
import { type Format, type Input, type Source, openInput } from './input.ts'
import { makeJsonLines, onlyFile, pointerTo } from './json-file.ts'
import { linesAt, linesBetween, longLine, recordLines } from './line-numbers.ts'
import type { HeaderOptions } from './options.ts'
import { NONE_REJECTED, type ReasonCount, type Rejected, SHOWN, together } from './rejected.ts'
import { countOf } from './take-in.ts'

export interface IncomingRows {
  /** The rows that `--where` leaves out. The view lacks them. */
  unwanted?: number
  /** Records that could not be read. The view has the others. */
  rejected: Rejected
  /** The places of records in the file, for messages: `line 12` or `row 11`. */
  placesOf: (records: readonly number[]) => Promise<string[]>
}

/**
 * A line of more than two million bytes is a bad row. A line of this size, half of what DuckDB reads at once,
 * makes the whole file bad.
 */
const LONG_LINE_BYTES = 16_000_000

type ReadContext = Pick<PipelineComponents, 'database' | 'directory'>

/**
 * @throws ServiceError `invalid` for a file that cannot be read, has an unknown format, or has missing,
 *   unknown or repeated columns.
 */
export async function readRows(
  { database, directory }: ReadContext,
  source: Source,
  columns: ExpectedColumns,
  options: HeaderOptions,
): Promise<IncomingRows> {
  return readInput(database, await openInput(source, directory), columns, options)
}

/** Reads an input that is open. @throws ServiceError as `readRows` does. */
export async function readInput(
  database: Database,
  input: Input,
  columns: ExpectedColumns,
  options: HeaderOptions,
): Promise<IncomingRows> {
  const rows = await READERS[input.format](database, input, columns, options)
  if (!options.where?.size) return rows
  return { ...rows, unwanted: await countOf({ database }, `texts WHERE NOT ${IS_CHOSEN}`) }
}

const filterOf = (where: HeaderOptions['where']) => (where?.size ? ` WHERE ${IS_CHOSEN}` : '')

/** The conditions of `--where`, from the SQL of the text of a column of the file. */
function conditionsOf({ where = new Map() }: HeaderOptions, textOf: (column: string) => string): string[] {
  return [...where].map(([column, value]) => `coalesce(${textOf(column)} = ${literal(value)}, false)`)
}

type Reader = (
  database: Database,
  input: Input,
  columns: ExpectedColumns,
  options: HeaderOptions,
) => Promise<IncomingRows>

const READERS: Record<Format, Reader> = {
  csv: readCsv,
  json: readJson,
  ndjson: readNdjson,
  parquet: readParquet,
}

async function readCsv(
  database: Database,
  input: Input,
  columns: ExpectedColumns,
  options: HeaderOptions,
): Promise<IncomingRows> {
  const { path, name } = input
  const { names, delimiter, shown } = await readHeader(path, name, columns, options)
  const found = findColumns(name, names, columns, options, shown)
  // The names in SQL are c0, c1 and so on, whatever the file calls its columns.
  const types = names.map((_, index) => `c${index}: 'VARCHAR'`).join(', ')
  const cellOf = (column: string): Cell =>
    found.has(column) ? { text: `c${found.get(column)}`, isThere: 'true', isBare: 'true' } : NO_CELL
  const chosen = conditionsOf(options, (column) => `c${names.indexOf(column)}`)
  const rejected = await createdFromLines(
    database,
    input,
    (source) => rowsOf(columns, cellOf, source, { chosen }),
    `header = true, columns = {${types}}, delim = '${delimiter}', quote = '"', escape = '"'`,
    UNREADABLE_CSV,
    options,
  )
  // DuckDB skips blank lines, except in a file of one column, where a blank line could be a row.
  const blankCounts = names.length === 1
  if (blankCounts) await database.run(`DELETE FROM texts WHERE "${[...found.keys()][0]}" IS NULL`)
  return {
    rejected,
    placesOf: async (records) => {
      const skipped = rejected.count === 0 ? [] : await unreadStarts(database)
      return linesNamed(await recordLines(path, records, { delimiter, blankCounts, skipped }))
    },
  }
}

async function readNdjson(
  database: Database,
  input: Input,
  columns: ExpectedColumns,
  options: HeaderOptions,
): Promise<IncomingRows> {
  const { path } = input
  const unread = await createdFromLines(
    database,
    input,
    (source) => `SELECT line FROM ${source}`,
    // The delimiter is a character that JSON does not allow.
    `header = false, columns = {'line': 'VARCHAR'}, delim = '\x1f', quote = '', escape = '', max_line_size = 1048576`,
    UNREADABLE_JSON,
  )
  await database.run(
    `CREATE OR REPLACE TEMP TABLE lines AS SELECT record, line FROM incoming WHERE trim(line) <> ''`,
  )
  const placesOf = async (records: readonly number[]) => {
    const skipped = unread.count === 0 ? [] : await linesAt(path, await unreadStarts(database))
    return linesNamed(linesBetween(records, skipped))
  }
  return readLines(database, columns, options, { rejected: unread, placesOf }, false)
}

/**
 * Reads a list of objects, or an object that has one such list and whose other members are those of each row.
 * The elements of a list are read in turn, an object is read as a whole.
 */
async function readJson(
  database: Database,
  input: Input,
  columns: ExpectedColumns,
  options: HeaderOptions,
): Promise<IncomingRows> {
  await reading(input, makeJsonLines(database, input))
  const placesOf = (records: readonly number[]) =>
    Promise.resolve(records.map((record) => `item ${record + 1}`))
  return readLines(database, columns, options, { rejected: NONE_REJECTED, placesOf }, true)
}

/**
 * Reads the table `lines` into `incoming`, and adds the rows that it cannot read to those of before.
 * `hasHead` says whether each line has a `head`, the members that all rows share.
 */
async function readLines(
  database: Database,
  columns: ExpectedColumns,
  options: HeaderOptions,
  { rejected: unread, placesOf }: IncomingRows,
  hasHead: boolean,
): Promise<IncomingRows> {
  const { map, ignoreUnknown, where = new Map<string, string>() } = options
  const fieldOf = (column: string) => map.get(column) ?? column
  const fields = [...columns.required, ...columns.optional].map(fieldOf)
  const mapped = [...map].filter(([column, field]) => column !== field && !fields.includes(column))
  const names = [...fields, ...where.keys()].map(literal).join(', ')
  const nestable = (columns.nested ?? []).map(fieldOf)
  const nested = fields
    .filter((name) => !nestable.includes(name))
    .map(
      (name) =>
        `WHEN json_type(line, ${pointerTo(name)}) IN ('OBJECT', 'ARRAY', 'BOOLEAN') THEN ${literal(`${name} is neither text nor a number`)}`,
    )
  const has = (field: string) =>
    `(json_exists(line, ${field})${hasHead ? ` OR json_exists(head, ${field})` : ''})`
  const lacking = (columns.emptied ?? []).map(
    (column) =>
      `WHEN NOT ${has(pointerTo(fieldOf(column)))} THEN ${literal(`${column} is missing; null would withdraw the forecast`)}`,
  )
  const unknown = `list_filter(json_keys(line), lambda k: k NOT IN (${names}))`
  const faulty = [
    ...mapped.map(
      ([column]) =>
        `WHEN list_contains(json_keys(line), ${literal(column)}) THEN ${literal(`has ${column}, which --map says is another`)}`,
    ),
    ...(ignoreUnknown
      ? []
      : [
          `WHEN len(${unknown}) > 0 THEN 'unknown field ' || left(${unknown}[1], 80) || '; see --map and --ignore-unknown'`,
        ]),
    ...nested,
    ...lacking,
  ]
  // Grain: one row per line that is not an object of text and numbers under known names.
  const faults = `SELECT record, CASE
      WHEN NOT json_valid(line) THEN 'not JSON'
      WHEN json_type(line) <> 'OBJECT' THEN 'not a JSON object'
      WHEN len(json_keys(line)) <> len(list_distinct(json_keys(line))) THEN 'a field appears twice'
      ${faulty.join('\n      ')}
    END AS reason FROM lines`
  await database.run(
    `CREATE OR REPLACE TEMP TABLE bad_lines AS SELECT * FROM (${faults}) WHERE reason IS NOT NULL`,
  )
  const rejects = await database.rows<{ record: bigint; reason: string }>(
    `FROM bad_lines ORDER BY record LIMIT ${SHOWN}`,
  )
  const byReason = await countsOf(database, 'SELECT reason FROM bad_lines')
  const textOf = (name: string) => {
    const field = pointerTo(name)
    return hasHead ? `coalesce(line ->> ${field}, head ->> ${field})` : `(line ->> ${field})`
  }
  const cellOf = (column: string): Cell => {
    const field = pointerTo(fieldOf(column))
    return {
      text: textOf(fieldOf(column)),
      isThere: has(field),
      isBare: `json_type(line, ${field}) = 'DOUBLE'`,
    }
  }
  const good = rejects.length === 0 ? 'lines' : 'lines ANTI JOIN bad_lines USING (record)'
  await database.run(
    `CREATE OR REPLACE TEMP TABLE texts AS ${rowsOf(columns, cellOf, `(FROM ${good} ORDER BY record)`, { kept: ['record'], chosen: conditionsOf(options, textOf) })}`,
  )
  await database.run(`CREATE OR REPLACE TEMP VIEW incoming AS FROM texts${filterOf(where)}`)
  const places = await placesOf(rejects.map(({ record }) => Number(record)))
  const bad = {
    faults: rejects.map(({ reason }, index) => ({ pointer: places[index]!, detail: reason })),
    count: byReason.reduce((sum, { count }) => sum + count, 0),
    byReason,
  }
  return { rejected: together(unread, bad), placesOf }
}

async function readParquet(
  database: Database,
  input: Input,
  columns: ExpectedColumns,
  options: HeaderOptions,
): Promise<IncomingRows> {
  const { name } = input
  const described = await reading(input, parquetColumns(database, input))
  const names = described.map(({ column_name }) => column_name)
  const found = findColumns(name, names, columns, options)
  const cellOf = (column: string): Cell => {
    const at = found.get(column)
    if (at === undefined) return NO_CELL
    const type = described[at]!.column_type
    return {
      text: asText(names[at]!, type),
      isThere: 'true',
      isBare: String(type === 'DOUBLE' || type === 'FLOAT'),
    }
  }
  const chosen = conditionsOf(options, (column) => {
    const at = names.indexOf(column)
    return asText(column, described[at]!.column_type)
  })
  await created(database, input, rowsOf(columns, cellOf, parquetRows(input), { chosen }), options)
  return {
    rejected: NONE_REJECTED,
    placesOf: (records) => Promise.resolve(records.map((record) => `row ${record + 1}`)),
  }
}

/** A Parquet column as text. A timestamp without a zone has none in its text either. */
function asText(name: string, type: string): string {
  const column = `"${name.replaceAll('"', '""')}"`
  return type === 'TIMESTAMP WITH TIME ZONE'
    ? `(${column} AT TIME ZONE 'UTC')::VARCHAR || 'Z'`
    : `${column}::VARCHAR`
}

type Unreadable = Readonly<Record<string, readonly [summary: string, hint?: string]>>

/**
 * The service's words for DuckDB's kinds of unreadable lines, with a hint where the author may have meant
 * something else.
 */
const UNREADABLE_LINES: Unreadable = {
  'LINE SIZE OVER MAXIMUM': ['a line that is too long'],
  'INVALID ENCODING': ['not UTF-8', 'save the file as UTF-8'],
}
const UNREADABLE_JSON: Unreadable = { ...UNREADABLE_LINES, 'TOO MANY COLUMNS': ['a control character'] }
const UNREADABLE_CSV: Unreadable = {
  ...UNREADABLE_LINES,
  'MISSING COLUMNS': ['fewer values than the header has names'],
  'TOO MANY COLUMNS': [
    'more values than the header has names',
    'a value that has the delimiter in it, such as a decimal comma, must be in quotes',
  ],
  'UNQUOTED VALUE': ['a quote that does not end, or text after one'],
}

/** Reads a file of lines into `incoming`, and returns one fault for each line that DuckDB could not read. */
async function createdFromLines(
  database: Database,
  input: Input,
  select: (source: string) => string,
  format: string,
  unreadable: Unreadable,
  options: Pick<HeaderOptions, 'where'> = {},
): Promise<Rejected> {
  const { path } = input
  // Without a word, DuckDB would leave out a line that is longer than it reads at once.
  const long = await longLine(path, LONG_LINE_BYTES)
  if (long !== undefined) {
    throw new ServiceError(
      'invalid',
      `${input.name} has more than ${LONG_LINE_BYTES.toLocaleString('en')} bytes in line ${long}`,
    )
  }
  // Otherwise DuckDB would add this file's faults to those of earlier files.
  await database.run('DROP TABLE IF EXISTS reject_errors')
  const source = `read_csv(${onlyFile(path)}, auto_detect = false, compression = 'none', ${format}, store_rejects = true, rejects_limit = 0)`
  await created(database, input, select(source), options)
  // Grain: one row per line that could not be read. Its position is that of its first or second byte.
  await database.run(
    `CREATE OR REPLACE TEMP TABLE unread AS
     SELECT line_byte_position AS start, min(error_message) AS message, min_by(error_type::VARCHAR, error_message) AS kind
     FROM reject_errors GROUP BY line_byte_position`,
  )
  const rejects = await database.rows<{ start: bigint; message: string; kind: string }>(
    `FROM unread ORDER BY start LIMIT ${SHOWN}`,
  )
  if (rejects.length === 0) return NONE_REJECTED
  const lines = await linesAt(
    path,
    rejects.map(({ start }) => Number(start)),
  )
  const byKind = await countsOf(database, 'SELECT kind AS reason FROM unread')
  return {
    faults: rejects.map(({ message, kind }, index) => {
      const [detail, hint] = [message.split('\n')[0]!.replace(/\.$/, ''), unreadable[kind]?.[1]]
      return { pointer: `line ${lines[index]}`, detail: hint === undefined ? detail : `${detail}; ${hint}` }
    }),
    count: byKind.reduce((sum, { count }) => sum + count, 0),
    byReason: byKind.map(({ reason, count }) => ({
      reason: unreadable[reason]?.[0] ?? reason.toLowerCase(),
      count,
    })),
  }
}

/** The byte offsets of the lines that could not be read, which ascend. */
async function unreadStarts(database: Database): Promise<number[]> {
  const rows = await database.rows<{ start: bigint }>('SELECT start FROM unread ORDER BY start')
  return rows.map(({ start }) => Number(start))
}

const linesNamed = (lines: readonly number[]) => lines.map((line) => `line ${line}`)

/** Counts each `reason` of a query, the most frequent first. */
async function countsOf(database: Database, reasons: string): Promise<ReasonCount[]> {
  const counts = await database.rows<{ reason: string; count: bigint }>(
    `SELECT reason, count(*) AS count FROM (${reasons}) GROUP BY reason ORDER BY count DESC, reason`,
  )
  return counts.map(({ reason, count }) => ({ reason, count: Number(count) }))
}

/** Makes the table `texts` and the view `incoming`. The record number is the row's place in the file. */
async function created(
  database: Database,
  input: Input,
  select: string,
  { where }: Pick<HeaderOptions, 'where'> = {},
): Promise<void> {
  await reading(input, database.run(`CREATE OR REPLACE TEMP TABLE texts AS ${select}`))
  await database.run(
    `CREATE OR REPLACE TEMP VIEW incoming AS SELECT rowid AS record, * FROM texts${filterOf(where)}`,
  )
}

/** @throws ServiceError `invalid` if the file is not what its reader expects. */
export async function reading<T>({ name, path }: Input, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof ServiceError && cause.kind === 'invalid') throw cause
    const message =
      cause instanceof Error ? cause.message.split('\n')[0]!.replaceAll(path, name) : String(cause)
    // DuckDB's message for lines that end differently from the first line.
    const reason = message.includes('state machine') ? 'its lines do not all end in the same way' : message
    throw new ServiceError('invalid', `${name} cannot be read: ${reason}`, { cause })
  }
}
