// The tree over the forecasts that came by the API and that no earlier release has in its tree (VERIFIABILITY §1).
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Database, literal, parquet } from '../duckdb.ts'
import { createCounted } from '../engine/queries.ts'
import { GrowingTree, HASH_BYTES } from '../proof/merkle.ts'
import type { TreeHead } from '../proof/merkle-proof.ts'
import type { LocalFile } from '../store/body.ts'
import { withFile } from '../store/disk.ts'
import { FORECASTS_TREE_PATH } from '../store/paths.ts'
import type { LocalFiles } from '../store/local-files.ts'
import type { DataFile, TableVersion } from '../tables/delta.ts'
import { localPaths } from '../tables/delta-log.ts'
import { noRows } from '../tables/views.ts'
import type { LargeFile } from './shards.ts'
import { type Before, newFiles } from './trees.ts'

/** Of a record in `forecasts.tree`: an id and the hash of its leaf. */
export const ID_BYTES = 16
export const RECORD_BYTES = ID_BYTES + HASH_BYTES
/** A record in hexadecimal digits, and a line end. */
const LINE_BYTES = 2 * RECORD_BYTES + 1

interface ForecastsContext {
  database: Database
  local: LocalFiles
  /** For files on their way. */
  directory: string
}

class ForecastsTree implements LargeFile {
  readonly path = FORECASTS_TREE_PATH
  readonly rows: number
  readonly subtree: TreeHead
  readonly file: LocalFile

  constructor({ root, size }: TreeHead, file: LocalFile) {
    this.rows = size
    this.subtree = { root, size }
    this.file = file
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.file.location, { force: true })
  }
}

/**
 * `size` records of 48 bytes, an id and the hash of its leaf, in ascending order of id; then the hashes of tile level 1, of
 * level 2, … Undefined where no forecast is new.
 */
export async function forecastsTree(
  context: ForecastsContext,
  version: TableVersion,
  before: Before,
): Promise<ForecastsTree | undefined> {
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
}: ForecastsContext): Promise<ForecastsTree | undefined> {
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
    return await treeOf(path, join(directory, FORECASTS_TREE_PATH))
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

/** The tree of the records in a file, a line each, which it writes at a location; undefined where there is none. */
async function treeOf(lines: string, location: string): Promise<ForecastsTree | undefined> {
  if ((await stat(lines)).size === 0) return undefined
  const tree = new GrowingTree()
  const hash = createHash('sha256')
  let sizeBytes = 0
  try {
    await withFile(location, 'w', async (file) => {
      const append = async (bytes: Uint8Array) => {
        hash.update(bytes)
        sizeBytes += bytes.byteLength
        await file.writeFile(bytes)
      }
      for await (const records of recordsIn(lines)) {
        for (let at = 0; at < records.byteLength; at += RECORD_BYTES) {
          tree.add(records.subarray(at + ID_BYTES, at + RECORD_BYTES))
        }
        await append(records)
      }
      for (const hashes of tree.tileLevels) await append(Buffer.concat(hashes))
    })
  } catch (error) {
    await rm(location, { force: true })
    throw error
  }
  return new ForecastsTree(tree, { location, sizeBytes, sha256: hash.digest('hex') })
}

/** Whole records, many at a time. */
async function* recordsIn(lines: string): AsyncIterable<Uint8Array> {
  let rest = ''
  for await (const chunk of createReadStream(lines, 'latin1')) {
    const text = rest + (chunk as string)
    const whole = text.length - (text.length % LINE_BYTES)
    yield Buffer.from(text.slice(0, whole).replaceAll('\n', ''), 'hex')
    rest = text.slice(whole)
  }
}
