// Imports an operator's file, all or nothing: checks every row against a version of the table, and makes the
// new rows the next version, or checks again if another command came first.
import { ServiceError } from '../../schemas/errors.ts'
import { SCORED_TABLES, type ScoredTable } from '../../schemas/tables.ts'
import { literal } from '../duckdb.ts'
import { type ByColumn, alteredCells, changesOf, findFresh, findStanding, voidCells } from './changed.ts'
import { CHECK_FUNCTIONS, faultsQuery, reasonsQuery, rowChecks } from './checks.ts'
import { IMPORT_COLUMNS, type ImportKind, isKey, isText } from './columns.ts'
import { takeOutContradictions } from './contradictions.ts'
import { takeOutUnexplained } from './corrections.ts'
import { type Source, nameOf } from './input.ts'
import { type ImportOptions, parseOptions } from './options.ts'
import { defineRewrites, keepFirst, moveLongTitles, rewritesOf } from './rewrites.ts'
import { RESOLVED, attachAll, isReplaced } from '../tables/views.ts'
import { lastRecordedAt } from '../tables/recorded-at.ts'
import type { TableVersion } from '../tables/delta.ts'
import { assertNotBehind, currentVersions } from '../tables/delta-log.ts'
import { type IncomingRows, readRows } from './read-file.ts'
import { NONE_REJECTED, type Rejected, SHOWN, together } from './rejected.ts'
import { type ImportContext, type TakenIn, countOf, takeIn, takeInWaiting } from './take-in.ts'
import { recordImport } from './undo.ts'
import { computedValues, defineIdentified, defineParsed, defineZone, valueOf } from './values.ts'
import { type VoidForecasts, voidForecasts } from './void-forecasts.ts'
import { attachRows, attachWaiting, listWaiting } from './waiting.ts'

/** The difference that the good rows of a file make, if they are imported. */
export interface Effect {
  kind: ImportKind
  /** Rows in the file. */
  rows: number
  /** Rows about something new, rows that change a known row, and rows that change nothing. */
  added: number
  changed: number
  unchanged: number
  /** Rows of `unchanged` that repeat an earlier row of the file. */
  repeats: number
  /** The rows that change each column. */
  changedColumns: ByColumn
  /** The cells of each column that have a word for a missing value, such as `NaN`. */
  voidCells: ByColumn
  /** The cells of each column whose text was made fit by `--normalize-text`. */
  altered: ByColumn
  /** Rows of the file that `--where` leaves out, which are not in `rows`. */
  unwanted: number
  /**
   * Forecasts in the file that count for nothing, since they were made at the effective close of their
   * question or later.
   */
  tooLate: number
  /** Known forecasts that count for nothing from then on. */
  madeVoid: VoidForecasts
}

export interface Imported extends Effect {
  /** Forecasters that no row had named before. */
  forecastersCreated: number
  /**
   * The milliseconds by which the clock lags behind the last row of the table; 0 if it does not, or if rows
   * of the table do not replace each other.
   */
  clockBehindMs: number
  /** The version of the table that the rows are in; undefined if none is new. */
  version: number | undefined
}

/** The effect that an import would have without its bad rows. */
export interface Trial extends Effect {
  bad: Rejected
}

/** Reports the step that an import begins. */
type Progress = (step: string) => void

export interface ImportWork extends ImportContext {
  progress?: Progress
  /** Whether rows are left out that are about an id that the table has a row of already. */
  onlyUnknown?: boolean
}

/** Rows of one kind that an import brings. */
export interface ImportPart {
  kind: ImportKind
  /** For messages. */
  name: string
  options: ImportOptions
  /** Makes the view `incoming` of the rows, again at each call. */
  read: () => Promise<IncomingRows>
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
  const part = await filePart(context, kind, source, options)
  const { rejected } = await part.read()
  if (rejected.count > 0) throw refusal(part, rejected)
  return (await importParts(context, [part]))[0]!
}

/**
 * Imports rows of several kinds, all or nothing: every row is checked before the first is written, each part
 * as if the parts before it were in the tables. The parts come in the order of `IMPORTS`, one for a kind.
 * After a crash some parts may be in the tables and others not: importing the same again is safe.
 *
 * @throws ServiceError as `importFile` does.
 */
export async function importParts(context: ImportWork, parts: readonly ImportPart[]): Promise<Imported[]> {
  const written: Written = { parts: new Map(), created: 0 }
  while (!(await checkAndWrite(context, parts, written)));
  return [...written.parts.values()]
}

