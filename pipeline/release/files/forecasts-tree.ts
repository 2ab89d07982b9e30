// The tree over the new forecasts of a release: those that came by the API and are in no earlier tree
// (docs/data.md, Trees).
import type { PipelineComponents } from '../../components.ts'
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { literal, parquet } from '../../duckdb.ts'
import { createCounted } from '../../engine/queries.ts'
import { GrowingTree, HASH_BYTES } from '../../proof/merkle.ts'
import type { TreeHead } from '../../proof/merkle-proof.ts'
import type { LocalFile } from '../../store/body.ts'
import { withFile } from '../../store/disk.ts'
import type { TableVersion } from '../../tables/delta.ts'
import { localPaths } from '../../tables/delta-log.ts'
import { counts } from '../../tables/left-out.ts'
import { noRows } from '../../tables/columns.ts'
import { FilesInTurn } from '../files-in-turn.ts'
import type { LargeFile, Subtree } from '../output.ts'
import { type Before, newFiles } from '../trees.ts'
import type { TableKind } from './kind.ts'

/** Its name inside a release, beside the manifest. */
export const FORECASTS_TREE_PATH = 'forecasts.tree'

/** A record in `forecasts.tree` is an id and the hash of its leaf. */
export const ID_BYTES = 16
export const RECORD_BYTES = ID_BYTES + HASH_BYTES
/** A record in hexadecimal digits, and a line end. */
const LINE_BYTES = 2 * RECORD_BYTES + 1
const LINES_AT_ONCE = 1024
/** The lines of a range are a tenth of a gigabyte of text. */
const LEAVES_PER_RANGE = 1_000_000

type ForecastsContext = Pick<PipelineComponents, 'database' | 'local' | 'directory'>

/** The file is on this machine until its disposal. */
class ForecastsTree implements LargeFile, AsyncDisposable {
  readonly path = FORECASTS_TREE_PATH
  readonly rows: number
  readonly subtree: Subtree
  readonly file: LocalFile

  constructor({ root, size }: TreeHead, file: LocalFile) {
    this.rows = size
    this.subtree = { tree: 'forecasts', root, size }
    this.file = file
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.file.location, { force: true })
  }
}

/**
 * Makes a file of `size` records of 48 bytes, an id and the hash of its leaf, in ascending order of id,
 * followed by the hashes of tile level 1, of level 2, … Returns undefined if no forecast is new.
 */
async function forecastsTree(
  context: ForecastsContext,
  version: TableVersion,
  before: Before,
): Promise<ForecastsTree | undefined> {
  const added = newFiles(version, before)
  const day = await attachAdded(context, { ...version, files: added })
  if (day === undefined) return undefined
  // Skip files of earlier days: a forecast is recorded after it is made, so they hold none of these ids.
  const isAdded = new Set(added)
  const earlier = version.files.filter((file) => !isAdded.has(file) && file.recordedDate >= day)
  await attach(context, 'earlier', { ...version, files: earlier })
  return treeOfLeaves(context)
}

/**
 * Creates the view `added` of the counted forecasts that came by the API. Returns the day of the first of
 * them; undefined if there is none.
 */
export async function attachAdded(
  context: ForecastsContext,
  added: TableVersion,
): Promise<string | undefined> {
  if (added.files.length === 0) return undefined
  await attach(context, 'added', added)
  const [first] = await context.database.rows<{ day: string | null }>(
    `SELECT strftime(min(forecast_at) AT TIME ZONE 'UTC', '%Y-%m-%d') AS day FROM added`,
  )
  return first?.day ?? undefined
}

async function attach(
  { database, local }: ForecastsContext,
  name: 'added' | 'earlier',
  version: TableVersion,
): Promise<void> {
  const paths = await localPaths(local, version)
  const rows =
    paths.length > 0
      ? `FROM ${parquet(paths)} WHERE source = 'api' AND ${counts(version)}`
      : noRows('forecasts')
  await database.run(`CREATE OR REPLACE TEMP VIEW ${name} AS ${rows}`)
}

/**
 * Creates the view `leaves` of the forecasts in `added` whose ids are not in `earlier`, and makes the tree
 * over them. Returns undefined if there is none.
 */
