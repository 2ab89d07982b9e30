// The rows that an importer makes of a platform's files, and what became of each: it is taken, repeats an
// earlier one, or is left out for a reason.
import { type Database, literal } from '../duckdb.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { NAME_CHARACTERS, PROSE_CHARACTERS } from '../../schemas/names.ts'
import { normal } from './cells.ts'
import {
  IMPORTS,
  IMPORT_COLUMNS,
  type ImportColumn,
  type ImportKind,
  TITLE_CHARACTERS,
  isText,
  isTime,
} from './columns.ts'
import { type MadeId, definePersonIds, rowsWithIds } from './ids.ts'
import { TAKEN, judgedTable, stagedTable } from './leave-out.ts'
import { parseOptions } from './options.ts'
import { isOfPerson } from './person-ids.ts'
import { CRITERIA_WITH_REST, NAME_FROM, PROSE_FROM, TITLE_WITHIN_LIMIT, defineRewrites } from './rewrites.ts'
import { type Row, type Saying, rowSaying, rowsFrom, valueOf } from './row.ts'
import { type ImportSource, type SourceRows, formTable } from './source.ts'
import { computedValues } from './values.ts'

/** The secret from which the ids of people follow, if they follow from one. */
export interface Keyed {
  idsSecret: string | undefined
}

/** The rows of one kind in one file, by what became of them. */
export interface RowCounts {
  /** An index of the files that were read. */
  file: number
  /** An index of the rows of the source's definition. */
  rows: number
  taken: number
  repeated: number
  leftOut: LeftOut[]
  /** The rows that were taken with another text than the platform's, by column. */
  altered: Record<string, number>
}

export interface LeftOut {
  reason: string
  count: number
  /** The record numbers of the first of them; a record may give several rows. */
  first: number[]
}

const EXAMPLES = 3

/** The columns that take a platform's own text as a name, and the most characters of each. */
const NAMES: Readonly<Record<string, number>> = {
  title: TITLE_CHARACTERS,
  category: NAME_CHARACTERS,
  display_name: NAME_CHARACTERS,
}
const PROSE = ['resolution_criteria', 'background']

/**
 * Makes for each kind the table of the rows of the files that are read.
 *
 * @throws ServiceError `corrupt`, with the form and the column, if a definition of the source is no SQL.
 */
export async function stageRows(
  database: Database,
  source: ImportSource,
  { now, idsSecret }: { now: Date } & Keyed,
): Promise<void> {
  defineRewrites(database)
  if (idsSecret !== undefined) definePersonIds(database, idsSecret, source.namespace)
  await database.run(`SET VARIABLE now = ${literal(now.toISOString())}::TIMESTAMPTZ`)
  for (const kind of kindsOf(source)) {
    try {
      const rows = stagedRows(source, kind, idsSecret !== undefined)
      await database.run(`CREATE OR REPLACE TEMP TABLE ${stagedTable(kind)} AS ${rows}`)
    } catch (error) {
      throw await namingColumn(database, source, kind, error)
    }
  }
}

/** The query of the rows of one kind, in the order of definitions and files. */
function stagedRows(source: ImportSource, kind: ImportKind, hasSecret: boolean): string {
  const given = givenColumns(source, kind)
  const definitions = [...source.rows.entries()].filter(([, rows]) => rows.kind === kind)
  const own = definitions.map(([index, definition]) => ownRows(index, definition, given))
  const ids = given.filter(({ holds }) => holds === 'id')
  const made = ({ name }: ImportColumn): [string, MadeId] => [
    valueOf(name),
    { text: name, namespace: source.namespace, isKeyed: hasSecret && isOfPerson(name) },
  ]
  const identified = rowsWithIds(
    `(${own.join(' UNION ALL BY NAME ')})`,
    Object.fromEntries(ids.map((column) => made(column))),
  )
  const columns = IMPORT_COLUMNS[kind]
  const sayings = columns.map((column): [string, Saying] => [
    column.name,
    saying(column, given.includes(column)),
  ])
  const times = given.filter(isTime).map(({ name }): [string, string] => [valueOf(name), `epoch_ms(${name})`])
  const values = { ...computedValues(columns, parseOptions(kind, {})), ...Object.fromEntries(times) }
  const origin = ['definition', 'file', 'origin', 'own_reason', 'altered']
  const row: Row = {
    ...Object.fromEntries(origin.map((name) => [name, name])),
    ...rowSaying(Object.fromEntries(sayings)),
    ...values,
  }
  return rowsFrom(`(${identified}) ORDER BY definition, file, origin`, row)
}

