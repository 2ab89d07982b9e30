// Makes tables from the public files of a release, from which the release can be derived again. Stand-ins
// take the place of rows that are not public, and lead to what the release says of these.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { count } from '../../schemas/metric.ts'
import { PAIR_METRICS } from '../../schemas/metrics.ts'
import { ENTITY_TYPES, type EntityType, SCORED_TABLES, type ScoredTable } from '../../schemas/tables.ts'
import { instant, publishedUuid } from '../../schemas/values.ts'
import { type Database, literal, parquet } from '../duckdb.ts'
import { decoded } from '../proof/canonical.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { isScoresPath } from '../release/row-groups.ts'
import type { FileStore } from '../store/file.ts'
import { manifestPath, releasePrefix, shardStart, tablePath } from '../store/paths.ts'
import { noRows } from '../tables/columns.ts'
import type { TableVersion } from '../tables/delta.ts'
import type { Findings } from './findings.ts'

const DATA_FILE = 'stand-in.parquet'
/** A question that no table has. */
const NO_QUESTION = '00000000-0000-0000-0000-000000000000'

/** The members of a profile that follow from forecasts which are not public. */
export interface SaidOfEntity {
  entity_type: EntityType
  entity_id: string
  last_forecast_at: string | null
  open_forecasts: number
  next_close_at: string | null
  overdue_forecasts: number
}

/** Gathers what the shards of a release say of each entity. */
export class SaidOfEntities {
  readonly profiles: SaidOfEntity[] = []
  readonly #findings: Findings
  readonly #manifest: ReleaseManifest

  constructor(findings: Findings, manifest: ReleaseManifest) {
    this.#findings = findings
    this.#manifest = manifest
  }

  readonly take = (path: string, bytes: Uint8Array): void => {
    const entity_type = ENTITY_TYPES.find((type) => shardStart(path, type) !== undefined)
    if (!entity_type) return
    const inShard = activityIn(bytes)
    if (!inShard)
      this.#findings.fault(releasePrefix(this.#manifest.release) + path, 'has an entity without a profile')
    for (const [entity_id, profile] of inShard ?? [])
      this.profiles.push({ entity_type, entity_id, ...profile })
  }

  /** Adds a fault for each person who is erased and has a record. */
  checkErased(): void {
    const { release, erased_people = [] } = this.#manifest
    const erased = new Set(erased_people.map(({ user_id }) => user_id))
    for (const { entity_id } of this.profiles.filter((one) => erased.has(one.entity_id))) {
      const what = `says that ${entity_id} is erased, and the release has it`
      this.#findings.fault(manifestPath(release), what)
    }
  }
}

const time = instant.nullable()
const activity = z.object({
  entities: z.record(
    publishedUuid,
    z.object({
      profile: z.object({
        payload: z.object({
          last_forecast_at: time,
          open_forecasts: count,
          next_close_at: time,
          overdue_forecasts: count,
        }),
      }),
    }),
  ),
})

/** Returns undefined for bytes that are no shard. */
function activityIn(
  bytes: Uint8Array,
): [string, Omit<SaidOfEntity, 'entity_type' | 'entity_id'>][] | undefined {
  try {
    const { entities } = activity.parse(JSON.parse(decoded(bytes)))
    return Object.entries(entities).map(([id, { profile }]) => [id, profile.payload])
  } catch {
    return undefined
  }
}

/** Returns the files of a release as they lie in a folder of its public objects. */
export function publicRelease(
  { release, as_of, files, public: tables }: ReleaseManifest,
  store: FileStore,
  profiles: Iterable<SaidOfEntity>,
): PublicRelease {
  const placeOf = (path: string, by: number) => store.localPath(releasePrefix(by) + path)
  const filesOf = (table: ScoredTable) =>
    tables.filter(({ path }) => publicTableOf(path) === table).map((file) => placeOf(file.path, file.release))
  const byTable = SCORED_TABLES.map((table) => [table, filesOf(table)])
  return {
    asOf: new Date(as_of),
    tables: Object.fromEntries(byTable) as Record<ScoredTable, string[]>,
    scores: files.filter(({ path }) => isScoresPath(path)).map(({ path }) => placeOf(path, release)),
    profiles,
  }
}

/** The table whose rows a public file holds. */
function publicTableOf(path: string): string | undefined {
  return /^public\/([a-z]+)[/.]/.exec(path)?.[1]
}

/** The release and its files on this machine. */
export interface PublicRelease {
  asOf: Date
  /** The public files of each table. */
  tables: Record<ScoredTable, readonly string[]>
  scores: readonly string[]
  profiles: Iterable<SaidOfEntity>
}

export interface StandIns {
  versions: Record<ScoredTable, TableVersion>
  /** The file of the pairs on questions that are not settled; undefined if there are none. */
  furtherPairs: string | undefined
}

/**
 * Writes the tables.
 *
 * @param locate returns the place of an object of the store that the tables are read from.
 * @param directory a folder for other files, which must stay until the release is derived.
 */
