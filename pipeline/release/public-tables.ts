// Makes the files of the public tables: the part of a release's tables that anyone may know. A forecast is
// public once its question is settled. The files follow from the tables, `as_of` and the manifest before,
// however many of them are derived again.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { PipelineComponents } from '../components.ts'
import { publicComments } from '../../schemas/column-comments.ts'
import type { PublicTableFile, ReleaseManifest } from '../../schemas/manifests.ts'
import { CUT_BY, type CutTable, PUBLIC_TABLES, type PublicTable } from '../../schemas/public-tables.ts'
import { DOMAIN_OWNER } from '../../schemas/names.ts'
import type { ScoredTable } from '../../schemas/tables.ts'
import { Database, literal, withComments } from '../duckdb.ts'
import { createCounted } from '../engine/queries.ts'
import type { LocalFile } from '../store/body.ts'
import { publicTablePath } from '../store/paths.ts'
import { firstFileAfter, versionIn } from '../tables/delta-log.ts'
import type { LeftOut, TableVersion } from '../tables/delta.ts'
import { isMoreLeftOut } from '../tables/left-out.ts'
import { attachCurrent, attachTable, currentRowsInFull } from '../tables/views.ts'

type PublicTablesContext = Pick<PipelineComponents, 'database' | 'local' | 'directory'>
type Versions = Record<ScoredTable, TableVersion>

export interface PublicInputs {
  release: number
  asOf: Date
  versions: Versions
  /** The release before, if there is one. */
  previous: ReleaseManifest | undefined
  /** Whether to derive only the files that may differ from the release before: see `isBase`. */
  sincePrevious: boolean
}

/** A public file as the manifest names it. `file` is its content if this release has to write it. */
export interface PublicOutput {
  entry: PublicTableFile
  file: LocalFile | undefined
}

/**
 * Whether only rows recorded since can change the files of a release: the same programs made it, and no
 * further rows are left out.
 */
export function isBase(previous: ReleaseManifest | undefined, next: LeftOut & { service: string }): boolean {
  if (!previous) return false
  const { engines } = previous
  return (
    engines.service === next.service && engines.duckdb === Database.version && !isMoreLeftOut(previous, next)
  )
}

/**
 * Yields the public files of a release in order of path. Deletes a file when the caller asks for the next.
 */
export async function* publicFiles(
  context: PublicTablesContext,
  inputs: PublicInputs,
): AsyncIterable<PublicOutput> {
  const { database, local } = context
  const { versions, asOf, previous } = inputs
  for (const table of ['forecasts', 'prices', 'forecasters'] as const) {
    await attachTable(database, local, versions[table])
  }
  const base = inputs.sincePrevious ? previous : undefined
  if (base) {
    await attachQuestions(context, base, versions)
    await database.run(`CREATE OR REPLACE TEMP TABLE cut_before AS ${cutsAt(new Date(base.as_of), asOf)}`)
  }
  await attachQuestions(context, undefined, versions)
  await database.run(`CREATE OR REPLACE TEMP TABLE cut_now AS ${cutsAt(asOf, asOf)}`)
  for (const table of ['agents', 'events'] as const) {
    await attachCurrent(database, local, { ...versions[table], table })
  }
  const known = new Map(previous?.public.map((entry) => [entry.path, entry]))
  for (const table of Object.keys(PUBLIC_TABLES) as PublicTable[]) {
    if (isCut(table)) yield* cutFiles(context, inputs, table, base, known)
    else yield* output(context, inputs, publicTablePath(table), table, WHOLE[table](asOf), known)
  }
}

function isCut(table: PublicTable): table is CutTable {
  return table in CUT_BY
}

async function attachQuestions(
  { database, local }: PublicTablesContext,
  before: ReleaseManifest | undefined,
  versions: Versions,
): Promise<void> {
  for (const table of ['questions', 'resolutions'] as const) {
    const version = before ? versionIn(before, versions[table]) : versions[table]
    await attachCurrent(database, local, { ...version, table })
  }
}

const timestamp = (at: Date) => `${literal(at.toISOString())}::TIMESTAMPTZ`

