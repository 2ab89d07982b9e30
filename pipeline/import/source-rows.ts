// The rows that an importer makes of a platform's files: each row that was read is taken, repeats an earlier
// one, or is left out for a reason.
import { join } from 'node:path'
import type { Database } from '../duckdb.ts'
import { literal } from '../duckdb.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { isErased } from '../tables/left-out.ts'
import { NAME_CHARACTERS, PROSE_CHARACTERS } from '../../schemas/names.ts'
import { normal } from './cells.ts'
import {
  IMPORTS,
  IMPORT_COLUMNS,
  type ImportColumn,
  type ImportKind,
  KEY_COLUMNS,
  TITLE_CHARACTERS,
  isTime,
} from './columns.ts'
import { CRITERIA_WITH_REST, NAME_FROM, PROSE_FROM, TITLE_WITHIN_LIMIT, defineRewrites } from './rewrites.ts'
import { type ImportSource, type SourceRows, formTable } from './source.ts'
import { countOf } from './take-in.ts'
import { isOfPerson } from './person-ids.ts'
import { definePersonIds, hashOf, idOf } from './values.ts'

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

/** The table of the rows of a kind that were read. */
const stagedTable = (kind: ImportKind) => `staged_${kind}`

/** Whether a row is taken. */
const TAKEN = 'reason IS NULL AND NOT is_repeated'

/** The columns that take a platform's own text as a name, and the most characters of each. */
const NAMES: Readonly<Record<string, number>> = {
  title: TITLE_CHARACTERS,
  category: NAME_CHARACTERS,
  display_name: NAME_CHARACTERS,
}
const PROSE = ['resolution_criteria', 'background']

/** The questions that the files or the store have. Grain: one row per question. */
const ASKED = 'asked_questions'

/**
 * Makes for each kind a table of the rows of the files that are read. The views of the store's tables must be
 * attached: a forecast may be on a question that an earlier import brought.
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
  await database.run(
    `CREATE OR REPLACE TEMP TABLE ${ASKED} AS
     SELECT question_id, opened_at, true AS is_taken FROM current_questions`,
  )
  for (const kind of IMPORTS) {
    const definitions = [...source.rows.entries()].filter(([, rows]) => rows.kind === kind)
    if (definitions.length === 0) continue
    try {
      await stageKind(database, source, kind, definitions, idsSecret !== undefined)
    } catch (error) {
      throw await namingColumn(database, source, definitions, error)
    }
    if (kind !== 'questions') continue
    await database.run(
      `INSERT INTO ${ASKED} SELECT question_id, any_value(opened_at) FILTER (reason IS NULL), bool_or(reason IS NULL)
       FROM ${stagedTable(kind)} WHERE question_id NOT IN (SELECT question_id FROM current_questions) GROUP BY question_id`,
    )
  }
}

/** Makes the table of one kind. Grain: one row per row that was read. */
async function stageKind(
  database: Database,
  source: ImportSource,
  kind: ImportKind,
  definitions: readonly (readonly [number, SourceRows])[],
  hasSecret: boolean,
): Promise<void> {
  const columns = columnsOf(source, kind)
  const ids = columns.filter(({ holds }) => holds === 'id').map(({ name }) => name)
  const said = definitions.map(([index, definition]) => saidBy(index, definition, columns))
  const isKeyed = (id: string) => hasSecret && isOfPerson(id)
  const hashes = ids.map((id) => `${hashOf(id, source.namespace, isKeyed(id))} AS hash_${id}`)
  const uuids = ids.map((id) => `if(${id} IS NULL, NULL, ${idOf(`hash_${id}`, isKeyed(id))}) AS ${id}`)
  const keys = KEY_COLUMNS[kind].join(', ')
  const content = columns.filter(({ name }) => !KEY_COLUMNS[kind].includes(name)).map(({ name }) => name)
  const same =
    content.length === 0
      ? 'true'
      : `row(${content.join(', ')}) IS NOT DISTINCT FROM first_value(row(${content.join(', ')})) OVER earlier`
  const cases = commonFaults(kind).map(([reason, fails]) => `WHEN ${fails} THEN ${literal(reason)}`)
  await database.run(
    `CREATE OR REPLACE TEMP TABLE ${stagedTable(kind)} AS
     WITH said AS (${said.join(' UNION ALL BY NAME ')}),
       identified AS (SELECT * EXCLUDE (${hashes.map((_, index) => `hash_${ids[index]}`).join(', ')}) REPLACE (${uuids.join(', ')})
         FROM (SELECT *, ${hashes.join(', ')} FROM said)),
       judged AS (SELECT * REPLACE (CASE WHEN reason IS NOT NULL THEN reason ${cases.join(' ')} END AS reason)
         FROM ${kind === 'questions' || kind === 'forecasters' ? 'identified' : `identified LEFT JOIN (SELECT question_id, opened_at AS asked_at, is_taken FROM ${ASKED}) USING (question_id)`})
     SELECT *, reason IS NULL AND row_number() OVER earlier > 1 AND ${same} AS is_repeated,
       reason IS NULL AND row_number() OVER earlier > 1 AND NOT (${same}) AS is_other
     FROM judged
     WINDOW earlier AS (PARTITION BY ${keys}, reason IS NULL ORDER BY definition, file, record)`,
  )
  await database.run(`UPDATE ${stagedTable(kind)} SET reason = ${literal(OTHER[kind])} WHERE is_other`)
}

