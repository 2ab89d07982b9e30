// `fvs import`.
import { InvalidArgumentError, Option } from 'commander'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { type ImportKind, templateOf, IMPORTS } from '../../pipeline/import/columns.ts'
import type { ByColumn } from '../../pipeline/import/changed.ts'
import type { Effect, ImportWork, Trial } from '../../pipeline/import/compare.ts'
import { effectJson } from '../../pipeline/import/effect-json.ts'
import { type Imported, importFile, tryImport } from '../../pipeline/import/import.ts'
import type { Source } from '../../pipeline/import/input.ts'
import { rememberNamespace, withNamespace } from '../../pipeline/import/namespace.ts'
import { type ImportOptions, parseOptions, type GivenOptions } from '../../pipeline/import/options.ts'
import { releasedVersions } from '../../pipeline/release/state.ts'
import { textOfImport } from '../../pipeline/tables/import-id.ts'
import type { Components } from '../components/components.ts'
import { printable } from '../../pipeline/printable.ts'
import type { Report } from '../command-line/output.ts'
import { ProgressLine } from '../command-line/progress.ts'
import { collected, parseReason } from '../command-line/arguments.ts'
import {
  type StoreOptions,
  calledRightly,
  finish,
  onStore,
  program,
  storeCommand,
} from '../command-line/program.ts'

interface ImportCommandOptions extends StoreOptions, GivenOptions {
  dryRun?: boolean
  template?: boolean
}

export function addImport(): void {
  storeCommand('import', 'Import questions, resolutions, forecasters or forecasts, all or nothing.')
    .argument('<kind>', IMPORTS.join(' | '), (text): ImportKind => {
      const kind = IMPORTS.find((name) => name === text)
      if (!kind) throw new InvalidArgumentError(`It must be one of ${IMPORTS.join(', ')}.`)
      return kind
    })
    .argument(
      '[file]',
      '.csv, .tsv, .json, .ndjson, .jsonl or .parquet, any of them with .gz; - is standard input',
    )
    .option('--delimiter <character>', 'auto, ",", ";" or tab', 'auto')
    .option('--map <column=Name>', 'the name that a column has in the file; may be repeated', collected)
    .option('--ignore-unknown', 'leave out columns that the table has not')
    .option('--ids <what>', 'uuid; or text: any text, made a UUID of --namespace', 'uuid')
    .option(
      '--namespace <uuid>',
      'a UUID of your own, the same for all your files with --ids text; said twice if it is a new one',
      collected,
    )
    .option('--timezone <zone>', 'of times without an offset, such as Europe/Paris')
    .option('--percent', 'probabilities are percentages')
    .option('--outcomes <meanings>', 'what outcomes mean, such as yes=YES|1|true,no=NO|0|false')
    .option('--set <column=Text>', 'a column that is the same in every row; may be repeated', collected)
    .option(
      '--where <column=Text>',
      'only the rows with this text in a column of the file; may be repeated',
      collected,
    )
    .option('--rows <path>', 'where the list of rows is in a document of JSON, such as data.markets')
    .option('--first-of-repeats', 'of several rows about the same, take the first')
    .option('--epoch <unit>', 'times are numbers since 1970, in s, ms or us')
    .option('--days', 'a time may be a day: its beginning as an opening, its end otherwise')
    .option('--normalize-text', 'make texts fit to be shown: line ends, white space, control characters')
    .option('--events <which>', 'own: each question without an event_id has nothing to do with any other')
    .addOption(
      new Option(
        '--correct <reason>',
        'why the file changes scored questions or outcomes; the next release says so',
      ).argParser(parseReason),
    )
    .option('--dry-run', 'write nothing; say what would be added, and count what is bad by its reason')
    .option('--template', 'print an empty file of the kind, with an example row')
    .action(async (kind: ImportKind, file: string | undefined, options: ImportCommandOptions) => {
      if (options.template === true) {
        if (file !== undefined) program.error('error: --template takes no file', { exitCode: 2 })
        return finish(reportTemplate(kind), options)
      }
      if (file === undefined) return program.error("error: missing required argument 'file'", { exitCode: 2 })
      const source = file === '-' ? process.stdin : file
      const parsed = calledRightly(() => parseOptions(kind, options))
      return options.dryRun === true
        ? onStore(options, 'tries', (components) => runTrial(components, kind, source, parsed))
        : onStore(options, 'begins', (components) => runImport(components, kind, source, parsed))
    })
}