/** The period of an instant: its day if that lies in the month of `asOf`, otherwise its month, in UTC. */
function periodOf(instant: string, asOf: Date): string {
  const utc = `make_timestamp(epoch_us(${instant}))`
  return `CASE strftime(${utc}, '%Y-%m') WHEN ${literal(asOf.toISOString().slice(0, 7))}
    THEN strftime(${utc}, '%Y-%m-%d') ELSE strftime(${utc}, '%Y-%m') END`
}

/**
 * Selects the period of each question in each table as of `at`; null if the table has nothing about the
 * question that is public. The periods are those of a release as of `asOf`. Grain: one row per question.
 */
function cutsAt(at: Date, asOf: Date): string {
  const known = `r.outcome <> 'open' AND r.resolved_at <= ${timestamp(at)}`
  const settled = `${known} AND r.outcome <> 'annulled' AND q.closes_at <= ${timestamp(at)}`
  return `SELECT q.question_id, ${periodOf('q.opened_at', asOf)} AS questions,
      CASE WHEN ${known} THEN ${periodOf('r.resolved_at', asOf)} END AS resolutions,
      CASE WHEN ${settled} THEN ${periodOf('greatest(q.closes_at, r.resolved_at)', asOf)} END AS forecasts,
      CASE WHEN q.question_id IN (SELECT question_id FROM prices) THEN forecasts END AS prices
    FROM current_questions q LEFT JOIN current_resolutions r USING (question_id)`
}

/** Selects the rows of a table in the periods of `wanted_period`, with their `period`. */
const CUT_ROWS: Record<CutTable, (rows: string) => string> = {
  questions: (rows) => `SELECT * FROM (${currentRowsInFull('questions', rows)})`,
  resolutions: () => `SELECT * FROM current_resolutions`,
  forecasts: () => `SELECT * FROM public_forecast`,
  prices: (rows) => `FROM ${rows}`,
}

/** Selects all rows of a table with a single file. */
const WHOLE: Record<Exclude<PublicTable, CutTable>, (asOf: Date) => string> = {
  agents: (asOf) => `
    WITH known AS (
      SELECT *, CASE WHEN NOT starts_with(owner_id, ${literal(DOMAIN_OWNER)})
        THEN first_value(agent_id) OVER (PARTITION BY owner_id ORDER BY registered_at, agent_id) END AS first_id
      FROM current_agents
    ), released AS (
      FROM known WHERE agent_id IN (
        SELECT entity_id FROM forecasts WHERE entity_type = 'agent' AND forecast_at <= ${timestamp(asOf)})
    )
    SELECT * REPLACE (nullif(name, '') AS name, nullif(model_type, '') AS model_type,
        CASE WHEN retired_at <= ${timestamp(asOf)} THEN retired_at END AS retired_at),
      CASE WHEN first_id IN (SELECT agent_id FROM released) THEN first_id END AS first_of_owner
    FROM released`,
  events: () => `FROM current_events`,
  forecasters: () => `SELECT DISTINCT user_id FROM forecasters`,
}

async function* cutFiles(
  context: PublicTablesContext,
  inputs: PublicInputs,
  table: CutTable,
  base: ReleaseManifest | undefined,
  known: ReadonlyMap<string, PublicTableFile>,
): AsyncIterable<PublicOutput> {
  const { database } = context
  const rows = await database.rows<{ period: string }>(
    `SELECT DISTINCT ${table} AS period FROM cut_now WHERE ${table} IS NOT NULL ORDER BY ${table}`,
  )
  const periods = rows.map(({ period }) => period)
  const touched = base ? await touchedPeriods(context, inputs, table, base) : new Set(periods)
  const isKept = (period: string) => !touched.has(period) && known.has(publicTablePath(table, period))
  const wanted = periods.filter((period) => !isKept(period))
  await createRows(database, table, wanted)
  for (const period of periods) {
    const path = publicTablePath(table, period)
    if (isKept(period)) yield { entry: known.get(path)!, file: undefined }
    else {
      const select = `SELECT * FROM public_row WHERE period = ${literal(period)}`
      yield* output(context, inputs, path, table, select, known)
    }
  }
  await database.run('DROP TABLE public_row')
}

