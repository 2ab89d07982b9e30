// The SQL that turns the texts of a file into values. `incoming` has the texts; `parsed` adds the value of
// each column.
import { type Database, literal } from '../duckdb.ts'
import { tableSpec } from '../../schemas/tables.ts'
import { type ImportColumn, type ImportKind, isStored, isTime } from './columns.ts'
import { type ValueOptions, isNumberText } from './options.ts'
import { type MadeId, definePersonIds, rowsWithIds } from './ids.ts'
import { isOfPerson } from './person-ids.ts'
import { type Row, isSaid, keptOf, rowsFrom, rowsWith, valueOf } from './row.ts'

/** The namespace of the ids of imported forecasts, an arbitrary UUID. */
export const FORECAST_IDS = '0f7b0a4e-6a0d-4c57-8a64-0c1f5f6b6a11'

/** Whether a probability withdraws the forecast: it is the word, or empty. */
export const isWithdrawal = (column: string) => `coalesce(lower(${column}) = 'withdrawn', true)`

/** Patterns of times with an offset, or without one in a given zone; the seconds may be left out. */
const CLOCK = '\\d{4}-\\d{2}-\\d{2}[T ]\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?'
const OFFSET = ' ?(Z|[+-]([01]\\d|2[0-3])(:?[0-5]\\d)?)'
const ZONED = literal(`(?i)${CLOCK}${OFFSET}`)
export const LOCAL = literal(`(?i)${CLOCK}`)

/**
 * Adds the seconds that a time leaves out, and the colon that an offset leaves out, and takes away the space
 * before an offset, as DuckDB wants it.
 */
const spelt = (text: string) => {
  const close = `${text}[1:11] || replace(${text}[12:], ' ', '')`
  const whole = `if(${text}[17] = ':', ${close}, ${text}[1:16] || ':00' || replace(${text}[17:], ' ', ''))`
  return `upper(if(${text}[-5] IN ('+', '-'), (${whole})[1:-3] || ':' || ${text}[-2:], ${whole}))`
}

/** A probability, or a percentage if `percent`, as a number; NULL for a text that is none. */
export const numberOf = (column: string, { percent }: ValueOptions) =>
  percent ? `try_cast(regexp_replace(${column}, '\\s*%$', '') AS DOUBLE)` : `try_cast(${column} AS DOUBLE)`

function expressionOf(
  { name, holds, required }: Pick<ImportColumn, 'name' | 'holds' | 'required'>,
  options: ValueOptions,
): string {
  const stated = required ? name : `if(${isSaid(name)}, ${name}, ${keptOf(name)})`
  switch (holds) {
    case 'id':
      return `lower(${name})`
    case 'plan':
    case 'event': {
      // DuckDB searches all names of zones for the end of a text that is no time, which takes long.
      const zoned = `if(regexp_full_match(${name}, ${ZONED}), epoch_ms(try_cast(${spelt(name)} AS TIMESTAMPTZ)), NULL)`
      const instant =
        options.timezone === undefined
          ? zoned
          : `if(regexp_full_match(${name}, ${LOCAL}), instant_of(${localOf(name)}), ${zoned})`
      return required ? instant : `if(${isSaid(name)}, ${instant}, epoch_ms(${keptOf(name)}))`
    }
    case 'position':
      return `if(${isSaid(name)}, if(regexp_full_match(${name}, '\\d{1,15}'), try_cast(${name} AS BIGINT), NULL), ${keptOf(name)})`
    case 'probability':
      return `if(${isWithdrawal(name)}, -1,
        try_cast(round_even(${numberOf(name, options)} * ${options.percent ? '1e4' : '1e6'}, 0) AS INTEGER))`
    case 'outcome': {
      // Programs write the number 1 as 1 or as 1.0.
      const meanings = [...options.outcomes].map(([text, outcome]) => {
        const same = isNumberText(text)
          ? `try_cast(${name} AS DOUBLE) = ${Number(text)}`
          : `${name} = ${literal(text)}`
        return `WHEN ${same} THEN '${outcome}'`
      })
      return meanings.length === 0 ? name : `CASE ${meanings.join(' ')} ELSE ${name} END`
    }
    case 'withdrawal':
      return `lower(${name})`
    case 'group':
      return options.ownEvents ? `coalesce(${stated}, ${valueOf('question_id')})` : stated
    case 'entityType':
    case 'eventKind':
    case 'name':
    case 'key':
    case 'text':
    case 'prose':
      return stated
  }
}

/** The milliseconds of a time without an offset, as if it were in UTC. */
export const localOf = (column: string) => `epoch_ms(try_cast(${spelt(column)} AS TIMESTAMP))`

/**
 * Whether a column holds numbers that `incoming` stores, because they take long to parse and little memory.
 * An optional one depends on what is known.
 */
const isNumber = ({ holds, required }: ImportColumn) =>
  required && (isTime({ holds }) || holds === 'probability')

/** Whether the value of a column follows from its text alone, before anything known is looked up. */
const isIdentity = (column: ImportColumn, columns: readonly ImportColumn[]) =>
  column.holds === 'id' || column === columns[0]

/** The values of some columns. */
const valuesOf = (columns: readonly ImportColumn[], options: ValueOptions): Row =>
  Object.fromEntries(columns.map((column) => [valueOf(column.name), expressionOf(column, options)]))

