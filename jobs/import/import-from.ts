// `fvs import-from`.
import { type FileHandle, open } from 'node:fs/promises'
import { InvalidArgumentError } from 'commander'
import { type ReadRows, type SourceImport, importSource } from '../../pipeline/import/import-source.ts'
import type { Effect } from '../../pipeline/import/compare.ts'
import type { Imported } from '../../pipeline/import/import.ts'
import type { ImportSource } from '../../pipeline/import/source.ts'
import { textOfImport } from '../../pipeline/tables/import-id.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { checkSource, linesOfCheck } from './check-source.ts'
import type { Components } from '../components/components.ts'
import { effectJson } from '../../pipeline/import/effect-json.ts'
import { byColumn, notesOf, onFile, restOf } from './import.ts'
import { printable, printableJson } from '../../pipeline/printable.ts'
import type { Report } from '../command-line/output.ts'
import { SOURCES } from '../../pipeline/import/sources.ts'
import { type StoreOptions, onStore, storeCommand } from '../command-line/program.ts'

export function addImportFrom(): void {
  storeCommand('import-from', "Import a platform's own files, all or nothing.")
    .argument('<source>', SOURCES.map(({ name }) => name).join(' | '), (text): ImportSource => {
      const source = SOURCES.find(({ name }) => name === text)
      if (!source) {
        throw new InvalidArgumentError(`It must be one of ${SOURCES.map(({ name }) => name).join(', ')}.`)
      }
      return source
    })
    .argument('<files...>', 'the files, or a .zip of them, in any order')
    .option('--dry-run', 'write nothing; say what would be added')
    .option('--check', 'score the files alone, and compare with the scores that the platform publishes')
    .option(
      '--with-freeze',
      'forecastbench: take what markets said at the freeze as forecasts of `freeze-value`',
    )
    .option('--report <file>', 'write the report to a file too, as NDJSON')
    .action(async (source: ImportSource, files: string[], options: StoreOptions & ImportFromOptions) => {
      return onStore(options, options.dryRun === true ? 'tries' : 'begins', (components) =>
        runImportFrom(components, source, files, options),
      )
    })
}

export interface ImportFromOptions {
  dryRun?: boolean
  /** Whether to score the files, and compare the scores with the platform's. */
  check?: boolean
  /** Whether to import the markets' values at the freezing of questions as forecasts too. */
  withFreeze?: boolean
  /** A file for the report in NDJSON. */
  report?: string
}

/** @throws ServiceError `invalid` for bad files: nothing is written. */
export async function runImportFrom(
  components: Components,
  platform: ImportSource,
  paths: readonly string[],
  { dryRun = false, check = false, withFreeze = false, report }: ImportFromOptions = {},
): Promise<Report> {
  const source = withFreeze ? withFreezeValues(platform) : platform
  // Make the file before anything is imported, so that no report is lost.
  await using file = report === undefined ? undefined : await reportFile(report)
  const { imported, checked } = await onFile(components, async (context) => {
    const idsSecret = components.own.IDS_SECRET
    const done = await importSource({ ...context, idsSecret }, source, paths, dryRun)
    const isGood = done.effects.every((effect) => !effect.bad?.count)
    return {
      imported: done,
      checked: check && isGood ? await checkSource(components, context, source, done) : undefined,
    }
  })
  const lines = [
    ...recordsOf(source, imported),
    ...(checked ? [{ source: source.name, check: checked }] : []),
  ]
  await file?.writeFile(lines.map((line) => `${printableJson(line)}\n`).join(''))
  const bad = imported.effects.reduce((sum, effect) => sum + (effect.bad?.count ?? 0), 0)
  return {
    ok: bad === 0,
    json: {
      source: source.name,
      ...(dryRun && { dry_run: true }),
      files: imported.read.map(jsonOfRows),
      ...(checked && { check: checked }),
      imported: imported.effects.map((effect) => ({
        ...(!dryRun && { import_id: importIdIn(effect) ?? null }),
        ...effectJson(effect),
        ...(dryRun && { bad: effect.bad?.count ?? 0 }),
      })),
    },
    text: [...reportText(source, imported, dryRun), ...(checked ? linesOfCheck(checked) : [])]
      .map(printable)
      .join('\n'),
  }
}