/**
 * Returns the periods whose files may differ from the release before: those of questions with new rows, and
 * the old and new ones of questions whose period has changed.
 */
async function touchedPeriods(
  { database, local }: PublicTablesContext,
  { versions }: PublicInputs,
  table: CutTable,
  { tables }: ReleaseManifest,
): Promise<ReadonlySet<string>> {
  await attachTable(database, local, versions[table], firstFileAfter(versions[table], tables[table]), 'news')
  const found = await database.rows<{ period: string }>(
    `WITH moved AS (
       SELECT question_id FROM cut_now n FULL JOIN cut_before b USING (question_id)
       WHERE n.${table} IS DISTINCT FROM b.${table}
       UNION SELECT question_id FROM news
     )
     SELECT DISTINCT period FROM (
       SELECT ${table} AS period FROM cut_now SEMI JOIN moved USING (question_id)
       UNION SELECT ${table} FROM cut_before SEMI JOIN moved USING (question_id))
     WHERE period IS NOT NULL`,
  )
  return new Set(found.map(({ period }) => period))
}

/** Makes the table `public_row` of the rows of these periods, each with its `period`. */
async function createRows(database: Database, table: CutTable, periods: readonly string[]): Promise<void> {
  const list = periods.map(literal).join(', ')
  await database.run(
    `CREATE OR REPLACE TEMP TABLE wanted AS SELECT question_id, ${table} AS period FROM cut_now
     WHERE ${periods.length === 0 ? 'false' : `${table} IN (${list})`}`,
  )
  const rows = `(FROM ${table} SEMI JOIN wanted USING (question_id))`
  if (table === 'forecasts') {
    // An agent's forecasts count only if they came by the API.
    await database.run(
      `CREATE OR REPLACE TEMP TABLE countable AS SELECT * FROM ${rows} WHERE entity_type <> 'agent' OR source <> 'import'`,
    )
    // All rows of a question are in one period, so the choice of periods changes nothing here.
    await createCounted(database, 'countable', 'public_forecast', 'question_id, forecast_id')
  }
  // Do not make it temporary: another connection writes the files.
  await database.run(
    `CREATE OR REPLACE TABLE public_row AS
     SELECT * FROM (${CUT_ROWS[table](rows)}) JOIN wanted USING (question_id)`,
  )
}

async function* output(
  { database, directory }: PublicTablesContext,
  { release }: PublicInputs,
  path: string,
  table: PublicTable,
  select: string,
  known: ReadonlyMap<string, PublicTableFile>,
): AsyncIterable<PublicOutput> {
  const { columns, sortedBy, rowsPerGroup } = PUBLIC_TABLES[table]
  const location = join(directory, path.replaceAll('/', '-'))
  const names = columns.map(({ name }) => name).join(', ')
  const [counted] = await database.rows<{ rows: bigint }>(`SELECT count(*) AS rows FROM (${select})`)
  try {
    // Any number of threads cuts sorted rows into the same row groups. One thread holds few of them in
    // memory.
    await database.runByOneThread(
      `COPY (SELECT ${names} FROM (${select}) ORDER BY ${sortedBy.join(', ')}) TO ${literal(location)}
       (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 3, ROW_GROUP_SIZE ${rowsPerGroup}, WRITE_BLOOM_FILTER false,
       ${withComments(publicComments(table))})`,
    )
    const file = await localFile(location)
    const own = { path, rows: Number(counted!.rows), size_bytes: file.sizeBytes, sha256: file.sha256 }
    const before = known.get(path)
    const isSame = before?.sha256 === own.sha256
    yield isSame ? { entry: before, file: undefined } : { entry: { release, ...own }, file }
  } finally {
    await rm(location, { force: true })
  }
}

export async function localFile(location: string): Promise<LocalFile> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(location)) hash.update(piece as Uint8Array)
  return { location, sizeBytes: (await stat(location)).size, sha256: hash.digest('hex') }
}