export async function treeOfLeaves(
  { database, directory }: Omit<ForecastsContext, 'local'>,
  leavesPerRange = LEAVES_PER_RANGE,
): Promise<ForecastsTree | undefined> {
  // Store these ids, which are few or none, so that DuckDB reads `earlier` once and not in every later query.
  await database.run(
    `CREATE OR REPLACE TEMP TABLE logged AS SELECT forecast_id FROM earlier SEMI JOIN added USING (forecast_id)`,
  )
  await database.run(
    `CREATE OR REPLACE TEMP VIEW unlogged AS SELECT * FROM added ANTI JOIN logged USING (forecast_id)`,
  )
  await createCounted(database, 'unlogged', 'leaves')
  const ranges = await database.rows<{ first: string }>(rangesOf(leavesPerRange))
  // Hash the records of one range while DuckDB makes those of the next.
  await using inTurn = new FilesInTurn(directory)
  for (const [index, { first }] of ranges.entries()) {
    inTurn.add(String(index), (location) => {
      const records = recordsBetween(first, ranges[index + 1]?.first)
      return database.run(`COPY (${records}) TO ${literal(location)} (FORMAT csv, HEADER false)`)
    })
  }
  return ranges.length > 0
    ? await treeOf(inTurn, ranges.length, join(directory, FORECASTS_TREE_PATH))
    : undefined
}

/** A probability as in canonical JSON, null for a withdrawal. DuckDB would write 1.0 and 1e-06. */
const PROBABILITY = `CASE ppm WHEN 0 THEN '0' WHEN 1000000 THEN '1'
  ELSE coalesce('0.' || rtrim(lpad(ppm::VARCHAR, 6, '0'), '0'), 'null') END`
/** The time in UTC. DuckDB formats a time without a zone three times as fast as one with a zone. */
const FORECAST_AT = `strftime(make_timestamp(epoch_us(forecast_at)), '%Y-%m-%dT%H:%M:%S.%gZ')`
/** The acknowledgement of the forecast, byte for byte. */
const LEAF = `if(entity_type = 'agent', concat('{"agent_id":"', entity_id, '","forecast_at":"'), '{"forecast_at":"'),
  ${FORECAST_AT}, '","forecast_id":"', forecast_id, '","probability":', ${PROBABILITY}, ',"question_id":"', question_id,
  if(entity_type = 'agent', '"}', concat('","user_id":"', entity_id, '"}'))`

/**
 * Returns SQL for ranges of ids with this many leaves each, few enough to sort in memory. An id begins with
 * its time: ids with the same first 8 digits are of one minute, and stay together.
 *
 * Grain: one row per range, with the beginning of its ids, in order.
 */
function rangesOf(leavesPerRange: number): string {
  return `SELECT min(first) AS first
    FROM (SELECT first, (sum(leaves) OVER (ORDER BY first) - leaves) // ${leavesPerRange} AS range
      FROM (SELECT forecast_id[:8] AS first, count(*) AS leaves FROM leaves GROUP BY ALL))
    GROUP BY range ORDER BY range`
}

/**
 * Grain: one row per forecast of a range, its id and the hash of its leaf in hexadecimal digits, in order of
 * id.
 */
function recordsBetween(first: string, next: string | undefined): string {
  const isBefore = next === undefined ? '' : `AND forecast_id < ${literal(next)}`
  return `SELECT replace(forecast_id, '-', '') || sha256(concat(chr(0), ${LEAF})) AS record
    FROM (SELECT *, round_even(probability * 1e6, 0)::INTEGER AS ppm FROM leaves
      WHERE forecast_id >= ${literal(first)} ${isBefore})
    ORDER BY record`
}

/**
 * Reads the ranges in order, one record a line, and writes the records and the hashes of the tree at a
 * location.
 */
async function treeOf(inTurn: FilesInTurn, ranges: number, location: string): Promise<ForecastsTree> {
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
      for (let range = 0; range < ranges; range++) {
        for (const records of recordsIn(await inTurn.read(String(range)))) {
          for (let at = 0; at < records.byteLength; at += RECORD_BYTES) {
            tree.add(records.subarray(at + ID_BYTES, at + RECORD_BYTES))
          }
          await append(records)
        }
      }
      for (const hashes of tree.tileLevels) await append(Buffer.concat(hashes))
    })
  } catch (error) {
    await rm(location, { force: true })
    throw error
  }
  return new ForecastsTree(tree, { location, sizeBytes, sha256: hash.digest('hex') })
}

/** Yields the bytes of many records at a time. */
function* recordsIn(lines: Uint8Array): Iterable<Uint8Array> {
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength)
  for (let at = 0; at < text.byteLength; at += LINES_AT_ONCE * LINE_BYTES) {
    const digits = text.toString('latin1', at, at + LINES_AT_ONCE * LINE_BYTES).replaceAll('\n', '')
    yield Buffer.from(digits, 'hex')
  }
}

export const FORECASTS_TREE: TableKind = {
  name: 'tree of forecasts',
  places: [FORECASTS_TREE_PATH],
  async *makeFromTables({ context, versions, previous }) {
    await using tree = await forecastsTree(context, versions.forecasts, previous)
    if (tree) yield tree
  },
  arrange: (staged) => staged.takePlanned(FORECASTS_TREE_PATH),
}