export async function makeStandIns(
  database: Database,
  published: PublicRelease,
  locate: (path: string) => string,
  directory: string,
): Promise<StandIns> {
  const { asOf, tables } = published
  for (const table of SCORED_TABLES) {
    const rows = tables[table].length === 0 ? `(${noRows(table)})` : parquet(tables[table])
    await database.run(`CREATE VIEW public_${table} AS FROM ${rows}`)
  }
  const profilesFile = join(directory, 'said.ndjson')
  await pipeline(linesOf(published.profiles), (lines: AsyncIterable<string>) =>
    writeFile(profilesFile, lines),
  )
  await database.run(
    `CREATE TABLE said AS FROM read_json(${literal(profilesFile)}, format = 'newline_delimited', columns = {entity_type: 'VARCHAR',
       entity_id: 'VARCHAR', last_forecast_at: 'TIMESTAMPTZ', open_forecasts: 'BIGINT', next_close_at: 'TIMESTAMPTZ',
       overdue_forecasts: 'BIGINT'})`,
  )
  const versions = {} as Record<ScoredTable, TableVersion>
  for (const table of SCORED_TABLES) {
    const location = locate(tablePath(table, DATA_FILE))
    await mkdir(dirname(location), { recursive: true })
    const select = rowsOf(table, literal(asOf.toISOString()))
    await database.run(
      `COPY ((${noRows(table)}) UNION ALL BY NAME SELECT * FROM (${select})) TO ${literal(location)} (FORMAT parquet)`,
    )
    versions[table] = await versionOf(table, location)
  }
  return { versions, furtherPairs: await unsettledPairs(database, published, directory) }
}

async function* linesOf(profiles: Iterable<SaidOfEntity>): AsyncIterable<string> {
  for (const each of profiles) yield `${JSON.stringify(each)}\n`
}

/** The rows of a table, as SQL. */
function rowsOf(table: ScoredTable, asOf: string): string {
  switch (table) {
    case 'questions':
    case 'events':
    case 'prices':
      return `FROM public_${table}`
    case 'forecasters':
      return 'SELECT *, to_timestamp(0) AS recorded_at FROM public_forecasters'
    case 'resolutions':
      return `SELECT *, resolved_at AS recorded_at FROM public_resolutions`
    case 'agents':
      return AGENTS
    case 'forecasts':
      return forecastsAt(asOf)
  }
}

/**
 * The first agent of an owner measures others, also where it is none of the release: then an agent stands
 * in for it, without a forecast, that was there before all others.
 */
const AGENTS = `SELECT * EXCLUDE (name, model_type, first_of_owner), coalesce(name, '') AS name,
    coalesce(model_type, '') AS model_type, registered_at AS recorded_at FROM public_agents
  UNION ALL BY NAME SELECT 'first of ' || owner_id AS agent_id, '' AS name, '' AS model_type, owner_id,
    to_timestamp(0) AS registered_at, to_timestamp(0) AS recorded_at
  FROM public_agents GROUP BY owner_id HAVING owner_id IS NOT NULL AND max(first_of_owner) IS NULL`

/**
 * The public forecasts are on settled questions. Three kinds stand in for others: one for the time of the
 * last forecast of each entity, and as many on open and on overdue questions as the release says it has.
 * The first close that it says is among the open ones.
 */
function forecastsAt(asOf: string): string {
  const now = `${asOf}::TIMESTAMPTZ`
  const standIn = (question: string, at: string, nth: string) =>
    `SELECT concat_ws(' ', entity_type, entity_id, ${nth}) AS forecast_id, entity_type, entity_id, ${question} AS question_id,
       0.5 AS probability, ${at} AS forecast_at, to_timestamp(0) AS recorded_at, 'import' AS source`
  return `WITH undecided AS (
      SELECT question_id, closes_at, closes_at > ${now} AS is_open,
        row_number() OVER (PARTITION BY closes_at > ${now} ORDER BY closes_at, question_id) AS place
      FROM public_questions ANTI JOIN public_resolutions USING (question_id) WHERE opened_at <= ${now}
    ), first_open AS (SELECT closes_at, min(place) AS first FROM undecided WHERE is_open GROUP BY closes_at)
    FROM public_forecasts
    UNION ALL BY NAME ${standIn(literal(NO_QUESTION), 'last_forecast_at', "'last'")}
      FROM said WHERE last_forecast_at IS NOT NULL
    UNION ALL BY NAME ${standIn('question_id', 'to_timestamp(0)', "'open', place")}
      FROM said JOIN first_open ON next_close_at = first_open.closes_at
      JOIN undecided ON is_open AND place >= first AND place < first + open_forecasts
    UNION ALL BY NAME ${standIn('question_id', 'to_timestamp(0)', "'overdue', place")}
      FROM said JOIN undecided ON NOT is_open AND place <= overdue_forecasts`
}

async function versionOf(table: ScoredTable, location: string): Promise<TableVersion> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(location), hash)
  const { size: sizeBytes } = await stat(location)
  const described = { path: DATA_FILE, recordedDate: '1970-01-01', version: 0, modifiedMs: 0 }
  return {
    table,
    version: 0,
    files: [{ ...described, sizeBytes, sha256: hash.digest('hex'), stats: '{"numRecords":0}' }],
  }
}

/** Selects published scores that count for nothing yet, as pairs: what is not published of them stays 0. */
const METRICS = Object.entries(PAIR_METRICS).map(([name, { per, published }]) => {
  if (name === 'witnessed' || name === 'priced') return `${name}::INTEGER AS ${name}`
  if (name === 'closing_probability') return `coalesce(round_even(${name} * ${per}, 0), -1) AS ${name}`
  return `${published ? `round_even(${name} * ${per}, 0)` : '0'} AS ${name}`
})

/**
 * Takes the scores on questions that are not settled from the release, whose forecasts are not public.
 * Returns the file; undefined if there are none.
 */
async function unsettledPairs(
  database: Database,
  { scores }: PublicRelease,
  directory: string,
): Promise<string | undefined> {
  if (scores.length === 0) return undefined
  const unsettled = `FROM ${parquet(scores)} WHERE NOT settled`
  const [any] = await database.rows(`SELECT 1 AS one ${unsettled} LIMIT 1`)
  if (!any) return undefined
  const file = join(directory, 'pairs.parquet')
  await database.run(
    `COPY (SELECT question_id, entity_type, entity_id, ${METRICS.join(', ')} ${unsettled}) TO ${literal(file)} (FORMAT parquet)`,
  )
  return file
}
