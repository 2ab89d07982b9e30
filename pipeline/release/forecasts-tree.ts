// The tree over the forecasts that came by the API and that no earlier release has in its tree (VERIFIABILITY §1).
import { createReadStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Database, literal, parquet } from '../duckdb.ts'
import { createCounted } from '../engine/queries.ts'
import { GrowingTree, HASH_BYTES } from '../proof/merkle.ts'
import { TILE_WIDTH } from '../proof/tiles.ts'
import { FORECASTS_TREE_PATH } from '../store/paths.ts'
import type { LocalFiles } from '../store/local-files.ts'
import type { DataFile, TableVersion } from '../tables/delta.ts'
import { localPaths } from '../tables/delta-log.ts'
import { noRows } from '../tables/views.ts'
import type { OutputFile } from './shards.ts'
import { type Before, newFiles } from './trees.ts'

/** Of a record in `forecasts.tree`: an id and the hash of its leaf. */
export const ID_BYTES = 16
export const RECORD_BYTES = ID_BYTES + HASH_BYTES
/** A record in hexadecimal digits, and a line end. */
const LINE_BYTES = 2 * RECORD_BYTES + 1

interface ForecastsContext {
  database: Database
  local: LocalFiles
  /** For a file on its way. */
  directory: string
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
  return treeOfLeaves(context)
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
  const rows = paths.length > 0 ? `FROM ${parquet(paths)} WHERE source = 'api'` : noRows('forecasts')
  await database.run(`CREATE OR REPLACE TEMP VIEW ${name} AS ${rows}`)
}

/**
 * The tree over the forecasts of the view `added` whose ids the view `earlier` does not have, of which it makes the view
 * `leaves`. Undefined where there is none.
 */
export async function treeOfLeaves({
  database,
  directory,
}: ForecastsContext): Promise<OutputFile | undefined> {
  // Few or none, so that `earlier` is read once, and not by every query of what is left.
  await database.run(
    `CREATE OR REPLACE TEMP TABLE logged AS SELECT forecast_id FROM earlier SEMI JOIN added USING (forecast_id)`,
  )
  await database.run(
    `CREATE OR REPLACE TEMP VIEW unlogged AS SELECT * FROM added ANTI JOIN logged USING (forecast_id)`,
  )
  await createCounted(database, 'unlogged', 'leaves')
  const path = join(directory, 'forecasts-tree.csv')
  try {
    await database.run(`COPY (${RECORDS}) TO ${literal(path)} (FORMAT csv, HEADER false)`)
    return await treeOf(path)
  } finally {
    await rm(path, { force: true })
  }
}

/** A probability as canonical JSON has it: DuckDB would write 1.0 and 1e-06. */
const PROBABILITY = `CASE ppm WHEN 0 THEN '0' WHEN 1000000 THEN '1'
  ELSE '0.' || rtrim(lpad(ppm::VARCHAR, 6, '0'), '0') END`
/** In UTC. DuckDB writes a time without a zone in a third of the time that one with a zone takes. */
const FORECAST_AT = `strftime(make_timestamp(epoch_us(forecast_at)), '%Y-%m-%dT%H:%M:%S.%gZ')`
/** The body of the answer to the submission, byte for byte. */
const LEAF = `'{"agent_id":"', entity_id, '","forecast_at":"', ${FORECAST_AT}, '","forecast_id":"', forecast_id,
  '","probability":', ${PROBABILITY}, ',"question_id":"', question_id, '"}'`

/** Grain: one row per forecast, its id and the hash of its leaf in hexadecimal digits, in order of id. */
const RECORDS = `SELECT replace(forecast_id, '-', '') || sha256(concat(chr(0), ${LEAF})) AS record
  FROM (SELECT *, round_even(probability * 1e6, 0)::INTEGER AS ppm FROM leaves) ORDER BY record`

/** The tree of the records in a file, a line each; undefined where there is none. */
async function treeOf(path: string): Promise<OutputFile | undefined> {
  const rows = (await stat(path)).size / LINE_BYTES
  if (rows === 0) return undefined
  const bytes = Buffer.allocUnsafe(fileBytes(rows))
  let end = 0
  let rest = ''
  for await (const chunk of createReadStream(path, 'latin1')) {
    const text = rest + (chunk as string)
    const whole = text.length - (text.length % LINE_BYTES)
    end += bytes.write(text.slice(0, whole).replaceAll('\n', ''), end, 'hex')
    rest = text.slice(whole)
  }
  const tree = new GrowingTree()
  for (let at = 0; at < rows * RECORD_BYTES; at += RECORD_BYTES) {
    tree.add(bytes.subarray(at + ID_BYTES, at + RECORD_BYTES))
  }
  for (const hash of tree.tileLevels.flat()) {
    bytes.set(hash, end)
    end += HASH_BYTES
  }
  const { root, size } = tree
  return { path: FORECASTS_TREE_PATH, rows, bytes, subtree: { root, size } }
}

/** How long the file of a tree of this size is. */
function fileBytes(size: number): number {
  let bytes = size * RECORD_BYTES
  for (let full = Math.floor(size / TILE_WIDTH); full > 0; full = Math.floor(full / TILE_WIDTH)) {
    bytes += full * HASH_BYTES
  }
  return bytes
}
