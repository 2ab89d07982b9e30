// Imports an operator's file, all or nothing: checks every row against a version of the table, and makes the
// new rows the next version, or checks again if another command came first.
import { ServiceError } from '../../schemas/errors.ts'
import { SCORED_TABLES } from '../../schemas/tables.ts'
import { literal } from '../duckdb.ts'
import { CHECK_FUNCTIONS, faultsQuery, reasonsQuery, rowChecks } from './checks.ts'
import { IMPORT_COLUMNS, type ImportColumn, type ImportKind } from './columns.ts'
import { withoutReason } from './corrections.ts'
import { type Source, nameOf } from './input.ts'
import { type ImportOptions, parseOptions } from './options.ts'
import { RESOLVED, attachAll, isReplaced } from '../tables/views.ts'
import { lastRecordedAt } from '../tables/recorded-at.ts'
import { assertNotBehind, currentVersions } from '../tables/delta-log.ts'
import { type IncomingRows, NONE_REJECTED, type Rejected, SHOWN, readRows } from './read-file.ts'
import { type ImportContext, countOf, takeIn, takeInWaiting } from './take-in.ts'
import { computedValues, defineParsed, defineZone, tableRows, valueOf } from './values.ts'
import { attachWaiting, listWaiting } from './waiting.ts'

export interface Imported {
  kind: ImportKind
  /** Rows in the file. */
  rows: number
  /** Rows that were new, and rows that repeat known ones. */
  added: number
  unchanged: number
  /** Forecasters that no row had named before. */
  forecastersCreated: number
  /**
   * Forecasts in the file that count for nothing, since they were made at the effective close of their
   * question or later.
   */
  tooLate: number
  /**
   * The milliseconds by which the clock lags behind the last row of the table; 0 if it does not, or if rows
   * of the table do not replace each other.
   */
  clockBehindMs: number
}

/** The effect that an import would have. */
export interface Trial {
  kind: ImportKind
  rows: number
  /**
   * Good rows that are new, and good rows that repeat known ones. Both are 0 if a line cannot be read,
   * because rows are then not checked.
   */
  added: number
  unchanged: number
  bad: Rejected
}

/** Reports the step that an import begins. */
type Progress = (step: string) => void

export interface ImportWork extends ImportContext {
  progress?: Progress
  /** Whether rows are left out that are about an id that the table has a row of already. */
  onlyUnknown?: boolean
}

/**
 * @throws ServiceError `invalid` if a row is bad: nothing is written, and the error holds the number of bad
 *   rows and the first twenty. `unavailable` if the store does not answer: importing the same file again is
 *   safe.
 */
export async function importFile(
  context: ImportWork,
  kind: ImportKind,
  source: Source,
  options: ImportOptions = parseOptions(kind, {}),
): Promise<Imported> {
  const incoming = await readIncoming(context, kind, source, options)
  if (incoming.rejected.count > 0) throw refusal(source, incoming.rejected)
  const met = { created: 0 }
  for (;;) {
    const imported = await checkAndWrite(context, kind, source, options, incoming, met)
    if (imported) return imported
  }
}

/**
 * Checks the rows against the tables and adds the new ones. Returns undefined, and adds none of them, if
 * another command has written to their table since.
 *
 * @param met counts the forecasters that were created, over all attempts.
 */