/** Returns the SQL of a column, whose text is like that of a file. */
function saying(column: ImportColumn, isGiven: boolean): Saying {
  const { name, holds, required } = column
  const text = isTime(column)
    ? `(${name} AT TIME ZONE 'UTC')::VARCHAR || 'Z'`
    : holds === 'id'
      ? valueOf(name)
      : name
  const constant = holds === 'entityType' ? `'forecaster'` : 'NULL::VARCHAR'
  return {
    text: isGiven ? text : constant,
    ...(!required && { isSaid: String(isGiven) }),
    ...(isText(column, false) && { isVoid: 'false' }),
  }
}

/** Finds the definition whose SQL fails, since the query of all of them does not name it. */
async function namingColumn(
  database: Database,
  { name, rows }: ImportSource,
  kind: ImportKind,
  error: unknown,
): Promise<unknown> {
  for (const { form, rest = '', columns, leftOut = [] } of rows.filter((one) => one.kind === kind)) {
    const given = IMPORT_COLUMNS[kind].filter((column) => columns[column.name] !== undefined)
    const parts: Row = {
      'the rows': '1',
      ...Object.fromEntries(
        given.map((column) => [`the column ${column.name}`, madeOf(column, columns[column.name]!)]),
      ),
      ...Object.fromEntries(
        leftOut.map(([reason, fails]) => [`the reason ${JSON.stringify(reason)}`, fails]),
      ),
    }
    for (const [part, sql] of Object.entries(parts)) {
      try {
        const made = rowsFrom(`${formTable(form)} r ${rest}`, { made: `(${sql})` })
        await database.run(`SELECT count(made) FROM (${made})`)
      } catch (cause) {
        if (!(cause instanceof ServiceError) || cause.kind !== 'corrupt') return error
        return new ServiceError(
          'corrupt',
          `the importer ${name} cannot make ${kind} of the form ${form}, ${part}: ${cause.message}`,
          { cause },
        )
      }
    }
  }
  return error
}

/** Returns our columns of a kind that the source gives. */
function givenColumns({ rows }: ImportSource, kind: ImportKind): readonly ImportColumn[] {
  const given = new Set(
    rows.filter((row) => row.kind === kind).flatMap(({ columns }) => Object.keys(columns)),
  )
  return IMPORT_COLUMNS[kind].filter(({ name }) => given.has(name))
}

/** The query of a definition's rows: their origin, our columns, and the source's reason to leave them out. */
function ownRows(
  index: number,
  { form, rest = '', columns: given, leftOut = [] }: SourceRows,
  columns: readonly ImportColumn[],
): string {
  const cases = leftOut.map(([reason, fails]) => `WHEN ${fails} THEN ${literal(reason)}`)
  const alterations = columns.flatMap(({ name, ...column }) => {
    const sql = given[name]
    if (sql === undefined || !isMadeFit(name)) return []
    return `if(coalesce(${madeOf({ name, ...column }, sql)}, '') <> (${sql}), '${name}', NULL)`
  })
  const row: Row = {
    definition: String(index),
    file: 'r.file',
    origin: 'r.record',
    own_reason: cases.length === 0 ? 'NULL::VARCHAR' : `CASE ${cases.join(' ')} END`,
    altered: `list_filter([${['NULL::VARCHAR', ...alterations].join(', ')}], lambda name: name IS NOT NULL)`,
    ...Object.fromEntries(
      columns.map((column) => {
        const sql = given[column.name]
        return [column.name, sql === undefined ? `NULL::${typeOf(column)}` : madeOf(column, sql)]
      }),
    ),
  }
  const query = rowsFrom(`${formTable(form)} r ${rest}`, row)
  return columns.some(({ name }) => name === 'title') ? withinLimits(query, columns) : query
}

const isMadeFit = (name: string) => name in NAMES || PROSE.includes(name)
const typeOf = (column: ImportColumn) => (isTime(column) ? 'TIMESTAMPTZ' : 'VARCHAR')

