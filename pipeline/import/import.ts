// Imports an operator's file, all or nothing: checks every row, writes the new rows to the inbox as one object, and
// moves them into the table.
import { ServiceError } from '../../schemas/errors.ts'
import { SCORED_TABLES } from '../../schemas/tables.ts'
import { literal } from '../duckdb.ts'
import { CHECK_FUNCTIONS, IMPORT_SPECS, type ImportKind, faultsQuery } from './checks.ts'
import { attachAll, isReplaced } from '../tables/views.ts'
import { lastRecordedAt } from '../tables/recorded-at.ts'
import { assertNotBehind, currentVersions } from '../tables/delta-log.ts'
import { type Rejected, SHOWN, readRows } from './read-file.ts'
import { type ImportContext, countOf, takeIn, takeInWaiting } from './take-in.ts'

export interface Imported {
  kind: ImportKind
  /** Rows in the file. */
  rows: number
  /** Rows that were new, and rows that repeat what is known. */
  added: number
  unchanged: number
  /** Forecasters that no row had named before. */
  forecastersCreated: number
  /** Forecasts in the file that count for nothing, since they were made at the effective close of their question or later. */
  tooLate: number
  /**
   * How far the clock lags behind the last row of the table, in milliseconds; 0 if it does not, or if rows of the table do not
   * replace each other.
   */
  clockBehindMs: number
}

/**
 * @throws ServiceError `invalid` if a row is bad: nothing is written, and the error holds the number of bad rows and
 *   the first twenty. `unavailable` if the store does not answer: importing the same file again is safe.
 */
export async function importFile(context: ImportContext, kind: ImportKind, path: string): Promise<Imported> {
  const { database, local } = context
  const spec = IMPORT_SPECS[kind]
  await database.run(`SET VARIABLE now = ${literal(context.now().toISOString())}::TIMESTAMPTZ`)
  const incoming = await readRows(database, path, spec)
  if (incoming.rejected.count > 0) throw refusal(path, incoming.rejected)

  await takeInWaiting(context, SCORED_TABLES)
  for (const [name, check] of Object.entries(CHECK_FUNCTIONS)) database.define(name, check)
  const versions = await currentVersions(context.store)
  assertNotBehind(versions, context.released ?? {})
  await local.reading(async () => {
    await attachAll(database, local, versions)
    await database.run(`CREATE OR REPLACE TEMP TABLE fault AS ${faultsQuery(spec)}`)
  })
  const bad = await database.rows<{ record: bigint; reason: string }>(
    `FROM fault ORDER BY record LIMIT ${SHOWN}`,
  )
  if (bad.length > 0) {
    const places = await incoming.placesOf(bad.map(({ record }) => Number(record)))
    const count = await countOf(context, 'fault')
    const faults = bad.map(({ reason }, index) => ({ pointer: places[index]!, detail: reason }))
    throw refusal(path, { count, faults })
  }

  await database.run(
    `CREATE OR REPLACE TEMP TABLE fresh AS SELECT DISTINCT * FROM (SELECT ${spec.select} FROM incoming) fresh
     WHERE NOT EXISTS (${spec.known})`,
  )
  const last = isReplaced(kind) ? lastRecordedAt(versions[kind]) : undefined
  const clockBehindMs = Math.max(0, (last?.getTime() ?? 0) - context.now().getTime())
  let forecastersCreated = 0
  let tooLate = 0
  if (kind === 'forecasts') {
    tooLate = await countOf(context, `(${TOO_LATE})`)
    await database.run(
      `CREATE OR REPLACE TEMP TABLE met AS
       SELECT DISTINCT entity_id AS user_id, NULL::VARCHAR AS display_name, recorded_at FROM fresh
       WHERE entity_type = 'forecaster' AND entity_id NOT IN (SELECT user_id FROM forecasters)`,
    )
    forecastersCreated = await takeIn(context, 'forecasters', 'met')
  }
  const rows = await countOf(context, 'incoming')
  const added = await takeIn(context, kind, 'fresh')
  return { kind, rows, added, unchanged: rows - added, forecastersCreated, tooLate, clockBehindMs }
}

/**
 * Grain: one row per forecast in the file that no score reads, as the tables stand: an outcome that becomes known or is
 * corrected later can change that.
 */
const TOO_LATE = `
  SELECT 1 FROM (SELECT ${IMPORT_SPECS.forecasts.select} FROM incoming)
  JOIN (SELECT question_id, closes_at FROM current_questions) USING (question_id)
  LEFT JOIN (SELECT question_id, resolved_at FROM current_resolutions) USING (question_id)
  WHERE forecast_at >= least(closes_at, resolved_at)`

function refusal(path: string, { faults, count }: Rejected): ServiceError {
  const rest = count - faults.length
  return new ServiceError(
    'invalid',
    `${path}: ${count} bad ${count === 1 ? 'row' : 'rows'}${rest > 0 ? ` (the first ${faults.length} are named)` : ''}; nothing was imported`,
    { faults },
  )
}