function withFreezeValues(source: ImportSource): ImportSource {
  if (source.freezeRows !== undefined) return { ...source, rows: [...source.rows, ...source.freezeRows] }
  throw new ServiceError(
    'invalid',
    `--with-freeze is not for ${source.name}: its files have no freeze values`,
  )
}

async function reportFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'w')
  } catch (cause) {
    throw new ServiceError('invalid', `--report ${path} cannot be written`, { cause })
  }
}

const jsonOfRows = ({ file, rows, read, taken, repeated, leftOut, altered }: ReadRows) => ({
  file,
  rows,
  read,
  taken,
  repeated,
  left_out: leftOut.reduce((sum, { count }) => sum + count, 0),
  altered,
  reasons: leftOut,
})

/** The lines of a report: the sums of each kind of rows in each file, and the reasons to leave some out. */
function recordsOf(source: ImportSource, { read, effects }: SourceImport): object[] {
  return [
    ...read.flatMap((rows) => {
      const { reasons, ...sums } = jsonOfRows(rows)
      const about = { source: source.name, file: rows.file, rows: rows.rows }
      return [{ source: source.name, ...sums }, ...reasons.map((reason) => ({ ...about, ...reason }))]
    }),
    ...effects.map((effect) => ({ source: source.name, imported: effect.kind, ...effectJson(effect) })),
  ]
}

function reportText(
  source: ImportSource,
  { files, read, effects }: SourceImport,
  isTrial: boolean,
): string[] {
  const aside = files.filter(({ form }) => form === undefined)
  return [
    ...files.flatMap(({ name, form, rows }) => {
      if (form === undefined) return []
      const sums = read.filter(({ file }) => file === name)
      return [`${name}: ${counted(rows, 'row')}`, ...sums.flatMap(linesOf)]
    }),
    ...(aside.length === 0 ? [] : [`not read: ${aside.map(({ name }) => name).join(', ')}`]),
    ...(isTrial ? ['dry run: nothing was imported'] : []),
    ...(effects.length === 0 ? ['no row was taken: there is nothing to import'] : []),
    ...effects.flatMap((effect) => [
      `${effect.kind}: ${effect.added} of ${effect.rows} rows ${isTrial ? 'are new' : 'added'}, ${restOf(effect)}${isTrial ? `, ${effect.bad?.count ?? 0} bad` : ''}`,
      ...(effect.bad?.faults ?? []).map(({ pointer, detail }) => `  ${pointer}: ${detail}`),
      ...notesOf(effect),
    ]),
    ...importsLine(effects),
    ...(source.notes ?? []).map((note) => `note: ${note}`),
    ...(source.terms === undefined ? [] : [`terms: ${source.terms}`]),
  ]
}

/** Returns the id of an import that added rows; undefined for a trial, and if it added none. */
function importIdIn(effect: Effect | Imported): string | undefined {
  const version = 'version' in effect ? effect.version : undefined
  return version === undefined ? undefined : textOfImport({ table: effect.kind, version })
}

function importsLine(effects: readonly Effect[]): string[] {
  const ids = effects.flatMap((effect) => importIdIn(effect) ?? [])
  if (ids.length === 0) return []
  return [`imports ${ids.join(', ')}; \`fvs imports undo ID\` takes one back, the last first`]
}

function linesOf({ rows, read, taken, repeated, leftOut, altered }: ReadRows): string[] {
  const left = leftOut.reduce((sum, { count }) => sum + count, 0)
  const width = Math.max(...leftOut.map(({ count }) => number(count).length))
  return [
    `  ${rows}: ${number(read)} read = ${number(taken)} taken + ${number(repeated)} repeated + ${number(left)} left out`,
    ...leftOut.map(({ reason, count, examples }) => {
      const more = count > examples.length ? ', …' : ''
      return `    ${number(count).padStart(width)}  ${reason} (${examples.join(', ')}${more})`
    }),
    ...(Object.keys(altered).length === 0 ? [] : [`    texts made fit to be shown: ${byColumn(altered)}`]),
  ]
}

const number = (value: number) => value.toLocaleString('en')
const counted = (count: number, what: string) => `${number(count)} ${what}${count === 1 ? '' : 's'}`