async function checkAndWrite(
  context: ImportWork,
  kind: ImportKind,
  source: Source,
  options: ImportOptions,
  incoming: IncomingRows,
  met: { created: number },
): Promise<Imported | undefined> {
  const { database, local, progress = () => {} } = context
  progress('taking in what waits')
  await takeInWaiting(context, SCORED_TABLES)
  const versions = await currentVersions(context.store)
  assertNotBehind(versions, context.released ?? {})
  progress('checking the rows')
  const bad = await local.reading(async () => {
    await attachAll(database, local, versions)
    return faultsOf(context, kind, incoming, options)
  })
  if (bad.count > 0) throw refusal(source, bad)

  progress('looking for what is new')
  await findFresh(context, kind)
  if (kind === 'questions' && options.reason === undefined) {
    const unsaid = await local.reading(() => withoutReason(context, versions.resolutions, incoming))
    if (unsaid.count > 0) throw refusal(source, unsaid)
  }
  const last = isReplaced(kind) ? lastRecordedAt(versions[kind]) : undefined
  const clockBehindMs = Math.max(0, (last?.getTime() ?? 0) - context.now().getTime())
  let tooLate = 0
  if (kind === 'forecasts') {
    tooLate = await countOf(context, `(${TOO_LATE})`)
    await database.run(
      `CREATE OR REPLACE TEMP TABLE met AS
       SELECT DISTINCT entity_id AS user_id, NULL::VARCHAR AS display_name, recorded_at FROM fresh
       WHERE entity_id NOT IN (SELECT user_id FROM forecasters)
       ORDER BY user_id`,
    )
    const created = await takeIn(context, versions.forecasters, 'met')
    if (created === undefined) return undefined
    met.created += created
  }
  const rows = await countOf(context, 'incoming')
  progress('writing')
  const added = await takeIn(context, versions[kind], 'fresh')
  if (added === undefined) return undefined
  return {
    kind,
    rows,
    added,
    unchanged: rows - added,
    forecastersCreated: met.created,
    tooLate,
    clockBehindMs,
  }
}

/**
 * Finds what an import would do, without writing to the store. Rows that wait in the inbox are therefore read
 * in place.
 *
 * @throws ServiceError `invalid` for a file that cannot be read as a whole.
 */
export async function tryImport(
  context: ImportWork,
  kind: ImportKind,
  source: Source,
  options: ImportOptions,
): Promise<Trial> {
  const { database, local, store, progress = () => {} } = context
  const incoming = await readIncoming(context, kind, source, options)
  const { rejected } = incoming
  const rows = (await countOf(context, 'incoming')) + rejected.count
  if (rejected.count > 0) return { kind, rows, added: 0, unchanged: 0, bad: rejected }
  // The inbox is listed first, so that rows that are taken in after the listing are in the tables.
  const waiting = await listWaiting(store, SCORED_TABLES)
  const versions = await currentVersions(store)
  assertNotBehind(versions, context.released ?? {})
  progress('checking the rows')
  return local.reading(async () => {
    await attachAll(database, local, versions)
    for (const table of SCORED_TABLES) await attachWaiting(context, versions[table], waiting[table])
    const faults = await faultsOf(context, kind, incoming, options)
    await findFresh(context, kind, '(FROM parsed ANTI JOIN fault USING (record))')
    const unsaid =
      kind === 'questions' && options.reason === undefined
        ? await withoutReason(context, versions.resolutions, incoming)
        : NONE_REJECTED
    const bad = together(faults, unsaid)
    const added = (await countOf(context, 'fresh')) - unsaid.count
    return { kind, rows, added, unchanged: rows - bad.count - added, bad }
  })
}

async function readIncoming(
  context: ImportWork,
  kind: ImportKind,
  source: Source,
  options: ImportOptions,
): Promise<IncomingRows> {
  const { database, progress } = context
  await database.run(`SET VARIABLE now = ${literal(context.now().toISOString())}::TIMESTAMPTZ`)
  await database.run(
    `SET VARIABLE reason = ${options.reason === undefined ? 'NULL' : literal(options.reason)}`,
  )
  progress?.(`reading ${nameOf(source)}`)
  const columns = IMPORT_COLUMNS[kind]
  const named = (required: boolean) =>
    columns.filter((column) => column.required === required).map(({ name }) => name)
  await defineZone(database, options)
  const expected = {
    required: named(true),
    optional: named(false),
    computed: computedValues(columns, options),
  }
  const incoming = await readRows(context, source, expected, options)
  if (incoming.rejected.count === 0) await defineParsed(database, columns, options)
  return incoming
}

