// The tree over the forecasts that came by the API and that no earlier release has in its tree (VERIFIABILITY §1).
import { type Database, parquet } from '../duckdb.ts'
import { GrowingTree, HASH_BYTES } from '../proof/merkle.ts'
import { FORECASTS_TREE_PATH } from '../store/paths.ts'
import type { LocalFiles } from '../store/local-files.ts'
import type { DataFile, TableVersion } from '../tables/delta.ts'
import { localPaths } from '../tables/delta-log.ts'
import type { OutputFile } from './shards.ts'
import { type Before, newFiles } from './trees.ts'

/** Of a record in `forecasts.tree`: an id and the hash of its leaf. */
export const ID_BYTES = 16
export const RECORD_BYTES = ID_BYTES + HASH_BYTES
/** Records that DuckDB gives as one text. */
const RECORDS_AT_ONCE = 4096

interface ForecastsContext {
  database: Database
  local: LocalFiles
}

/**
 * `size` records of 48 bytes, an id and the hash of its leaf, in ascending order of id; then the hashes of tile level 1, of
 * level 2, … Undefined where no forecast is new.
 */
export async function forecastsTree(
  context: ForecastsContext,
  version: TableVersion,
  before: Before,
): Promise<OutputFile | undefined> {
  const added = newFiles(version, before, 'trees')
  const day = await attachAdded(context, added)
  if (day === undefined) return undefined
  // A forecast is recorded after it was made, so that no earlier file has an id of these.
  const isAdded = new Set(added)
  const earlier = version.files.filter((file) => !isAdded.has(file) && file.recordedDate >= day)
  await attach(context, 'earlier', earlier)
  return treeOfLeaves(context.database)
}

/**
 * Makes the view `added` of the forecasts that came by the API in these data files. Returns the day of the first of them, by its
 * own time; undefined where there is none.
 */
export async function attachAdded(
  context: ForecastsContext,
  added: readonly DataFile[],
): Promise<string | undefined> {
  if (added.length === 0) return undefined
  await attach(context, 'added', added)
  const [first] = await context.database.rows<{ day: string | null }>(
    `SELECT strftime(min(forecast_at) AT TIME ZONE 'UTC', '%Y-%m-%d') AS day FROM added`,
  )
  return first?.day ?? undefined
}

async function attach(
  { database, local }: ForecastsContext,
  name: 'added' | 'earlier',
  files: readonly DataFile[],
): Promise<void> {
  const paths = await localPaths(local, { table: 'forecasts', files })
  const rows = paths.length > 0 ? `${parquet(paths)} WHERE source = 'api'` : 'added WHERE false'
  await database.run(`CREATE OR REPLACE TEMP VIEW ${name} AS SELECT * FROM ${rows}`)
}

/**
 * The tree over the forecasts of the view `added` whose ids the view `earlier` does not have, of which it makes the view
 * `leaves`. Undefined where there is none.
 */
export async function treeOfLeaves(database: Database): Promise<OutputFile | undefined> {
  await database.run(`CREATE OR REPLACE TEMP VIEW leaves AS ${LEAVES}`)
  const tree = new GrowingTree()
  const chunks: Uint8Array[] = []
  for await (const rows of database.rowBlocks<{ records: string }>(RECORDS)) {
    for (const { records } of rows) {
      const bytes = Buffer.from(records, 'hex')
      for (let at = 0; at < bytes.byteLength; at += RECORD_BYTES) {
        tree.add(bytes.subarray(at + ID_BYTES, at + RECORD_BYTES))
      }
      chunks.push(bytes)
    }
  }
  if (tree.size === 0) return undefined
  const { root, size } = tree
  const bytes = Buffer.concat([...chunks, ...tree.tileLevels.flat()])
  return { path: FORECASTS_TREE_PATH, rows: size, bytes, subtree: { root, size } }
}

/** A probability as canonical JSON has it: DuckDB would write 1.0 and 1e-06. */
const PROBABILITY = `CASE ppm WHEN 0 THEN '0' WHEN 1000000 THEN '1'
  ELSE '0.' || rtrim(lpad(ppm::VARCHAR, 6, '0'), '0') END`
/** The body of the answer to the submission, byte for byte. */
const LEAF = `'{"agent_id":"' || entity_id || '","forecast_at":"'
  || strftime(forecast_at AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%gZ') || '","forecast_id":"' || forecast_id
  || '","probability":' || ${PROBABILITY} || ',"question_id":"' || question_id || '"}'`

/** Of the rows with one id the one that was recorded first counts. */
const LEAVES = `
  SELECT * FROM added ANTI JOIN earlier USING (forecast_id)
  QUALIFY row_number() OVER (PARTITION BY forecast_id
    ORDER BY recorded_at, forecast_at, entity_id, question_id, probability) = 1`

/** The ids with the hashes of their leaves, in hexadecimal digits. Grain: one row per 4,096 forecasts, in order of id. */
const RECORDS = `
  WITH counted AS (
    SELECT *, round_even(probability * 1e6, 0)::INTEGER AS ppm FROM leaves
  ), numbered AS (
    SELECT replace(forecast_id, '-', '') || sha256(chr(0) || ${LEAF}) AS record,
      row_number() OVER (ORDER BY forecast_id) - 1 AS place
    FROM counted
  )
  SELECT string_agg(record, '' ORDER BY place) AS records FROM numbered
  GROUP BY place // ${RECORDS_AT_ONCE} ORDER BY place // ${RECORDS_AT_ONCE}`