/** The parts that are written, over all attempts, and the forecasters that were created for forecasts. */
interface Written {
  parts: Map<ImportKind, Imported>
  created: number
}

/**
 * Checks the rows against the tables and adds the new ones. Returns false, and adds none to a table, if
 * another command has written to the table since.
 */
async function checkAndWrite(
  context: ImportWork,
  parts: readonly ImportPart[],
  written: Written,
): Promise<boolean> {
  const { database, local, progress = () => {} } = context
  progress('taking in what waits')
  await takeInWaiting(context, SCORED_TABLES)
  const versions = await currentVersions(context.store)
  assertNotBehind(versions, context.released ?? {})
  const trials = await local.reading(async () => {
    await attachAll(database, local, versions)
    return comparedParts(context, parts, versions)
  })
  const bad = trials.findIndex((trial) => trial.bad.count > 0)
  if (bad >= 0) throw refusal(parts[bad]!, trials[bad]!.bad, written)

  progress('writing')
  for (const [index, { bad: _, ...effect }] of trials.entries()) {
    const { kind, unchanged, repeats } = effect
    const { name } = parts[index]!
    const last = isReplaced(kind) ? lastRecordedAt(versions[kind]) : undefined
    const clockBehindMs = Math.max(0, (last?.getTime() ?? 0) - context.now().getTime())
    if (kind === 'forecasts') {
      await database.run(
        `CREATE OR REPLACE TEMP TABLE met AS
         SELECT DISTINCT entity_id AS user_id, NULL::VARCHAR AS display_name, recorded_at FROM ${freshOf(kind)}
         WHERE entity_id NOT IN (SELECT user_id FROM forecasters)
         ORDER BY user_id`,
      )
      const created = await takeIn(context, versions.forecasters, 'met')
      if (!created) return false
      written.created += created.rows
      await recordOf(context, 'forecasters', created, name, 0)
    }
    const taken = await takeIn(context, versions[kind], freshOf(kind))
    if (!taken) return false
    if (written.parts.has(kind)) continue
    await recordOf(context, kind, taken, name, unchanged - repeats)
    const forecastersCreated = kind === 'forecasts' ? written.created : 0
    written.parts.set(kind, { ...effect, forecastersCreated, clockBehindMs, version: taken.version })
  }
  return true
}

/** Records an import that added rows. */
async function recordOf(
  { store }: ImportWork,
  table: ImportKind,
  { version }: TakenIn,
  file: string,
  unchanged: number,
): Promise<void> {
  if (version === undefined) return
  await recordImport(store, { table, version }, { file, unchanged })
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
  return (await tryParts(context, [await filePart(context, kind, source, options)]))[0]!
}

/** Finds what an import of several kinds would do. @throws ServiceError as `tryImport` does. */
export async function tryParts(context: ImportWork, parts: readonly ImportPart[]): Promise<Trial[]> {
  const { database, local, store } = context
  // The inbox is listed first, so that rows that are taken in after the listing are in the tables.
  const waiting = await listWaiting(store, SCORED_TABLES)
  const versions = await currentVersions(store)
  assertNotBehind(versions, context.released ?? {})
  return local.reading(async () => {
    await attachAll(database, local, versions)
    for (const table of SCORED_TABLES) await attachWaiting(context, versions[table], waiting[table])
    return comparedParts(context, parts, versions)
  })
}

/** Reads a file once, however often its rows are compared. */
async function filePart(
  context: ImportWork,
  kind: ImportKind,
  source: Source,
  options: ImportOptions,
): Promise<ImportPart> {
  const incoming = await readIncoming(context, kind, source, options)
  return { kind, name: nameOf(source), options, read: () => Promise.resolve(incoming) }
}

/** The table of the new rows of a kind. */
const freshOf = (kind: ImportKind) => `fresh_${kind}`

/** Compares each part with the tables and the parts before it. Leaves its new rows in `freshOf` its kind. */
async function comparedParts(
  context: ImportWork,
  parts: readonly ImportPart[],
  versions: Record<ScoredTable, TableVersion>,
): Promise<Trial[]> {
  const { database, progress = () => {} } = context
  const trials: Trial[] = []
  for (const { kind, options, read } of parts) {
    const incoming = await read()
    progress(`comparing the ${kind}`)
    const trial = await compared(context, kind, incoming, options, versions)
    const { rejected } = incoming
    trials.push({ ...trial, rows: trial.rows + rejected.count, bad: together(rejected, trial.bad) })
    await database.run(`DROP TABLE IF EXISTS ${freshOf(kind)}`)
    await database.run(`ALTER TABLE fresh RENAME TO ${freshOf(kind)}`)
    if (parts.length > 1) await attachRows(database, versions[kind], freshOf(kind))
  }
  return trials
}

