// Imports an operator's file, all or nothing: checks every row against a version of the table, and makes the
// new rows the next version, or checks again if another command came first.
import { ServiceError } from '../../schemas/errors.ts'
import { IMPORT_COLUMNS, type ImportKind, isKey, isText } from './columns.ts'
import {
  type Effect,
  type ImportPart,
  type ImportWork,
  type Trial,
  comparedParts,
  freshOf,
  setVariables,
} from './compare.ts'
import { type Source, nameOf } from './input.ts'
import { type ImportOptions, parseOptions } from './options.ts'
import { recordNames } from './people-names.ts'
import { defineRewrites, keepFirst, moveLongTitles, rewritesOf } from './rewrites.ts'
import { isReplaced } from '../tables/views.ts'
import { lastRecordedAt } from '../tables/recorded-at.ts'
import { type IncomingRows, readRows } from './read-file.ts'
import type { Rejected } from './rejected.ts'
import { type TakenIn, takeIn, takeInWaiting } from './take-in.ts'
import { recordImport } from './undo.ts'
import { computedValues, defineIdentified, defineZone } from './values.ts'
import type { TableVersion } from '../tables/delta.ts'
import { onKnown } from './waiting.ts'

/** The tables whose waiting rows must come before the rows of an import, which may replace them. */
const REPLACED = ['questions', 'events', 'resolutions', 'forecasters'] as const

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
  const { progress = () => {} } = context
  progress('taking in what waits')
  const kinds = parts.map(({ kind }) => kind)
  await takeInWaiting(context, [...new Set([...REPLACED, ...kinds])])
  const { versions, trials } = await onKnown(context, async (known) => ({
    versions: known,
    trials: await comparedParts(context, parts, known),
  }))
  const bad = trials.findIndex((trial) => trial.bad.count > 0)
  if (bad >= 0) throw refusal(parts[bad]!, trials[bad]!.bad, written)

  progress('writing')
  for (const [index, { bad: _, ...effect }] of trials.entries()) {
    const { kind, unchanged, repeats } = effect
    const { name } = parts[index]!
    const last = isReplaced(kind) ? lastRecordedAt(versions[kind]) : undefined
    const clockBehindMs = Math.max(0, (last?.getTime() ?? 0) - context.now().getTime())
    if (kind === 'forecasts') {
      const created = await takeInMet(context, versions.forecasters, name)
      if (!created) return false
      written.created += created.rows
    }
    const taken = await takeIn(context, versions[kind], freshOf(kind))
    if (!taken) return false
    if (kind === 'forecasters') await recordNames(context)
    if (written.parts.has(kind)) continue
    await recordOf(context, kind, taken, name, unchanged - repeats)
    const forecastersCreated = kind === 'forecasts' ? written.created : 0
    written.parts.set(kind, { ...effect, forecastersCreated, clockBehindMs, version: taken.version })
  }
  return true
}

/**
 * Adds the forecasters whom new forecasts name and nothing else does. Returns undefined, and adds none, if
 * another command has written to the table of forecasters since it was `seen`.
 */
export async function takeInMet(
  context: ImportWork,
  seen: TableVersion,
  file: string,
): Promise<TakenIn | undefined> {
  await context.database.run(
    `CREATE OR REPLACE TEMP TABLE met AS
     SELECT DISTINCT entity_id AS user_id, recorded_at FROM ${freshOf('forecasts')}
     WHERE entity_id NOT IN (SELECT user_id FROM forecasters)
     ORDER BY user_id`,
  )
  const created = await takeIn(context, seen, 'met')
  if (created) await recordOf(context, 'forecasters', created, file, 0)
  return created
}

/** Records an import that added rows. */
export async function recordOf(
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
export function tryParts(context: ImportWork, parts: readonly ImportPart[]): Promise<Trial[]> {
  return onKnown(context, (versions) => comparedParts(context, parts, versions))
}

/** Reads a file once, however often its rows are compared. */
export async function filePart(
  context: ImportWork,
  kind: ImportKind,
  source: Source,
  options: ImportOptions,
): Promise<ImportPart> {
  const incoming = await readIncoming(context, kind, source, options)
  return { kind, name: nameOf(source), options, read: () => Promise.resolve(incoming) }
}

/** Reads the rows of a file into the view `incoming`. */
async function readIncoming(
  context: ImportWork,
  kind: ImportKind,
  source: Source,
  options: ImportOptions,
): Promise<IncomingRows> {
  const { database, progress } = context
  await setVariables(context, options)
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
    emptied: named(true).filter((name) => name === 'probability'),
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

export function refusal({ name }: ImportPart, { faults, count }: Rejected, written?: Written): ServiceError {
  const rest = count - faults.length
  const kinds = [...(written?.parts ?? [])]
    .filter(([, { rows }]) => rows > 0)
    .map(([kind]) => `the ${kind} of this command`)
  const made = written?.created ? [`${written.created} of the forecasters that it names`] : []
  const but = [...kinds, ...made].join(' and ')
  return new ServiceError(
    'invalid',
    `${name}: ${count} bad ${count === 1 ? 'row' : 'rows'}${rest > 0 ? ` (the first ${faults.length} are named, ${rest} more are not)` : ''}; nothing was imported${but === '' ? '' : ` but ${but}`}`,
    { faults },
  )
}
