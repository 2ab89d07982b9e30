// Rewrites the texts of files that other programs made: days and numbers as times, and texts made fit to be
// shown.
import { nameFrom, proseFrom } from '../../schemas/names.ts'
import { type Database, literal } from '../duckdb.ts'
import {
  type Holds,
  type ImportColumn,
  type ImportKind,
  KEY_COLUMNS,
  TITLE_CHARACTERS,
  isTime,
} from './columns.ts'
import type { ImportOptions } from './options.ts'
import { isAltered, isSaid, valueOf } from './row.ts'

/** The functions of schemas/names.ts, as `defineRewrites` names them in SQL. */
export const NAME_FROM = 'name_from'
export const PROSE_FROM = 'prose_from'

export function defineRewrites(database: Database): void {
  database.define(NAME_FROM, nameFrom)
  database.define(PROSE_FROM, proseFrom)
}

/** Whether `--normalize-text` is about a column. */
export const isNormalized = (holds: Holds) => holds === 'name' || holds === 'prose'

type Rewrite = (text: string) => string

/** Returns the columns whose texts are read as other texts, with the SQL of these. */
export function rewritesOf(
  columns: readonly ImportColumn[],
  options: Pick<ImportOptions, 'epochMs' | 'days' | 'timezone' | 'normalizeText'>,
): ReadonlyMap<string, Rewrite> {
  const rewrites = new Map<string, Rewrite>()
  for (const { name, holds } of columns) {
    if (isTime({ holds }) && (options.days || options.epochMs !== undefined)) {
      rewrites.set(name, (text) => asTime(text, name === 'opened_at', options))
    }
    if (options.normalizeText && isNormalized(holds)) {
      rewrites.set(name, (text) => `${holds === 'prose' ? PROSE_FROM : NAME_FROM}(${text})`)
    }
  }
  return rewrites
}

const DAY = literal('\\d{4}-\\d{2}-\\d{2}')
const NUMBER = literal('-?\\d+(\\.\\d+)?([eE]\\+?\\d+)?')

/** The SQL of a time from a number or a day; another text stays. A day is its end, but for an opening. */
function asTime(
  text: string,
  isOpening: boolean,
  { epochMs, days, timezone }: Pick<ImportOptions, 'epochMs' | 'days' | 'timezone'>,
): string {
  const cases: string[] = []
  if (days) {
    const time = `T${isOpening ? '00:00:00.000' : '23:59:59.999'}${timezone === undefined ? 'Z' : ''}`
    cases.push(`WHEN regexp_full_match(${text}, ${DAY}) THEN ${text} || '${time}'`)
  }
  if (epochMs !== undefined) {
    const ms = `try_cast(floor(try_cast(${text} AS DOUBLE) * ${epochMs}) AS BIGINT)`
    const instant = `strftime(make_timestamp(${ms} * 1000), '%Y-%m-%dT%H:%M:%S.%gZ')`
    cases.push(
      `WHEN regexp_full_match(${text}, ${NUMBER}) AND ${ms} BETWEEN 0 AND 7258118399999 THEN ${instant}`,
    )
  }
  return `CASE ${cases.join(' ')} ELSE ${text} END`
}

/** The title of a row, cut to its limit, and its criteria with the rest of the title before them. */
export const TITLE_WITHIN_LIMIT = `trim(left(title, ${TITLE_CHARACTERS}))`
export const CRITERIA_WITH_REST = `concat_ws(chr(10), trim(title[${TITLE_CHARACTERS + 1}:]), resolution_criteria)`

/** Moves the rest of titles that are too long to the beginning of the criteria. */
export async function moveLongTitles(database: Database): Promise<void> {
  await database.run(
    `UPDATE texts SET title = ${TITLE_WITHIN_LIMIT}, ${isAltered('title')} = true, ${isSaid('resolution_criteria')} = true,
       resolution_criteria = ${CRITERIA_WITH_REST}
     WHERE length(title) > ${TITLE_CHARACTERS}`,
  )
}

/** Leaves rows of the view `identified` out that are about the same as an earlier one. */
export async function keepFirst(database: Database, kind: ImportKind): Promise<void> {
  const key = KEY_COLUMNS[kind].map(valueOf)
  await database.run(
    `CREATE OR REPLACE TEMP TABLE firsts AS FROM identified
     QUALIFY row_number() OVER (PARTITION BY ${key.join(', ')} ORDER BY record) = 1 OR ${key.map((column) => `${column} IS NULL`).join(' OR ')}
     ORDER BY record`,
  )
  await database.run('CREATE OR REPLACE TEMP VIEW identified AS FROM firsts')
}