/** Checks every row of `parsed` and leaves the bad ones in the table `fault`. */
async function faultsOf(
  context: ImportWork,
  kind: ImportKind,
  incoming: IncomingRows,
  options: ImportOptions,
): Promise<Rejected> {
  const { database } = context
  for (const [name, check] of Object.entries(CHECK_FUNCTIONS)) database.define(name, check)
  const checks = rowChecks(IMPORT_COLUMNS[kind], options)
  await database.run(`CREATE OR REPLACE TEMP TABLE fault AS ${faultsQuery(checks)}`)
  const counts = await database.rows<{ failed: number; count: bigint }>(
    `SELECT failed, count(*) AS count FROM fault GROUP BY failed ORDER BY count DESC, failed`,
  )
  const byReason = counts.map(({ failed, count }) => ({
    reason: checks[failed]!.summary,
    count: Number(count),
  }))
  const bad = await database.rows<{ record: bigint; reason: string }>(reasonsQuery(checks, SHOWN))
  const places = await incoming.placesOf(bad.map(({ record }) => Number(record)))
  return {
    faults: bad.map(({ reason }, index) => ({ pointer: places[index]!, detail: reason })),
    count: byReason.reduce((sum, { count }) => sum + count, 0),
    byReason,
  }
}

/** The current rows of a table as `known`, with the prose that their view lacks. */
function currentOf(kind: ImportKind, columns: readonly ImportColumn[]): string {
  const prose = columns.filter(({ holds }) => holds === 'prose').map(({ name }) => `said.${name}`)
  if (prose.length === 0) return `current_${kind} known`
  const id = columns[0]!.name
  return `(SELECT current.*, ${prose.join(', ')} FROM current_${kind} current JOIN ${kind} said USING (${id}, recorded_at)) known`
}

/** Makes the table `fresh`. Grain: one row per row that `rows` bring and that the table does not have. */
async function findFresh(context: ImportWork, kind: ImportKind, rows = 'parsed'): Promise<void> {
  const { database } = context
  const columns = IMPORT_COLUMNS[kind]
  const id = kind === 'forecasts' ? 'forecast_id' : columns[0]!.name
  const known =
    kind === 'forecasts' || context.onlyUnknown === true
      ? `SELECT 1 FROM ${kind} known WHERE known.${id} = fresh.${id}`
      : `SELECT 1 FROM ${currentOf(kind, columns)} WHERE ${columns
          .map(
            ({ name, required }) => `known.${name} ${required ? '=' : 'IS NOT DISTINCT FROM'} fresh.${name}`,
          )
          .join(' AND ')}`
  await database.run(
    `CREATE OR REPLACE TEMP TABLE fresh AS FROM (${tableRows(kind, columns, rows)}) fresh WHERE NOT EXISTS (${known})`,
  )
  if (kind !== 'forecasts') return
  // Most files repeat no forecast, and counting is much faster than removing repeats. Different ids with one
  // hash do no harm.
  const [found] = await database.rows<{ repeats: boolean }>(
    `SELECT count(DISTINCT hash(forecast_id)) < count(*) AS repeats FROM fresh`,
  )
  if (found?.repeats)
    await database.run(
      `CREATE OR REPLACE TEMP TABLE fresh AS SELECT DISTINCT * FROM fresh ORDER BY forecast_id`,
    )
}

/**
 * Grain: one row per forecast in the file that no score reads, by the tables as they are. An outcome that
 * becomes known or is corrected later can change that.
 */
const TOO_LATE = `
  SELECT 1 FROM (SELECT ${valueOf('question_id')} AS question_id, ${valueOf('forecast_at')} AS forecast_at FROM parsed)
  JOIN (SELECT question_id, closes_at FROM current_questions) USING (question_id)
  LEFT JOIN (SELECT question_id, resolved_at FROM ${RESOLVED}) USING (question_id)
  WHERE forecast_at >= epoch_ms(least(closes_at, resolved_at))`

/** The faults of two checks, of which the second was of the rows that passed the first. */
function together(one: Rejected, other: Rejected): Rejected {
  return {
    faults: [...one.faults, ...other.faults].slice(0, SHOWN),
    count: one.count + other.count,
    byReason: [...one.byReason, ...other.byReason],
  }
}

function refusal(source: Source, { faults, count }: Rejected): ServiceError {
  const rest = count - faults.length
  return new ServiceError(
    'invalid',
    `${nameOf(source)}: ${count} bad ${count === 1 ? 'row' : 'rows'}${rest > 0 ? ` (the first ${faults.length} are named, ${rest} more are not)` : ''}; nothing was imported`,
    { faults },
  )
}