/** Reads the rows of a file into the view `incoming`. */
export async function readIncoming(
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
    columns
      .filter(({ name, required: isRequired }) => isRequired === required && !options.set.has(name))
      .map(({ name }) => name)
  await defineZone(database, options)
  const areIdsText = options.namespace !== undefined
  const expected = {
    required: named(true),
    optional: named(false),
    texts: columns.filter((column) => isText(column, areIdsText)).map(({ name }) => name),
    keys: columns.filter((column) => isKey(column, areIdsText)).map(({ name }) => name),
    constants: columns
      .filter(({ name }) => options.set.has(name))
      .map(({ name, required }) => ({ name, isOptional: !required, text: options.set.get(name)! })),
    rewrites: rewritesOf(columns, options),
    computed: computedValues(columns, options),
  }
  defineRewrites(database)
  const incoming = await readRows(context, source, expected, options)
  if (options.normalizeText && kind === 'questions') await moveLongTitles(database)
  await defineIdentified(database, columns, options)
  if (options.firstOfRepeats) await keepFirst(database, kind)
  return incoming
}

/** Compares the rows of a file with the tables. Leaves the new ones in the table `fresh`. */
async function compared(
  context: ImportWork,
  kind: ImportKind,
  incoming: IncomingRows,
  options: ImportOptions,
  versions: Record<ScoredTable, TableVersion>,
): Promise<Trial> {
  const { database, onlyUnknown = false } = context
  await findStanding(database, kind)
  await defineParsed(database, IMPORT_COLUMNS[kind], options)
  const rows = await countOf(context, 'incoming')
  const faults = await faultsOf(context, kind, incoming, options)
  const good = faults.count === 0 ? 'parsed' : '(FROM parsed ANTI JOIN fault USING (record))'
  const repeats =
    rows - (await countOf(context, 'identified')) + (await findFresh(database, kind, good, onlyUnknown))
  const bad = together(faults, await takeOutRefused(context, kind, incoming, options, versions))
  const { changed, columns: changedColumns } = await changesOf(database, kind)
  const fresh = await countOf(context, 'fresh')
  return {
    kind,
    rows,
    added: fresh - changed,
    changed,
    unchanged: rows - bad.count - fresh,
    repeats,
    changedColumns,
    voidCells: await voidCells(database, kind, options.namespace !== undefined),
    altered: await alteredCells(database, kind, options),
    unwanted: incoming.unwanted ?? 0,
    tooLate: kind === 'forecasts' ? await countOf(context, `(${TOO_LATE})`) : 0,
    madeVoid: await voidForecasts(database, kind),
    bad,
  }
}

/** Takes the rows out of `fresh` that are bad by what is known, and returns them. */
async function takeOutRefused(
  context: ImportWork,
  kind: ImportKind,
  incoming: IncomingRows,
  { reason }: ImportOptions,
  { resolutions }: Record<ScoredTable, TableVersion>,
): Promise<Rejected> {
  if (kind === 'forecasts') return takeOutContradictions(context.database, incoming)
  if (kind === 'questions' && reason === undefined) return takeOutUnexplained(context, resolutions, incoming)
  return NONE_REJECTED
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

/**
 * Grain: one row per forecast in the file that no score reads, by the tables as they are. An outcome that
 * becomes known or is corrected later can change that.
 */
const TOO_LATE = `
  SELECT 1 FROM (SELECT ${valueOf('question_id')} AS question_id, ${valueOf('forecast_at')} AS forecast_at FROM parsed)
  JOIN (SELECT question_id, closes_at FROM current_questions) USING (question_id)
  LEFT JOIN (SELECT question_id, resolved_at FROM ${RESOLVED}) USING (question_id)
  WHERE forecast_at >= epoch_ms(least(closes_at, resolved_at))`

function refusal({ name }: ImportPart, { faults, count }: Rejected, written?: Written): ServiceError {
  const rest = count - faults.length
  const kinds = [...(written?.parts.keys() ?? [])].map((kind) => `the ${kind} of this command`)
  const made = written?.created ? [`${written.created} of the forecasters that it names`] : []
  const but = [...kinds, ...made].join(' and ')
  return new ServiceError(
    'invalid',
    `${name}: ${count} bad ${count === 1 ? 'row' : 'rows'}${rest > 0 ? ` (the first ${faults.length} are named, ${rest} more are not)` : ''}; nothing was imported${but === '' ? '' : ` but ${but}`}`,
    { faults },
  )
}
