// Lists the imports of a store, and undoes one: its rows stay where they are, and nothing reads them.
import pMap from 'p-map'
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import type { UndoneImport } from '../../schemas/manifests.ts'
import { type ImportedTable, IMPORTED_TABLES, type ScoredTable } from '../../schemas/tables.ts'
import { importPath } from '../store/paths.ts'
import { records } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { currentVersions } from '../tables/delta-log.ts'
import { type DataFile, type TableVersion, statisticsOf } from '../tables/delta.ts'
import { lastRecordedAt } from '../tables/recorded-at.ts'
import { type ImportId, textOfImport } from '../tables/import-id.ts'
import { everSaid, undoneImports, undoneIn } from '../tables/left-out.ts'
import { SUBJECT, attachTable, isReplaced } from '../tables/views.ts'
import { type ImportContext, countOf } from './take-in.ts'
import { onKnown } from './waiting.ts'
import { READS_AT_ONCE } from '../store/store.ts'

const importRecord = z.strictObject({
  file: z.string(),
  /** Rows of the file that were known already, so that the import relies on the ones before. */
  unchanged: z.number().int(),
})
export type ImportRecord = z.infer<typeof importRecord>

const importsOf = (store: Store) => records(store, importPath, importRecord)

export interface ListedImport extends ImportId {
  rows: number
  /** When its last row was recorded. */
  recordedAt: Date
  /** Undefined for an import that was cut off at its end. */
  record: ImportRecord | undefined
  undone: UndoneImport | undefined
}

export async function recordImport(store: Store, id: ImportId, record: ImportRecord): Promise<void> {
  await importsOf(store).replace(id, record)
}

/** Lists the imports of a store in the order of their tables, and each table's in the order of its log. */
export async function listImports(store: Store): Promise<ListedImport[]> {
  return importsIn(store, await currentVersions(store))
}

async function importsIn(store: Store, versions: Record<ScoredTable, TableVersion>): Promise<ListedImport[]> {
  const made = IMPORTED_TABLES.flatMap((table) => {
    const undone = undoneIn(versions[table]).map(({ by }) => by)
    const byVersion = [...Map.groupBy(everSaid(versions[table]), ({ version }) => version)]
    const imported = byVersion.filter(([, own]) => own.every((file) => isImported(table, file)))
    return imported.map(([version, own]) => ({
      table,
      version,
      rows: rowsOf(own),
      recordedAt: lastRecordedAt({ files: own })!,
      undone: undone.find((one) => one.version === version),
    }))
  })
  const withRecord = async (one: Omit<ListedImport, 'record'>) => {
    return { ...one, record: await importsOf(store).get(one) }
  }
  return pMap(made, withRecord, { concurrency: READS_AT_ONCE })
}

/** Whether only an import can have made all rows of a file. */
function isImported(table: ImportedTable, file: DataFile): boolean {
  return table !== 'forecasts' || statisticsOf(file).minValues['source'] === 'import'
}

function rowsOf(files: readonly DataFile[]): number {
  return files.reduce((sum, file) => sum + statisticsOf(file).numRecords, 0)
}

/**
 * Undoes an import: from the next release on none of its rows counts.
 *
 * @throws ServiceError `notFound` if there is no such import, `conflict` if it is undone already, or if
 *   something that came later relies on it: nothing changes.
 */
export async function undoImport(
  context: ImportContext,
  id: ImportId,
  reason: string,
): Promise<UndoneImport> {
  const { store, now } = context
  const name = textOfImport(id)
  const { rows, recordedAt, last, obstacles } = await onKnown(context, async (versions) => {
    const imports = await importsIn(store, versions)
    const found = imports.find(({ table, version }) => table === id.table && version === id.version)
    if (!found) throw new ServiceError('notFound', `there is no import ${name}; \`fvs imports\` lists them`)
    if (found.undone) throw undoneAlready(name, found.undone)
    const version = versions[id.table]
    return {
      ...found,
      last: lastRecordedAt({ files: everSaid(version) })!,
      obstacles: [...reliesOnRows(imports, found), ...(await reliesOnSubjects(context, version, found))],
    }
  })
  if (obstacles.length > 0) {
    throw new ServiceError(
      'conflict',
      `${name} cannot be undone: ${obstacles.join('; ')}; nothing was changed`,
    )
  }
  const undone: UndoneImport = {
    ...id,
    rows,
    recorded_at: recordedAt.toISOString(),
    undone_at: new Date(Math.max(now().getTime(), last.getTime() + 1)).toISOString(),
    reason,
  }
  if (await undoneImports(store).create(id, undone)) return undone
  throw new ServiceError('conflict', `${name} is undone already, by a command that ran beside this one`)
}

function undoneAlready(name: string, { undone_at, reason }: UndoneImport): ServiceError {
  return new ServiceError('conflict', `${name} was undone already, at ${undone_at}: ${reason}`)
}

/** A later import that found rows known did not add them, and some may be rows of this one. */
function reliesOnRows(imports: readonly ListedImport[], { table, version }: ImportId): string[] {
  const later = imports.filter(
    (one) => one.table === table && one.version > version && !one.undone && (one.record?.unchanged ?? 1) > 0,
  )
  if (later.length === 0) return []
  const names = later.map(textOfImport).toReversed().join(', ')
  return [`it may have rows that the later imports ${names} found known already, so undo those first`]
}

/** Finds what others have said of the subjects of an import. Forecasts and prices stand for themselves. */
async function reliesOnSubjects(
  { database, local }: ImportContext,
  current: TableVersion,
  { table, version }: ImportId,
): Promise<string[]> {
  if (!isReplaced(table)) return []
  const own = ({ version: fileVersion }: DataFile) => fileVersion === version
  const { files } = current
  await attachTable(database, local, { ...current, files: files.filter(own) }, 0, 'own_rows')
  await attachTable(
    database,
    local,
    { ...current, files: files.filter(({ version: fileVersion }) => fileVersion > version) },
    0,
    'later_rows',
  )
  const kept = files.filter((file) => !own(file))
  await attachTable(database, local, { ...current, files: kept }, 0, 'kept_rows')
  const subject = SUBJECT[table]
  const gone = `(SELECT DISTINCT ${subject} FROM own_rows ANTI JOIN kept_rows USING (${subject}))`
  const checks: [count: string, text: string][] = [
    [
      `(SELECT DISTINCT ${subject} FROM own_rows SEMI JOIN later_rows USING (${subject}))`,
      'of its rows were replaced by later imports, so undo those first',
    ],
    ...(GOING[table] ?? []).map(({ by, text }): [string, string] => [
      `(FROM ${gone} gone SEMI JOIN ${by})`,
      text,
    ]),
  ]
  const obstacles: string[] = []
  for (const [rows, text] of checks) {
    const count = await countOf({ database }, rows)
    if (count > 0) obstacles.push(`${count} ${text}`)
  }
  return obstacles
}

/** The subjects that may not go, because others have spoken of them. */
const GOING: Partial<Record<ImportedTable, { by: string; text: string }[]>> = {
  questions: [
    {
      by: 'resolutions USING (question_id)',
      text: 'of the questions that it added have outcomes, so undo those first, or annul the questions',
    },
    {
      by: 'forecasts USING (question_id)',
      text: 'of the questions that it added have forecasts, so annul them',
    },
  ],
  forecasters: [
    {
      by: `(SELECT entity_id AS user_id FROM forecasts WHERE entity_type = 'forecaster') USING (user_id)`,
      text: 'of the forecasters that it added have forecasts, so undo those first',
    },
  ],
}
