// Reads an operator's file into the table `incoming`: a record number and the file's columns, all as text.
import { extname } from 'node:path'
import { type Fault, ServiceError } from '../../schemas/errors.ts'
import { type Database, literal } from '../duckdb.ts'
import { withFile } from '../store/disk.ts'
import { linesAt, recordLines } from './line-numbers.ts'

export interface ExpectedColumns {
  required: readonly string[]
  optional: readonly string[]
}

/** The records that could not be read: the first faults, and the number of all. */
export interface Rejected {
  faults: Fault[]
  count: number
}

export interface IncomingRows {
  rejected: Rejected
  /** The places of records in the file, for messages: `line 12` or `row 11`. */
  placesOf(records: readonly number[]): Promise<string[]>
}

/** The most faults that are shown. */
export const SHOWN = 20

/**
 * @throws ServiceError `invalid` for a file that cannot be read, has an unknown format, or has missing, unknown or
 *   repeated columns.
 */
export async function readRows(
  database: Database,
  path: string,
  columns: ExpectedColumns,
): Promise<IncomingRows> {
  await assertReadable(path)
  const readers = { '.csv': readCsv, '.ndjson': readNdjson, '.jsonl': readNdjson, '.parquet': readParquet }
  for (const [extension, read] of Object.entries(readers)) {
    if (extname(path).toLowerCase() === extension) return read(database, path, columns)
  }
  throw new ServiceError('invalid', `${path}: the name must end in .csv, .ndjson, .jsonl or .parquet`)
}

async function assertReadable(path: string): Promise<void> {
  try {
    const isDirectory = await withFile(path, 'r', async (file) => (await file.stat()).isDirectory())
    if (isDirectory) throw new ServiceError('invalid', `${path} is a directory`)
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    const missing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
    throw new ServiceError('invalid', missing ? `there is no file ${path}` : `${path} cannot be read`, {
      cause,
    })
  }
}

function assertColumns(
  path: string,
  found: readonly string[],
  { required, optional }: ExpectedColumns,
): void {
  const allowed = [...required, ...optional]
  const faults = {
    lacks: required.filter((name) => !found.includes(name)),
    'has unknown': found.filter((name) => !allowed.includes(name)),
    repeats: found.filter((name, index) => found.indexOf(name) !== index),
  }
  for (const [fault, names] of Object.entries(faults)) {
    if (names.length === 0) continue
    const named = names.map((name) => JSON.stringify(name)).join(', ')
    throw new ServiceError(
      'invalid',
      `${path} ${fault} ${named}; the columns it may have are ${allowed.join(', ')}`,
    )
  }
}

const selectAll = (found: readonly string[], { required, optional }: ExpectedColumns) =>
  [...required, ...optional]
    .map((name) =>
      found.includes(name) ? `nullif("${name}", '') AS "${name}"` : `NULL::VARCHAR AS "${name}"`,
    )
    .join(', ')

async function readCsv(database: Database, path: string, columns: ExpectedColumns): Promise<IncomingRows> {
  const found = (await firstLine(path)).split(',').map((name) => name.trim().replace(/^"(.*)"$/, '$1'))
  assertColumns(path, found, columns)
  const types = found.map((name) => `${literal(name)}: 'VARCHAR'`).join(', ')
  const rejected = await createdFromLines(
    database,
    path,
    selectAll(found, columns),
    `header = true, columns = {${types}}, delim = ',', quote = '"', escape = '"'`,
  )
  // DuckDB skips blank lines, except in a file of one column, where a blank line could be a row.
  const blankCounts = found.length === 1
  if (blankCounts) await database.run(`DELETE FROM incoming WHERE "${found[0]}" IS NULL`)
  return {
    rejected,
    placesOf: async (records) =>
      (await recordLines(path, records, blankCounts)).map((line) => `line ${line}`),
  }
}