/** Works with a database, and shows the progress on standard error. */
export async function onFile<T>(
  components: Components,
  work: (context: ImportWork) => Promise<T>,
): Promise<T> {
  const released = await releasedVersions(components)
  return withDatabase(components.openDatabase, async (database) => {
    await database.watch()
    using line = new ProgressLine(process.stderr, () => database.percent)
    return await work({
      ...components,
      database,
      released,
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
  given: ImportOptions = parseOptions(kind, {}),
): Promise<Report> {
  const options = await withNamespace(components.store, given, components.own.IDS_SECRET)
  const imported = await onFile(components, (context) => importFile(context, kind, source, options))
  await rememberNamespace(components.store, options)
  return importReport(imported)
}

/** Reports what an import would do. Fails if the import would fail. */
export async function runTrial(
  components: Components,
  kind: ImportKind,
  source: Source,
  given: ImportOptions = parseOptions(kind, {}),
): Promise<Report> {
  const options = await withNamespace(components.store, given, components.own.IDS_SECRET)
  const trial = await onFile(components, (context) => tryImport(context, kind, source, options))
  return reportOfTrial(trial, components.isStoreMissing)
}

function importReport(imported: Imported): Report {
  const { kind, rows, added, forecastersCreated, clockBehindMs, version } = imported
  const id = version === undefined ? null : textOfImport({ table: kind, version })
  const created = forecastersCreated > 0 ? `, ${forecastersCreated} forecasters met for the first time` : ''
  const lag =
    clockBehindMs > 0
      ? [
          `note: the clock of this machine is ${clockBehindMs / 1000} s behind the last row of the table; what was imported counts as said after it`,
        ]
      : []
  return {
    ok: true,
    json: {
      import_id: id,
      ...effectJson(imported),
      forecasters_created: forecastersCreated,
      clock_behind_ms: clockBehindMs,
    },
    text: [
      `${kind}: ${added} of ${rows} rows added, ${restOf(imported)}${created}`,
      ...notesOf(imported),
      ...lag,
      ...(id === null ? [] : [`import ${id}; \`fvs imports undo ${id}\` takes it back`]),
    ].join('\n'),
  }
}

function reportOfTrial(trial: Trial, isStoreMissing: boolean): Report {
  const { kind, rows, added, bad } = trial
  const width = String(bad.count).length
  const lines = [
    `${kind}, dry run: of ${rows} rows ${added} are new, ${restOf(trial)}, ${bad.count} bad; nothing was imported`,
    ...notesOf(trial),
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
      ...effectJson(trial),
      dry_run: true,
      ...(isStoreMissing && { store_missing: true }),
      bad: bad.count,
      reasons: bad.byReason,
      errors: bad.faults,
    },
    text: lines.join('\n'),
  }
}

/** Words the rows that are not new, as in `2 changed (title 2, url 1), 3 known already`. */
export function restOf({ changed, changedColumns, unchanged, repeats }: Effect): string {
  const changes = changed > 0 ? `${changed} changed (${byColumn(changedColumns)}), ` : ''
  const repeated = repeats > 0 ? ` (${repeats} repeated in the file)` : ''
  return `${changes}${unchanged} known already${repeated}`
}

export function notesOf({ voidCells, altered, unwanted, withdrawals, tooLate, madeVoid }: Effect): string[] {
  const notes: string[] = []
  if (unwanted > 0) notes.push(`${unwanted} further rows were left out by --where`)
  if (Object.keys(altered).length > 0) {
    notes.push(`texts were made fit to be shown: ${byColumn(altered)}`)
  }
  if (Object.keys(voidCells).length > 0) {
    notes.push(`cells with a word such as NaN were taken as missing: ${byColumn(voidCells)}`)
  }
  if (withdrawals > 0) {
    notes.push(`${withdrawals} of the rows ${withdrawals === 1 ? 'withdraws' : 'withdraw'} a forecast`)
  }
  if (tooLate > 0) {
    notes.push(
      `${tooLate} of the rows ${tooLate === 1 ? 'counts' : 'count'} for nothing: the question had closed by then, or its outcome was known`,
    )
  }
  if (madeVoid.forecasts > 0) {
    notes.push(
      `${madeVoid.forecasts} known forecasts of ${madeVoid.entities} entities no longer count: by this file their question had closed, or its outcome was known, when they were made`,
    )
  }
  return notes
}

export const byColumn = (counts: ByColumn) =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')

/** Reports an empty file of a kind. */
export function reportTemplate(kind: ImportKind): Report {
  const text = templateOf(kind)
  return { ok: true, json: { kind, template: text }, text: text.trimEnd() }
}