/** Finds the definition whose SQL fails, since the query of all of them does not name it. */
async function namingColumn(
  database: Database,
  { name }: ImportSource,
  definitions: readonly (readonly [number, SourceRows])[],
  error: unknown,
): Promise<unknown> {
  for (const [, { kind, form, rest = '', columns, leftOut = [] }] of definitions) {
    const known = IMPORT_COLUMNS[kind].filter((column) => columns[column.name] !== undefined)
    const parts = [
      ['the rows', '1'],
      ...known.map((column) => [`the column ${column.name}`, valueOf(column, columns[column.name]!)]),
      ...leftOut.map(([reason, fails]) => [`the reason ${JSON.stringify(reason)}`, fails]),
    ] as const
    for (const [part, sql] of parts) {
      try {
        await database.run(
          `SELECT count(value) FROM (SELECT (${sql}) AS value FROM ${formTable(form)} r ${rest})`,
        )
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

/** A row that says otherwise than an earlier one about the same. */
const OTHER: Record<ImportKind, string> = {
  questions: 'an earlier row says otherwise of the same question',
  resolutions: 'an earlier row has another outcome of the same question',
  forecasters: 'an earlier row has another name of the same forecaster',
  forecasts: 'an earlier row has another probability of the same forecaster, question and millisecond',
}

/** Returns our columns of a kind that the source gives. */
function columnsOf({ rows }: ImportSource, kind: ImportKind): readonly ImportColumn[] {
  const given = new Set(
    rows.filter((row) => row.kind === kind).flatMap(({ columns }) => Object.keys(columns)),
  )
  return IMPORT_COLUMNS[kind].filter(({ name }) => given.has(name))
}

/** The query of a definition's rows: their origin, our columns, and the source's reason to leave them out. */
function saidBy(
  index: number,
  { form, rest = '', columns: given, leftOut = [] }: SourceRows,
  columns: readonly ImportColumn[],
): string {
  const cases = leftOut.map(([reason, fails]) => `WHEN ${fails} THEN ${literal(reason)}`)
  const values = columns.map((column) => {
    const sql = given[column.name]
    if (sql === undefined) return `NULL::${typeOf(column)} AS ${column.name}`
    return `${valueOf(column, sql)} AS ${column.name}`
  })
  const reason = cases.length === 0 ? 'NULL::VARCHAR' : `CASE ${cases.join(' ')} END`
  const texts = columns.filter((column) => isText(column.name) && given[column.name] !== undefined)
  const alterations = texts.map((column) => {
    const sql = given[column.name]!
    return `if(coalesce(${valueOf(column, sql)}, '') <> (${sql}), '${column.name}', NULL)`
  })
  const altered = `list_filter([${['NULL::VARCHAR', ...alterations].join(', ')}], lambda name: name IS NOT NULL)`
  const query = `SELECT ${index} AS definition, r.file, r.record, ${reason} AS reason, ${altered} AS altered, ${values.join(', ')} FROM ${formTable(form)} r ${rest}`
  return columns.some(({ name }) => name === 'title') ? withinLimits(query, columns) : query
}

const isText = (name: string) => name in NAMES || PROSE.includes(name)
const typeOf = (column: ImportColumn) => (isTime(column) ? 'TIMESTAMPTZ' : 'VARCHAR')

function valueOf(column: ImportColumn, sql: string): string {
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

const OF_ERASED = 'the forecasts of the forecaster were erased'

/** The first instant that a time of ours may have, and the first one after the last. */
const FIRST = `'1970-01-01 00:00:00+00'::TIMESTAMPTZ`
const END = `'2200-01-01 00:00:00+00'::TIMESTAMPTZ`

/** The reasons to leave rows out that hold for every source. */
function commonFaults(kind: ImportKind): readonly (readonly [reason: string, fails: string])[] {
  const later = (column: string) => `${column} > getvariable('now')`
  const ofQuestion = [
    ['it names no question', 'question_id IS NULL'],
    ['its question is in none of the files and not known', 'is_taken IS NULL'],
    ['its question was left out', 'NOT is_taken'],
  ] as const
  switch (kind) {
    case 'questions':
      return [
        ['the question has no id', 'question_id IS NULL'],
        ['the question has no title', 'title IS NULL'],
        ['the title has no letter and no digit', `NOT regexp_matches(title, '[\\p{L}\\p{Nd}]')`],
        ['the question has no time of opening', 'opened_at IS NULL'],
        ['the question has no time of close', 'closes_at IS NULL'],
        ['a time is before 1970 or after 2199', `opened_at < ${FIRST} OR closes_at >= ${END}`],
        ['the question closes before it opens, or as it does', 'closes_at <= opened_at'],
      ]
    case 'resolutions':
      return [
        ...ofQuestion,
        ['the question has no outcome', 'outcome IS NULL'],
        ['the outcome has no time', 'resolved_at IS NULL'],
        ['the outcome is later than now', later('resolved_at')],
        ['the outcome was known before the question opened', 'resolved_at < asked_at'],
      ]
    case 'forecasters':
      return [
        ['the forecaster has no id', 'user_id IS NULL'],
        [OF_ERASED, isErased('user_id')],
      ]
    case 'forecasts':
      return [
        ...ofQuestion,
        ['the forecast names no forecaster', 'entity_id IS NULL'],
        [OF_ERASED, isErased('entity_id')],
        ['the forecast has no probability', 'probability IS NULL'],
        [
          'the probability is not a number from 0 to 1',
          `probability <> 'withdrawn' AND NOT coalesce(try_cast(probability AS DOUBLE) BETWEEN 0 AND 1, false)`,
        ],
        ['the forecast has no time', 'forecast_at IS NULL'],
        ['the forecast is later than now', later('forecast_at')],
      ]
  }
}

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
      `SELECT definition, file, reason, is_repeated, count(*) AS count, min(DISTINCT record, ${EXAMPLES}) AS first
       FROM ${stagedTable(kind)} GROUP BY ALL ORDER BY definition, file, count DESC, reason`,
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
       FROM (SELECT definition, file, unnest(altered) AS name FROM ${stagedTable(kind)} WHERE ${TAKEN})
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

/** The files of the rows that were taken: rows of our tables, ready to be imported. */
export interface TakenRows {
  kind: ImportKind
  /** A Parquet file. */
  path: string
  rows: number
}

/** Writes the rows of a kind that were taken into the folder `directory`. */
export async function writeTaken(
  database: Database,
  source: ImportSource,
  kind: ImportKind,
  directory: string,
): Promise<TakenRows> {
  const path = join(directory, `${kind}.parquet`)
  const names = columnsOf(source, kind).map(({ name }) => name)
  const columns = kind === 'forecasts' ? [`'forecaster' AS entity_type`, ...names] : names
  const taken = `${stagedTable(kind)} WHERE ${TAKEN}`
  await database.run(
    `COPY (SELECT ${columns.join(', ')}, file AS from_file, record AS from_record FROM ${taken}
       ORDER BY definition, file, record) TO ${literal(path)} (FORMAT parquet)`,
  )
  return { kind, path, rows: await countOf({ database }, taken) }
}

/** Returns the file and the record from which each of some rows of a file of `writeTaken` was taken. */
export async function originsOf(
  database: Database,
  { path }: TakenRows,
  records: readonly number[],
): Promise<{ file: number; record: number }[]> {
  const rows = await database.rows<{ at: bigint; file: number; record: bigint }>(
    `SELECT file_row_number AS at, from_file AS file, from_record AS record
     FROM read_parquet(${literal(path)}, file_row_number = true, hive_partitioning = false)
     WHERE file_row_number IN (${[...records, -1].join(', ')})`,
  )
  const byRow = new Map(rows.map(({ at, file, record }) => [Number(at), { file, record: Number(record) }]))
  return records.map((record) => byRow.get(record)!)
}

/**
 * Makes the table `said` of the forecasts that the files have on questions of yes and no with an outcome,
 * whatever became of the rows. Grain: one row per forecast; a withdrawal has no probability. The outcome of
 * a row that has one itself is its own. Returns whether there is any.
 */
export async function stageSaid(database: Database, source: ImportSource): Promise<boolean> {
  if (!['forecasts', 'resolutions'].every((kind) => source.rows.some((rows) => rows.kind === kind))) {
    return false
  }
  const rowsOfKind = (kind: ImportKind) => {
    const own = source.rows.filter((rows) => rows.kind === kind).flatMap(({ leftOut = [] }) => leftOut)
    const reasons = own.map(([reason]) => literal(reason)).join(', ')
    return `(FROM ${stagedTable(kind)} ${reasons === '' ? '' : `WHERE coalesce(reason NOT IN (${reasons}), true)`})`
  }
  await database.run(
    `CREATE OR REPLACE TEMP TABLE said AS
     WITH outcomes AS (
       SELECT question_id, arg_min(outcome, (reason IS NOT NULL, definition, file, record)) AS outcome
       FROM ${rowsOfKind('resolutions')} GROUP BY question_id)
     SELECT DISTINCT f.entity_id, f.question_id, f.forecast_at, try_cast(f.probability AS DOUBLE) AS probability,
       coalesce(own.outcome, outcomes.outcome) AS outcome
     FROM ${rowsOfKind('forecasts')} f
     LEFT JOIN ${rowsOfKind('resolutions')} own USING (file, record)
     LEFT JOIN outcomes ON outcomes.question_id = f.question_id
     WHERE coalesce(own.outcome, outcomes.outcome) IN ('yes', 'no') AND (f.probability = 'withdrawn'
       OR coalesce(try_cast(f.probability AS DOUBLE) BETWEEN 0 AND 1, false))`,
  )
  return (await countOf({ database }, 'said')) > 0
}

/**
 * Makes the table `published` of the scores that the files have. Grain: one row per score of a forecaster on
 * a question. `stageRows` must have defined the ids of people. Returns whether there is any.
 */
export async function stageScores(
  database: Database,
  source: ImportSource,
  { idsSecret }: Keyed,
): Promise<boolean> {
  const { scores = [], namespace } = source
  if (scores.length === 0) return false
  const isKeyed = idsSecret !== undefined
  const said = scores.map(({ form, columns: { entity_id, question_id, score, value } }) => {
    const ids = `${normal(entity_id)} AS entity, ${normal(question_id)} AS question`
    return `SELECT ${ids}, ${score} AS score, try_cast(${value} AS DOUBLE) AS value FROM ${formTable(form)} r`
  })
  await database.run(
    `CREATE OR REPLACE TEMP TABLE published AS
     SELECT DISTINCT ${idOf('hash_entity', isKeyed)} AS entity_id, ${idOf('hash_question', false)} AS question_id, score, value
     FROM (SELECT *, ${hashOf('entity', namespace, isKeyed)} AS hash_entity, ${hashOf('question', namespace, false)} AS hash_question
       FROM (${said.join(' UNION ALL ')}) WHERE entity IS NOT NULL AND score IS NOT NULL AND value IS NOT NULL)`,
  )
  return (await countOf({ database }, 'published')) > 0
}