async function readNdjson(database: Database, path: string, columns: ExpectedColumns): Promise<IncomingRows> {
  const unread = await createdFromLines(
    database,
    path,
    'line',
    `header = false, columns = {'line': 'VARCHAR'}, delim = '\x1f', quote = '', escape = '', max_line_size = 1048576`,
  )
  if (unread.count > 0) return { rejected: unread, placesOf: () => Promise.resolve([]) }
  await database.run(
    `CREATE OR REPLACE TEMP TABLE lines AS SELECT record, line FROM incoming WHERE trim(line) <> ''`,
  )
  const allowed = [...columns.required, ...columns.optional]
  const names = allowed.map(literal).join(', ')
  const nested = allowed.map(
    (name) =>
      `WHEN json_type(line, '$.${name}') IN ('OBJECT', 'ARRAY', 'BOOLEAN') THEN '${name} is neither text nor a number'`,
  )
  // Grain: one row per line that is not an object of text and numbers under known names.
  const faults = `SELECT record, CASE
      WHEN NOT json_valid(line) THEN 'not JSON'
      WHEN json_type(line) <> 'OBJECT' THEN 'not a JSON object'
      WHEN len(list_filter(json_keys(line), lambda k: k NOT IN (${names}))) > 0
        THEN 'unknown field ' || list_filter(json_keys(line), lambda k: k NOT IN (${names}))[1]
      WHEN len(json_keys(line)) <> len(list_distinct(json_keys(line))) THEN 'a field appears twice'
      ${nested.join('\n      ')}
    END AS reason FROM lines`
  const rejects = await database.rows<{ record: bigint; reason: string; total: bigint }>(
    `SELECT *, count(*) OVER () AS total FROM (${faults}) WHERE reason IS NOT NULL ORDER BY record LIMIT ${SHOWN}`,
  )
  const values = allowed.map((name) => `nullif(line ->> '$.${name}', '') AS "${name}"`).join(', ')
  await database.run(
    `CREATE OR REPLACE TEMP TABLE incoming AS SELECT record, ${values} FROM lines WHERE ${rejects.length === 0} ORDER BY record`,
  )
  const lineOf = (record: number) => `line ${record + 1}`
  return {
    rejected: {
      faults: rejects.map(({ record, reason }) => ({ pointer: lineOf(Number(record)), detail: reason })),
      count: Number(rejects[0]?.total ?? 0n),
    },
    placesOf: (records) => Promise.resolve(records.map(lineOf)),
  }
}

async function readParquet(
  database: Database,
  path: string,
  columns: ExpectedColumns,
): Promise<IncomingRows> {
  const source = `read_parquet(${onlyFile(path)}, hive_partitioning = false)`
  const described = await reading(
    path,
    database.rows<{ column_name: string; column_type: string }>(`DESCRIBE SELECT * FROM ${source}`),
  )
  const found = described.map(({ column_name }) => column_name)
  assertColumns(path, found, columns)
  const texts = described.map(
    ({ column_name: name, column_type: type }) => `${asText(name, type)} AS "${name}"`,
  )
  await created(
    database,
    path,
    `SELECT ${selectAll(found, columns)} FROM (SELECT ${texts.join(', ')} FROM ${source})`,
  )
  return {
    rejected: { faults: [], count: 0 },
    placesOf: (records) => Promise.resolve(records.map((record) => `row ${record + 1}`)),
  }
}

/** A Parquet column as text. A timestamp without a zone is in UTC, because that is what writers of Parquet mean. */
function asText(name: string, type: string): string {
  if (type === 'TIMESTAMP WITH TIME ZONE') return `("${name}" AT TIME ZONE 'UTC')::VARCHAR || 'Z'`
  return type.startsWith('TIMESTAMP') ? `"${name}"::VARCHAR || 'Z'` : `"${name}"::VARCHAR`
}

/** A file's path for DuckDB's readers, escaped because they would read some names as patterns for other files. */
function onlyFile(path: string): string {
  return literal(path.replace(/[*?[]/g, '[$&]'))
}

/** Reads a file of lines into `incoming`, and returns one fault for each line that DuckDB could not read. */
async function createdFromLines(
  database: Database,
  path: string,
  select: string,
  format: string,
): Promise<Rejected> {
  // Otherwise DuckDB would add this file's faults to those of the files before it.
  await database.run('DROP TABLE IF EXISTS reject_errors')
  await created(
    database,
    path,
    `SELECT ${select} FROM read_csv(${onlyFile(path)}, auto_detect = false, ${format}, store_rejects = true, rejects_limit = 0)`,
  )
  // Grain: one row per line that could not be read. Its position is that of its first or second byte.
  const rejects = await database.rows<{ start: bigint; reason: string; total: bigint }>(
    `SELECT line_byte_position AS start, min(error_message) AS reason, count(*) OVER () AS total
     FROM reject_errors GROUP BY line_byte_position ORDER BY line_byte_position LIMIT ${SHOWN}`,
  )
  const lines = await linesAt(
    path,
    rejects.map(({ start }) => Number(start)),
  )
  return {
    faults: rejects.map(({ reason }, index) => ({
      pointer: `line ${lines[index]}`,
      detail: reason.split('\n')[0]!,
    })),
    count: Number(rejects[0]?.total ?? 0n),
  }
}

async function created(database: Database, path: string, select: string): Promise<void> {
  const sql = `CREATE OR REPLACE TEMP TABLE incoming AS SELECT (row_number() OVER ()) - 1 AS record, * FROM (${select})`
  await reading(path, database.run(sql))
}

async function reading<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    const message = cause instanceof Error ? cause.message.split('\n')[0]! : String(cause)
    // DuckDB's message for lines that end differently from the first line.
    const reason = message.includes('state machine') ? 'its lines do not all end in the same way' : message
    throw new ServiceError('invalid', `${path} cannot be read: ${reason}`, { cause })
  }
}

async function firstLine(path: string): Promise<string> {
  const { buffer, bytesRead } = await withFile(path, 'r', (file) =>
    file.read(new Uint8Array(65_536), 0, 65_536, 0),
  )
  return new TextDecoder().decode(buffer.subarray(0, bytesRead)).split(/\r?\n/, 1)[0]!
}
