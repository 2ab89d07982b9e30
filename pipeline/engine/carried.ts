// Pairs that a release hands on to the next one, in files, by numbers of its own with the ids that these
// stand for. Finds out which of them still hold, and which are wrong.
import { type Database, literal, parquet } from '../duckdb.ts'
import { PAIR_METRICS } from '../../schemas/metrics.ts'
import { PAIR_COLUMNS } from '../scoring/pairs.ts'
import { sqlType } from './queries.ts'

/** The files of pairs that a release made, on this machine. */
export interface CarriedPaths {
  release: number
  /** See `NAMES`. */
  names: string
  /** With the question, the entity and every metric of a pair, all of them whole numbers. */
  pairs: readonly string[]
}

const METRICS = Object.keys(PAIR_METRICS)

/**
 * They are read whole. The second version has integers in fewer bytes. Without dictionaries and compression
 * writing takes half as long, for a tenth more bytes.
 */
const FORMAT = `(FORMAT parquet, PARQUET_VERSION V2, COMPRESSION uncompressed, DICTIONARY_SIZE_LIMIT 1, ROW_GROUP_SIZE 122880,
  WRITE_BLOOM_FILTER false)`

/** The entities, each with the id of its own voice. */
const OWN_VOICES = `(SELECT entity.*, measuring.entity_id AS own_voice FROM entity JOIN voice USING (entity)
    LEFT JOIN entity measuring ON measuring.entity = own)`

/**
 * The ids that the numbers of a release stand for. Grain: one row per question that it swept, also one
 * without a pair, so that it hides the pairs of earlier releases, with its texts; and one per
 * entity in these pairs, with the id of its own voice: itself, or that of its owner, or null.
 */
const NAMES = `SELECT 'question' AS kind, question AS number, question_id AS id, NULL AS voice, course, spoken
  FROM swept LEFT JOIN told USING (question)
  UNION ALL SELECT entity_type, entity, entity_id, own_voice, NULL, NULL FROM ${OWN_VOICES}
    SEMI JOIN (FROM scored SEMI JOIN swept USING (question)) USING (entity)
  ORDER BY kind, number`

/** The rows of `scored` that are of `swept`, in their order. */
export function sweptPairs(): string {
  return 'scored SEMI JOIN swept USING (question) ORDER BY scored.rowid'
}

/**
 * The rows of `scored` from one number up to another. DuckDB keeps their order, but ends row groups on whole
 * vectors, which only sorted rows are in wherever the first of them lies.
 */
export function pairsBetween(start: number, end: number): string {
  return `scored WHERE rowid >= ${start} AND rowid < ${end} ORDER BY rowid`
}

/** Makes the table `swept` of every question. */
export async function sweptIsAll(database: Database): Promise<void> {
  await database.run(`CREATE OR REPLACE TABLE swept AS SELECT question, question_id FROM question`)
}

/** The number of questions that were swept, and of their pairs. */
export async function sweptCounts(database: Database): Promise<{ questions: number; pairs: number }> {
  const [row] = await database.rows<{ questions: bigint; pairs: bigint }>(
    `SELECT (SELECT count(*) FROM swept) AS questions,
       (SELECT count(*) FROM scored SEMI JOIN swept USING (question)) AS pairs`,
  )
  return { questions: Number(row!.questions), pairs: Number(row!.pairs) }
}

/** Writes names as a Parquet file: `NAMES`, unless others are given in the same columns and order. */
export async function writeNames(database: Database, path: string, names = NAMES): Promise<void> {
  await database.run(`COPY (${names}) TO ${literal(path)} ${FORMAT}`)
}

/**
 * Writes pairs as a Parquet file: rows of a relation with a question, an entity and every metric, in its
 * order.
 */
export async function writePairs(database: Database, path: string, rows: string): Promise<void> {
  // The numbers of a pair are never -0, so that whole numbers give the same bits back.
  const metrics = METRICS.map((name) => `${name}::BIGINT AS ${name}`)
  await database.runByOneThread(
    `COPY (SELECT question, entity, ${metrics.join(', ')} FROM ${rows}) TO ${literal(path)} ${FORMAT}`,
  )
}

/**
 * Creates the table `named` (number → id, for each release) and the view `carried` (the pairs of all
 * releases, each with its release).
 */
