// The difference that a file makes: the known rows of its subjects, the rows that are new, and the columns
// that change.
import type { Database } from '../duckdb.ts'
import { IMPORT_COLUMNS, type ImportColumn, type ImportKind, KEY_COLUMNS, isText } from './columns.ts'
import type { ImportOptions } from './options.ts'
import { KNOWN_NAME } from './people-names.ts'
import { isNormalized } from './rewrites.ts'
import { countOf } from './take-in.ts'
import { isAltered, isVoid, valueOf } from './row.ts'
import { tableRows } from './values.ts'

/** The number of rows, by the columns in which they do or have something. */
export type ByColumn = Readonly<Record<string, number>>

/** The current rows of a table as `known`, with the prose that their view lacks, and the names of people. */
function currentOf(kind: ImportKind, columns: readonly ImportColumn[]): string {
  if (kind === 'forecasters') {
    return `(SELECT *, ${KNOWN_NAME}(user_id) AS display_name FROM current_forecasters) known`
  }
  const prose = columns.filter(({ holds }) => holds === 'prose').map(({ name }) => `said.${name}`)
  if (prose.length === 0) return `current_${kind} known`
  const id = columns[0]!.name
  return `(SELECT current.*, ${prose.join(', ')} FROM current_${kind} current JOIN ${kind} said USING (${id}, recorded_at)) known`
}

/**
 * Makes the table `standing`: the current rows of the subjects that the file names. Forecasts replace none.
 * Of prices it has the one that counts for each question and time.
 */
export async function findStanding(database: Database, kind: ImportKind): Promise<void> {
  if (kind === 'forecasts') return
  const columns = IMPORT_COLUMNS[kind]
  const id = columns[0]!.name
  const current =
    kind === 'prices'
      ? '(FROM prices QUALIFY row_number() OVER (PARTITION BY question_id, priced_at ORDER BY recorded_at DESC, probability DESC NULLS LAST) = 1) known'
      : currentOf(kind, columns)
  await database.run(
    `CREATE OR REPLACE TEMP TABLE standing AS SELECT known.* FROM ${current}
     WHERE known.${id} IN (SELECT ${valueOf(id)} FROM identified)`,
  )
}

/** A known forecast with the content of a fresh one. Only that of a file has its id. */
const KNOWN_FORECAST = `SELECT 1 FROM forecasts known WHERE known.forecast_id = fresh.forecast_id
    UNION ALL SELECT 1 FROM forecasts known WHERE known.source = 'api' AND known.entity_type = fresh.entity_type
      AND known.entity_id = fresh.entity_id AND known.question_id = fresh.question_id
      AND known.forecast_at = fresh.forecast_at AND known.probability IS NOT DISTINCT FROM fresh.probability`

/**
 * Makes the table `fresh`. Grain: one row per row that `rows` bring and that the table does not have. Returns
 * the number of rows that repeat an earlier row of the file. With `onlyUnknown` rows about a known subject
 * are left out.
 */
export async function findFresh(
  database: Database,
  kind: ImportKind,
  rows: string,
  onlyUnknown: boolean,
): Promise<number> {
  const columns = IMPORT_COLUMNS[kind]
  const id = columns[0]!.name
  const known =
    kind === 'forecasts'
      ? KNOWN_FORECAST
      : onlyUnknown
        ? `SELECT 1 FROM standing known WHERE known.${id} = fresh.${id}`
        : `SELECT 1 FROM standing known WHERE ${columns
            .map(
              ({ name, required, holds }) =>
                `known.${name} ${required && holds !== 'probability' ? '=' : 'IS NOT DISTINCT FROM'} fresh.${name}`,
            )
            .join(' AND ')}`
  const given = tableRows(kind, columns, rows)
  const fresh = (from: string) =>
    database.run(`CREATE OR REPLACE TEMP TABLE fresh AS FROM (${from}) fresh WHERE NOT EXISTS (${known})`)
  // Most files repeat nothing, and counting is much faster than removing repeats. Different keys with one
  // hash do no harm.
  if (kind === 'prices') {
    const repeats = await repeatsIn(database, `(${given})`, PRICE_KEY)
    // Of prices at one time the last one counts, also where an earlier one is not known.
    await fresh(repeats === 0 ? given : firstOf(given, PRICE_KEY, 'record DESC'))
    return repeats
  }
  await fresh(given)
  const repeats = kind === 'forecasts' ? await repeatsIn(database, 'fresh', 'forecast_id') : 0
  if (repeats > 0) {
    const first = firstOf('FROM fresh', 'forecast_id', 'record')
    await database.run(`CREATE OR REPLACE TEMP TABLE fresh AS ${first} ORDER BY forecast_id`)
  }
  return repeats
}

