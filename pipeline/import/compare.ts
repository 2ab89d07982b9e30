// Compares the rows of an import with the tables: the difference that they would make, and the bad ones among
// them.
import { literal } from '../duckdb.ts'
import type { ScoredTable } from '../../schemas/tables.ts'
import type { TableVersion } from '../tables/delta.ts'
import { ENDS_AT, RESOLVED } from '../tables/views.ts'
import { type ByColumn, alteredCells, changesOf, findFresh, findStanding, voidCells } from './changed.ts'
import { IMPORT_COLUMNS, type ImportKind } from './columns.ts'
import { takeOutContradictions } from './contradictions.ts'
import { takeOutUnexplained } from './corrections.ts'
import type { ImportOptions } from './options.ts'
import { defineKnownNames, takeOutNames, withoutErasedNames } from './people-names.ts'
import type { IncomingRows } from './read-file.ts'
import { takeOutImpossible } from './event-rules.ts'
import { leaveOut } from './leave-out.ts'
import { NONE_REJECTED, type Rejected, SHOWN, together } from './rejected.ts'
import { faultsQuery, reasonsQuery } from './rule.ts'
import { defineRules, refusingRules } from './rules.ts'
import { type ImportContext, countOf } from './take-in.ts'
import { valueOf } from './row.ts'
import { defineParsed } from './values.ts'
import { type VoidForecasts, voidForecasts } from './void-forecasts.ts'
import { attachRows } from './waiting.ts'

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
  /** Rows that withdraw a forecast. */
  withdrawals: number
  /**
   * Forecasts in the file that count for nothing, since they were made at the effective close of their
   * question or later.
   */
  tooLate: number
  /** Known forecasts that count for nothing from then on. */
  madeVoid: VoidForecasts
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
  /** Whether rows are left out that an operator's file must not have: rows of a platform's files. */
  leavesOut?: boolean
  /** Makes the view `incoming` of the rows, again at each call. */
  read: () => Promise<IncomingRows>
}

/** The table of the new rows of a kind. */
export const freshOf = (kind: ImportKind) => `fresh_${kind}`

/** Compares each part with the tables and the parts before it. Leaves its new rows in `freshOf` its kind. */
export async function comparedParts(
  context: ImportWork,
  parts: readonly ImportPart[],
  versions: Record<ScoredTable, TableVersion>,
): Promise<Trial[]> {
  const { database, progress = () => {} } = context
  const trials: Trial[] = []
  for (const part of parts) {
    const { kind } = part
    const incoming = await part.read()
    progress(`comparing the ${kind}`)
    const trial = await compared(context, part, incoming, versions)
    const { rejected } = incoming
    trials.push({ ...trial, rows: trial.rows + rejected.count, bad: together(rejected, trial.bad) })
    if (kind === 'forecasters') await takeOutNames(database)
    await database.run(`DROP TABLE IF EXISTS ${freshOf(kind)}`)
    await database.run(`ALTER TABLE fresh RENAME TO ${freshOf(kind)}`)
    if (parts.length > 1) await attachRows(database, versions[kind], freshOf(kind))
  }
  return trials
}

/** Sets what the SQL of an import reads as variables. */
export async function setVariables(
  { database, now }: Pick<ImportWork, 'database' | 'now'>,
  { reason }: Pick<ImportOptions, 'reason'>,
): Promise<void> {
  await database.run(`SET VARIABLE now = ${literal(now().toISOString())}::TIMESTAMPTZ`)
  await database.run(`SET VARIABLE reason = ${reason === undefined ? 'NULL' : literal(reason)}`)
}

/** Compares the rows of a part with the tables. Leaves the new ones in the table `fresh`. */
async function compared(
  context: ImportWork,
  { kind, options, leavesOut = false }: ImportPart,
  incoming: IncomingRows,
  versions: Record<ScoredTable, TableVersion>,
): Promise<Trial> {
  const { database, onlyUnknown = false } = context
  if (kind === 'forecasters') await defineKnownNames(context)
  await findStanding(database, kind)
  await defineParsed(database, IMPORT_COLUMNS[kind], options)
  defineRules(database)
  if (leavesOut) await leaveOut(database, kind, options)
  const rows = await countOf(context, 'incoming')
  const faults = await faultsOf(context, kind, incoming, options)
  const passed = faults.count === 0 ? 'parsed' : '(FROM parsed ANTI JOIN fault USING (record))'
  const good = kind === 'forecasters' ? withoutErasedNames(passed) : passed
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
    withdrawals: kind === 'forecasts' ? await countOf(context, `${good} WHERE ${WITHDRAWS}`) : 0,
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
  const unexplained =
    (kind === 'questions' || kind === 'events') && reason === undefined
      ? await takeOutUnexplained(context, kind, resolutions, incoming)
      : NONE_REJECTED
  return together(unexplained, await takeOutImpossible(context, kind, incoming))
}

/** Holds every row of `parsed` to the rules, and leaves the bad ones in the table `fault`. */
async function faultsOf(
  context: ImportWork,
  kind: ImportKind,
  incoming: IncomingRows,
  options: ImportOptions,
): Promise<Rejected> {
  const { database } = context
  const rules = refusingRules(IMPORT_COLUMNS[kind], options)
  await database.run(`CREATE OR REPLACE TEMP TABLE fault AS ${faultsQuery(rules)}`)
  const counts = await database.rows<{ failed: number; count: bigint }>(
    `SELECT failed, count(*) AS count FROM fault GROUP BY failed ORDER BY count DESC, failed`,
  )
  if (counts.length === 0) return NONE_REJECTED
  const byReason = counts.map(({ failed, count }) => ({
    reason: rules[failed]!.refusal.summary,
    count: Number(count),
  }))
  const bad = await database.rows<{ record: bigint; reason: string }>(
    reasonsQuery(
      rules,
      counts.map(({ failed }) => failed),
      SHOWN,
    ),
  )
  const places = await incoming.placesOf(bad.map(({ record }) => Number(record)))
  return {
    faults: bad.map(({ reason }, index) => ({ pointer: places[index]!, detail: reason })),
    count: byReason.reduce((sum, { count }) => sum + count, 0),
    byReason,
  }
}

const WITHDRAWS = `${valueOf('probability')} = -1`

/**
 * Grain: one row per forecast in the file that no score reads, by the tables as they are. An outcome that
 * becomes known or is corrected later can change that.
 */
const TOO_LATE = `
  SELECT 1 FROM (SELECT ${valueOf('question_id')} AS question_id, ${valueOf('forecast_at')} AS forecast_at FROM parsed)
  JOIN (SELECT question_id, closes_at FROM current_questions) USING (question_id)
  LEFT JOIN (SELECT question_id, resolved_at, known_at FROM ${RESOLVED}) USING (question_id)
  WHERE forecast_at >= epoch_ms(${ENDS_AT})`