export async function attachCarried(database: Database, files: readonly CarriedPaths[]): Promise<void> {
  const names = files.map(
    ({ release, names: path }) => `SELECT ${release} AS release, * FROM ${parquet([path])}`,
  )
  await database.run(`CREATE OR REPLACE TEMP TABLE named AS ${names.join(' UNION ALL ')}`)
  const empty = ['question', 'entity', ...METRICS].map((name) => `NULL::INTEGER AS ${name}`)
  const pairs = files
    .filter(({ pairs: paths }) => paths.length > 0)
    .map(({ release, pairs: paths }) => `SELECT ${release} AS release, * FROM ${parquet(paths)}`)
  await database.run(
    `CREATE OR REPLACE TEMP VIEW carried AS SELECT 0 AS release, ${empty.join(', ')} WHERE false
     ${pairs.map((rows) => `UNION ALL ${rows}`).join(' ')}`,
  )
}

/**
 * Questions that score, with the last release that swept them and their number in it. Grain: one row per
 * question.
 */
const NEWEST = `SELECT question.question, question_id, release, number
  FROM (SELECT id AS question_id, max(release) AS release, arg_max(number, release) AS number
    FROM named WHERE kind = 'question' GROUP BY id) JOIN question USING (question_id)`

/**
 * Makes the table `held` of the questions whose newest carried pairs are right as they are: nothing in the
 * table `touched` is about them, and every entity in them has its own voice, or none, as the table `voice`
 * has it. Grain: one row per question.
 */
export async function createHeld(database: Database): Promise<void> {
  await database.run(
    `CREATE OR REPLACE TEMP TABLE held AS FROM (${NEWEST}) ANTI JOIN touched USING (question_id)`,
  )
  await database.run(
    `CREATE OR REPLACE TEMP TABLE carried_entity AS
     SELECT release, number, entity, named.voice AS said, own_voice AS voice
     FROM named JOIN ${OWN_VOICES} ON kind = entity_type AND id = entity_id`,
  )
  const [changed] = await database.rows(
    `SELECT 1 AS one FROM carried_entity WHERE said IS DISTINCT FROM voice LIMIT 1`,
  )
  if (!changed) return
  await database.run(
    `DELETE FROM held WHERE (release, number) IN (
       SELECT (carried.release, carried.question) FROM carried JOIN carried_entity
         ON carried.release = carried_entity.release AND carried.entity = number WHERE said IS DISTINCT FROM voice)`,
  )
}

const TYPED_METRICS = Object.entries(PAIR_COLUMNS)
  .filter(([name]) => METRICS.includes(name))
  .map(([name, kind]) => `${name}::${sqlType(kind)} AS ${name}`)

/**
 * The pairs of the questions of `held` in their files, by the numbers of this release. Grain: one row per
 * entity and question, with the columns of `PAIR_COLUMNS`.
 */
export const HELD_PAIRS = `SELECT held.question, carried_entity.entity, ${TYPED_METRICS.join(', ')}
  FROM carried JOIN held ON carried.release = held.release AND carried.question = held.number
  JOIN carried_entity ON carried.release = carried_entity.release AND carried.entity = carried_entity.number`

/**
 * Returns, after a sweep of every question, one whose newest carried pairs or texts differ from the swept
 * ones, or have other voices; undefined if there is none.
 */
export async function wronglyCarried(
  database: Database,
  files: readonly CarriedPaths[],
): Promise<string | undefined> {
  await attachCarried(database, files)
  await database.run(`CREATE OR REPLACE TEMP TABLE touched AS SELECT '' AS question_id WHERE false`)
  await createHeld(database)
  const whole = METRICS.map((name) => `${name}::BIGINT AS ${name}`).join(', ')
  const row = (of: string) => `row(${METRICS.map((name) => `${of}.${name}`).join(', ')})`
  await database.run(
    `CREATE OR REPLACE TEMP TABLE compared AS
     SELECT coalesce(stored.question, derived.question) AS question, count(*) AS pairs,
       bool_or(${row('stored')} IS DISTINCT FROM ${row('derived')}) AS differs
     FROM (SELECT question, entity, ${whole} FROM (${HELD_PAIRS})) stored
     FULL JOIN (SELECT question, entity, ${whole} FROM scored) derived USING (question, entity) GROUP BY ALL`,
  )
  // A pair that is carried twice is compared twice.
  const [found] = await database.rows<{ question_id: string | null }>(
    `SELECT min(question_id) AS question_id FROM (
       SELECT question FROM question ANTI JOIN held USING (question)
       UNION ALL SELECT question FROM compared WHERE differs
       UNION ALL SELECT held.question FROM held JOIN named
         ON kind = 'question' AND held.release = named.release AND held.number = named.number
         LEFT JOIN told ON held.question = told.question
         WHERE (named.course, named.spoken) IS DISTINCT FROM (told.course, told.spoken)
       UNION ALL SELECT question FROM compared JOIN (SELECT question, count(*) AS wanted FROM scored GROUP BY question)
         USING (question) WHERE pairs <> wanted) JOIN question USING (question)`,
  )
  return found?.question_id ?? undefined
}