const PRICE_KEY = 'question_id, priced_at'

async function repeatsIn(database: Database, rows: string, key: string): Promise<number> {
  const [found] = await database.rows<{ rows: bigint; hashes: bigint }>(
    `SELECT count(*) AS rows, count(DISTINCT hash(${key})) AS hashes FROM ${rows}`,
  )
  if (found!.hashes === found!.rows) return 0
  const keys = await countOf({ database }, `(SELECT DISTINCT ${key} FROM ${rows})`)
  return Number(found!.rows) - keys
}

const firstOf = (rows: string, key: string, order: string) =>
  `SELECT * FROM (${rows}) QUALIFY row_number() OVER (PARTITION BY ${key} ORDER BY ${order}) = 1`

/** Counts the rows of `fresh` that change a known row, and those that change each column. */
export async function changesOf(
  database: Database,
  kind: ImportKind,
): Promise<{ changed: number; columns: ByColumn }> {
  if (kind === 'forecasts') return { changed: 0, columns: {} }
  const keys = KEY_COLUMNS[kind]
  const columns = IMPORT_COLUMNS[kind].filter(({ name }) => !keys.includes(name))
  const counts = columns.map(
    ({ name }) => `count(*) FILTER (fresh.${name} IS DISTINCT FROM standing.${name}) AS ${name}`,
  )
  const [{ changed, ...byColumn }] = (await database.rows<Record<string, bigint>>(
    `SELECT ${['count(*) AS changed', ...counts].join(', ')} FROM fresh JOIN standing USING (${keys.join(', ')})`,
  )) as [Record<string, bigint>]
  return { changed: Number(changed), columns: nonZero(byColumn) }
}

/** Counts the cells of each optional column that have a word for a missing value. */
export async function voidCells(
  database: Database,
  kind: ImportKind,
  areIdsText: boolean,
): Promise<ByColumn> {
  const texts = IMPORT_COLUMNS[kind].filter((column) => !column.required && isText(column, areIdsText))
  if (texts.length === 0) return {}
  const counts = texts.map(({ name }) => `count(*) FILTER (${isVoid(name)}) AS ${name}`)
  const [byColumn] = await database.rows<Record<string, bigint>>(`SELECT ${counts.join(', ')} FROM incoming`)
  return nonZero(byColumn!)
}

/** Counts the cells of each column whose text was made fit. */
export async function alteredCells(
  database: Database,
  kind: ImportKind,
  { normalizeText }: Pick<ImportOptions, 'normalizeText'>,
): Promise<ByColumn> {
  const texts = IMPORT_COLUMNS[kind].filter(({ holds }) => normalizeText && isNormalized(holds))
  if (texts.length === 0) return {}
  const counts = texts.map(({ name }) => `count(*) FILTER (${isAltered(name)}) AS ${name}`)
  const [byColumn] = await database.rows<Record<string, bigint>>(`SELECT ${counts.join(', ')} FROM incoming`)
  return nonZero(byColumn!)
}

function nonZero(counts: Record<string, bigint>): ByColumn {
  return Object.fromEntries(
    Object.entries(counts).flatMap(([name, count]) => (count === 0n ? [] : [[name, Number(count)]])),
  )
}
