// `fvs import`.
import { withDatabase } from '../pipeline/duckdb.ts'
import { type ImportKind, templateOf } from '../pipeline/import/columns.ts'
import {
  type Imported,
  type ImportWork,
  type Trial,
  importFile,
  tryImport,
} from '../pipeline/import/import.ts'
import type { Source } from '../pipeline/import/input.ts'
import { type ImportOptions, parseOptions } from '../pipeline/import/options.ts'
import { assertEnvironment } from '../pipeline/release/state.ts'
import type { Components } from './components/components.ts'
import { type Report, printable } from './output.ts'
import { ProgressLine } from './progress.ts'

/** Works with a database, and shows the progress on standard error. */
async function onFile<T>(components: Components, work: (context: ImportWork) => Promise<T>): Promise<T> {
  const { manifest } = await assertEnvironment(components)
  return withDatabase(components.openDatabase, async (database) => {
    await database.watch()
    using line = new ProgressLine(process.stderr, () => database.percent)
    return await work({
      ...components,
      database,
      released: manifest?.tables ?? {},
      progress: (step) => {
        line.step(step)
      },
    })
  })
}

/** @throws ServiceError `invalid` for a bad file: nothing is written. */
export async function runImport(
  components: Components,
  kind: ImportKind,
  source: Source,
  options: ImportOptions = parseOptions(kind, {}),
): Promise<Report> {
  return reportOf(await onFile(components, (context) => importFile(context, kind, source, options)))
}

/** Reports what an import would do. Fails if the import would fail. */
export async function runTrial(
  components: Components,
  kind: ImportKind,
  source: Source,
  options: ImportOptions = parseOptions(kind, {}),
): Promise<Report> {
  const trial = await onFile(components, (context) => tryImport(context, kind, source, options))
  return reportOfTrial(trial, components.isStoreMissing)
}

function reportOf(imported: Imported): Report {
  const { kind, rows, added, unchanged, forecastersCreated, tooLate, clockBehindMs } = imported
  const created = forecastersCreated > 0 ? `, ${forecastersCreated} forecasters met for the first time` : ''
  const late =
    tooLate > 0
      ? `\n${tooLate} of the rows ${tooLate === 1 ? 'counts' : 'count'} for nothing: the question had closed by then, or its outcome was known`
      : ''
  const lag =
    clockBehindMs > 0
      ? `\nnote: the clock of this machine is ${clockBehindMs / 1000} s behind the last row of the table; what was imported counts as said after it`
      : ''
  return {
    ok: true,
    json: {
      kind,
      rows,
      added,
      unchanged,
      forecasters_created: forecastersCreated,
      too_late: tooLate,
      clock_behind_ms: clockBehindMs,
    },
    text: `${kind}: ${added} of ${rows} rows added, ${unchanged} known already${created}${late}${lag}`,
  }
}

function reportOfTrial({ kind, rows, added, unchanged, bad }: Trial, isStoreMissing: boolean): Report {
  const width = String(bad.count).length
  const lines = [
    `${kind}, dry run: of ${rows} rows ${added} are new, ${unchanged} known already, ${bad.count} bad; nothing was imported`,
    ...(isStoreMissing ? ['there is no store yet: the rows were compared with an empty one'] : []),
    ...bad.byReason.map(({ reason, count }) => `  ${String(count).padStart(width)}  ${reason}`),
    ...(bad.count === 0
      ? []
      : [bad.count > bad.faults.length ? `the first ${bad.faults.length}:` : 'they are:']),
    ...bad.faults.map(({ pointer, detail }) => `  ${printable(`${pointer}: ${detail}`)}`),
  ]
  return {
    ok: bad.count === 0,
    json: {
      kind,
      dry_run: true,
      ...(isStoreMissing && { store_missing: true }),
      rows,
      added,
      unchanged,
      bad: bad.count,
      reasons: bad.byReason,
      errors: bad.faults,
    },
    text: lines.join('\n'),
  }
}

/** Reports an empty file of a kind. */
export function reportTemplate(kind: ImportKind): Report {
  const text = templateOf(kind)
  return { ok: true, json: { kind, template: text }, text: text.trimEnd() }
}