/** Returns the values that `incoming` must have in addition to the texts. */
export function computedValues(columns: readonly ImportColumn[], options: ValueOptions): Row {
  return valuesOf(columns.filter(isNumber), options)
}

/** Makes the view `identified`: `incoming` with the values of the ids and of what each row is about. */
export async function defineIdentified(
  database: Database,
  columns: readonly ImportColumn[],
  options: ValueOptions,
): Promise<void> {
  const { namespace, idsSecret } = options
  const ids = columns.filter(({ holds }) => holds === 'id')
  const named = valuesOf(
    columns.filter((column) => isIdentity(column, columns) && column.holds !== 'id'),
    options,
  )
  const made = (text: string): MadeId => ({
    text,
    namespace: namespace!,
    isKeyed: idsSecret !== undefined && isOfPerson(text),
  })
  if (namespace !== undefined && idsSecret !== undefined) definePersonIds(database, idsSecret, namespace)
  const rows =
    namespace === undefined
      ? rowsWith('incoming', { ...valuesOf(ids, options), ...named })
      : rowsWithIds(
          `(${rowsWith('incoming', named)})`,
          Object.fromEntries(ids.map(({ name }) => [valueOf(name), made(name)])),
        )
  await database.run(`CREATE OR REPLACE TEMP VIEW identified AS ${rows}`)
}

/**
 * Makes the view `parsed` from `identified` and, for columns that a row may lack, the table `standing`.
 * Grain: one row per row of `incoming`.
 */
export async function defineParsed(
  database: Database,
  columns: readonly ImportColumn[],
  options: ValueOptions,
): Promise<void> {
  const id = columns[0]!.name
  const values = columns.filter((column) => !isNumber(column) && !isIdentity(column, columns))
  const kept = columns
    .filter((column) => !column.required && isStored(column))
    .map(({ name }): [string, string] => [keptOf(name), `standing.${name}`])
  const standing = kept.map(([name, sql]) => `${sql} AS ${name}`)
  const rows =
    kept.length === 0
      ? 'identified'
      : `(SELECT ${['identified.*', ...standing].join(', ')} FROM identified LEFT JOIN standing ON standing.${id} = ${valueOf(id)})`
  await database.run(`CREATE OR REPLACE TEMP VIEW parsed AS ${rowsWith(rows, valuesOf(values, options))}`)
}

/**
 * Defines `instant_of`, the instant of a wall clock in milliseconds, or NULL for a time that the clock skips.
 * It tries the offsets of a day before and of a day after: one is right if the clock shows the time at the
 * instant that it gives. If both are right and give different instants, the time comes twice.
 */
export async function defineZone(database: Database, { timezone: zone }: ValueOptions): Promise<void> {
  if (zone === undefined) return
  const macros = {
    'wall_clock(ms)': `epoch_ms(make_timestamptz(ms * 1000) AT TIME ZONE ${literal(zone)})`,
    'by_offset_at(wall, ms)': `wall - (wall_clock(ms) - ms)`,
    'by_earlier(wall)': `by_offset_at(wall, wall - 86400000)`,
    'by_later(wall)': `by_offset_at(wall, wall + 86400000)`,
    'shows(ms, wall)': `wall_clock(ms) = wall`,
    'instant_of(wall)': `CASE WHEN shows(by_earlier(wall), wall) THEN by_earlier(wall)
      WHEN shows(by_later(wall), wall) THEN by_later(wall) END`,
    'comes_twice(wall)': `by_earlier(wall) <> by_later(wall)
      AND shows(by_earlier(wall), wall) AND shows(by_later(wall), wall)`,
  }
  for (const [head, body] of Object.entries(macros)) {
    await database.run(`CREATE OR REPLACE TEMP MACRO ${head} AS ${body}`)
  }
}

/** The SQL of a column of a table, from `parsed`. */
function storedOf({ name, holds }: ImportColumn): string {
  const value = valueOf(name)
  // The next outcome of a question whose outcome is withdrawn was not known at the same time.
  if (name === 'known_at')
    return `if(${valueOf('outcome')} = 'open', NULL, make_timestamptz(${value} * 1000))`
  if (isTime({ holds })) return `make_timestamptz(${value} * 1000)`
  return holds === 'probability' ? `nullif(${value}, -1) / 1e6` : value
}

/**
 * Returns the query of a table's rows with their record numbers, from rows of `parsed` that passed every
 * rule. Grain: one row per row of `rows`.
 */
export function tableRows(kind: ImportKind, given: readonly ImportColumn[], rows = 'parsed'): string {
  const columns = given.filter(isStored)
  const row: Row = {
    ...Object.fromEntries(columns.map((column) => [column.name, storedOf(column)])),
    recorded_at: `getvariable('now')::TIMESTAMPTZ`,
    record: 'record',
  }
  if (tableSpec(kind).columns.some(({ name }) => name === 'reason')) {
    return rowsFrom(rows, { ...row, reason: `getvariable('reason')::VARCHAR` })
  }
  if (kind !== 'forecasts') return rowsFrom(rows, row)
  // The id is derived from the content, so that importing a forecast again gives the same id.
  const text = `concat_ws('|', ${columns.map(({ name }) => valueOf(name)).join(', ')})`
  const identified = rowsWithIds(rows, { forecast_id: { text, namespace: FORECAST_IDS } })
  return rowsFrom(`(${identified})`, { forecast_id: 'forecast_id', ...row, source: `'import'` })
}
