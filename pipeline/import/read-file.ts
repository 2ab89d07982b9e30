// Reads an operator's file into the view `incoming`: a record number, the wanted columns as text, and the
// values that are computed from them. The checks are the same for every form of a file.
import type { PipelineComponents } from '../components.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { type Database, literal } from '../duckdb.ts'
import { type ExpectedColumns, IS_CHOSEN, NO_CELL, ROW_FAULT, sayingsOf } from './cells.ts'
import { openCsv } from './csv-file.ts'
import { BLANK, type FileTable, countsOf, reading } from './file-table.ts'
import { findColumns, wantedNames } from './header.ts'
import { type Format, type Input, type Source, openInput } from './input.ts'
import { openJson, openNdjson } from './json-file.ts'
import type { HeaderOptions } from './options.ts'
import { openParquet } from './parquet-file.ts'
import { NONE_REJECTED, type Rejected, SHOWN, together } from './rejected.ts'
import { type Row, rowSaying, rowsFrom, rowsWith } from './row.ts'
import { countOf } from './take-in.ts'

export interface IncomingRows {
  /** The rows that `--where` leaves out. The view lacks them. */
  unwanted?: number
  /** Records that could not be read. The view has the others. */
  rejected: Rejected
  /** The places of records in the file, for messages: `line 12` or `row 11`. */
  placesOf: (records: readonly number[]) => Promise<string[]>
}

type Opener = (
  database: Database,
  input: Input,
  columns: Pick<ExpectedColumns, 'required' | 'optional'>,
  options: HeaderOptions,
) => Promise<FileTable>

const OPENERS: Record<Format, Opener> = {
  csv: openCsv,
  json: openJson,
  ndjson: openNdjson,
  parquet: openParquet,
}

/**
 * @throws ServiceError `invalid` for a file that cannot be read, has an unknown format, or has missing,
 *   unknown or repeated columns.
 */
export async function readRows(
  { database, directory }: Pick<PipelineComponents, 'database' | 'directory'>,
  source: Source,
  columns: ExpectedColumns,
  options: HeaderOptions,
): Promise<IncomingRows> {
  const input = await openInput(source, directory)
  return readTable(database, await openTable(database, input, columns, options), columns, options)
}

/**
 * Opens an input. Among CSV delimiters the one wins that finds most of the columns.
 *
 * @throws ServiceError `invalid` for a file that is no table of its form.
 */
export function openTable(
  database: Database,
  input: Input,
  columns: Pick<ExpectedColumns, 'required' | 'optional'>,
  options: HeaderOptions,
): Promise<FileTable> {
  const { name, format } = input
  if (options.rows !== undefined && format !== 'json' && format !== 'ndjson') {
    throw new ServiceError('invalid', `--rows names a list inside JSON, and ${name} is ${format}`)
  }
  // A document that begins with an object is taken for lines of JSON if it comes without a name.
  const opener = options.rows === undefined ? OPENERS[format] : openJson
  return reading(input, opener(database, input, columns, options))
}

/**
 * Reads a table into the view `incoming`.
 *
 * @throws ServiceError `invalid` for missing, unknown or repeated columns.
 */
export async function readTable(
  database: Database,
  table: FileTable,
  columns: ExpectedColumns,
  options: HeaderOptions,
): Promise<IncomingRows> {
  const { input, placesOf } = table
  const where = [...(options.where ?? [])]
  const names = await namesWithPaths(table, columns, options)
  const found = findColumns(input.name, names, columns, options, table.shown)
  const cellOf = (column: string) => (found.has(column) ? table.cellOf(found.get(column)!) : NO_CELL)
  const chosen = where.map(([name, text]) => `coalesce(${table.cellOf(name).text} = ${literal(text)}, false)`)
  const nested = [...found].filter(([column]) => !columns.nested?.includes(column))
  const faults = [
    ...(table.fault === undefined ? [] : [`WHEN ${table.fault} IS NOT NULL THEN ${table.fault}`]),
    // A row that is not wanted may hold anything.
    ...(chosen.length === 0 ? [] : [`WHEN NOT (${chosen.join(' AND ')}) THEN NULL`]),
    ...nested.flatMap(([column, name]) => {
      const { isNested } = cellOf(column)
      return isNested === undefined
        ? []
        : [`WHEN ${isNested} THEN ${literal(`${name} is neither text nor a number`)}`]
    }),
    ...(columns.emptied ?? []).map(
      (column) =>
        `WHEN NOT ${cellOf(column).isThere} THEN ${literal(`${column} is missing; null would withdraw the forecast`)}`,
    ),
  ]
  const fault = faults.length === 0 ? 'NULL::VARCHAR' : `CASE ${faults.join('\n')} END`
  const texts: Row = {
    ...rowSaying(sayingsOf(columns, cellOf)),
    [ROW_FAULT]: fault,
    ...(chosen.length > 0 && { [IS_CHOSEN]: chosen.join(' AND ') }),
  }
  const unread = await reading(
    input,
    table.load((source) => rowsWith(`(${rowsFrom(source, texts)})`, columns.computed ?? {})),
  )
  if (table.fault !== undefined) await database.run(`DELETE FROM texts WHERE ${ROW_FAULT} = '${BLANK}'`)
  await database.run(
    `CREATE OR REPLACE TEMP VIEW incoming AS SELECT rowid AS record, * EXCLUDE (${ROW_FAULT}) FROM texts
     WHERE ${ROW_FAULT} IS NULL${where.length === 0 ? '' : ` AND ${IS_CHOSEN}`}`,
  )
  const rejected = together(unread, await faultyRows(database, placesOf))
  if (where.length === 0) return { rejected, placesOf }
  const unwanted = await countOf({ database }, `texts WHERE ${ROW_FAULT} IS NULL AND NOT ${IS_CHOSEN}`)
  return { rejected, placesOf, unwanted }
}

/**
 * Returns the names of a table with the paths into its nested columns that the options name. A table without
 * any name has no row that could lack one.
 */
async function namesWithPaths(
  { names, around = [], hasPath }: FileTable,
  columns: ExpectedColumns,
  options: HeaderOptions,
): Promise<string[]> {
  const wanted = wantedNames(columns, options)
  if (names.length + around.length === 0) return [...wanted]
  const own = [...names, ...around.filter((name) => wanted.has(name) && !names.includes(name))]
  const paths: string[] = []
  for (const name of wanted) {
    if (name.includes('.') && !own.includes(name) && (await hasPath(name))) paths.push(name)
  }
  const isEntered = (name: string) => paths.some((path) => path.startsWith(`${name}.`))
  return [...own.filter((name) => wanted.has(name) || !isEntered(name)), ...paths]
}

/** Returns the rows of `texts` that have a fault as a whole. */
async function faultyRows(database: Database, placesOf: IncomingRows['placesOf']): Promise<Rejected> {
  const faulty = `SELECT rowid AS record, ${ROW_FAULT} AS reason FROM texts WHERE ${ROW_FAULT} IS NOT NULL`
  const byReason = await countsOf(database, faulty)
  if (byReason.length === 0) return NONE_REJECTED
  const first = await database.rows<{ record: bigint; reason: string }>(
    `${faulty} ORDER BY record LIMIT ${SHOWN}`,
  )
  const places = await placesOf(first.map(({ record }) => Number(record)))
  return {
    faults: first.map(({ reason }, index) => ({ pointer: places[index]!, detail: reason })),
    count: byReason.reduce((sum, { count }) => sum + count, 0),
    byReason,
  }
}