/** The SQL of what a column of ours gets: a text, or a time. */
function madeOf(column: ImportColumn, sql: string): string {
  const { name, holds } = column
  if (isTime(column)) return `date_trunc('millisecond', ${sql})`
  const text = `(${sql})::VARCHAR`
  if (holds === 'id' || holds === 'key' || holds === 'group') return `nullif(${normal(text)}, '')`
  if (holds === 'probability')
    return `if(lower(${text}) = 'withdrawn', 'withdrawn', coalesce(${inMillionths(text)}, ${text}))`
  if (PROSE.includes(name)) return `nullif(left(${PROSE_FROM}(${text}), ${PROSE_CHARACTERS}), '')`
  const most = NAMES[name]
  if (most === undefined) return `nullif(${text}, '')`
  return `nullif(${name === 'title' ? `${NAME_FROM}(${text})` : `trim(left(${NAME_FROM}(${text}), ${most}))`}, '')`
}

/** A probability as the tables hold it, so that equal ones are known as equal. */
const inMillionths = (text: string) => `(round_even(try_cast(${text} AS DOUBLE), 6))::VARCHAR`

/** The rest of a title that is longer than a title may be goes before the criteria. */
function withinLimits(query: string, columns: readonly ImportColumn[]): string {
  const title = `${TITLE_WITHIN_LIMIT} AS title`
  const hasCriteria = columns.some(({ name }) => name === 'resolution_criteria')
  const criteria = hasCriteria
    ? `, if(length(title) > ${TITLE_CHARACTERS},
        left(${CRITERIA_WITH_REST}, ${PROSE_CHARACTERS}),
        resolution_criteria) AS resolution_criteria`
    : ''
  return `SELECT * REPLACE (${title}${criteria}) FROM (${query})`
}

/** The rows of a kind that were read, with what became of them. */
export const judgedRows = (kind: ImportKind) =>
  `FROM (SELECT rowid AS record, * FROM ${stagedTable(kind)}) JOIN (SELECT record, reason, is_repeated FROM ${judgedTable(kind)}) USING (record)`

/** Counts the rows that were read, by what became of them, in the order of kinds and files. */
export async function countRows(database: Database, source: ImportSource): Promise<RowCounts[]> {
  const counts: RowCounts[] = []
  for (const kind of kindsOf(source)) {
    const groups = await database.rows<{
      definition: number
      file: number
      reason: string | null
      is_repeated: boolean
      count: bigint
      first: readonly bigint[]
    }>(
      `SELECT definition, file, reason, is_repeated, count(*) AS count, min(DISTINCT origin, ${EXAMPLES}) AS first
       FROM (${judgedRows(kind)}) GROUP BY ALL ORDER BY definition, file, count DESC, reason`,
    )
    for (const { definition, file, reason, is_repeated, count, first } of groups) {
      let found = counts.find((one) => one.rows === definition && one.file === file)
      if (found === undefined) {
        found = { file, rows: definition, taken: 0, repeated: 0, leftOut: [], altered: {} }
        counts.push(found)
      }
      const number = Number(count)
      if (reason !== null) found.leftOut.push({ reason, count: number, first: first.map(Number) })
      else if (is_repeated) found.repeated += number
      else found.taken += number
    }
    const texts = await database.rows<{ definition: number; file: number; name: string; count: bigint }>(
      `SELECT definition, file, name, count(*) AS count
       FROM (SELECT definition, file, unnest(altered) AS name FROM (${judgedRows(kind)}) WHERE ${TAKEN})
       GROUP BY ALL ORDER BY definition, file, name`,
    )
    for (const { definition, file, name, count } of texts) {
      counts.find((one) => one.rows === definition && one.file === file)!.altered[name] = Number(count)
    }
  }
  return counts
}

/** The kinds that a source gives, in the order in which they are imported. */
export function kindsOf({ rows }: ImportSource): ImportKind[] {
  return IMPORTS.filter((kind) => rows.some((row) => row.kind === kind))
}

/** Returns the file and the record from which each of some rows of a kind was made. */
export async function originsOf(
  database: Database,
  kind: ImportKind,
  records: readonly number[],
): Promise<{ file: number; record: number }[]> {
  const rows = await database.rows<{ at: bigint; file: number; origin: bigint }>(
    `SELECT rowid AS at, file, origin FROM ${stagedTable(kind)} WHERE rowid IN (${[...records, -1].join(', ')})`,
  )
  const byRow = new Map(rows.map(({ at, file, origin }) => [Number(at), { file, record: Number(origin) }]))
  return records.map((record) => byRow.get(record)!)
}
