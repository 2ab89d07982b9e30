// All that was ever said of questions and their outcomes, in order: every row, those of undone imports among
// them, and for each undoing a row that says again what had stood before the import.
import type { UndoneImport } from '../../schemas/manifests.ts'
import { type Database, literal } from '../duckdb.ts'
import type { LocalFiles } from '../store/local-files.ts'
import type { ChangedTable } from './changes.ts'
import { firstFileAfter } from './delta-log.ts'
import type { TableVersion } from './delta.ts'
import { everSaid, isAmong, undoneIn, withoutUndone } from './undone.ts'
import { attachTable, currentColumns, currentRows } from './views.ts'

/** A state of a table: its version, and the imports that were undone. */
export interface KnownState {
  version: number
  undone: readonly UndoneImport[]
}

/**
 * Makes the view `view` of what was said in a table after a state of it, or ever. It has the columns of the
 * current rows.
 */
export async function attachSaid(
  database: Database,
  local: LocalFiles,
  table: TableVersion & { table: ChangedTable },
  view: string,
  { version, undone }: KnownState = { version: -1, undone: [] },
): Promise<void> {
  const files = everSaid(table)
  const from = firstFileAfter({ files }, version)
  await attachTable(database, local, { ...table, files }, from, `${view}_rows`)
  const queries = [`SELECT ${currentColumns(table.table).join(', ')} FROM ${view}_rows`]
  for (const { by, files: gone } of undoneIn(table)) {
    if (isAmong(undone, by)) continue
    const names = { gone: `${view}_gone_${by.version}`, before: `${view}_before_${by.version}` }
    await attachTable(database, local, { ...table, files: gone }, 0, names.gone)
    await attachTable(database, local, before(table, by), 0, names.before)
    queries.push(...restored(table.table, by, names))
  }
  await database.run(`CREATE OR REPLACE VIEW ${view} AS ${queries.join(' UNION ALL ')}`)
}

/** A table as it was before an import, without what was undone before the import was. */
function before(table: TableVersion, by: UndoneImport): TableVersion {
  const wasUndone = ({ undone_at, version }: UndoneImport) =>
    undone_at < by.undone_at || (undone_at === by.undone_at && version > by.version)
  const files = everSaid(table).filter(({ version }) => version < by.version)
  const undone = undoneIn(table).map((one) => one.by)
  return withoutUndone({ table: table.table, version: by.version - 1, files }, undone.filter(wasUndone))
}

/** An outcome that no earlier row stated is withdrawn. A question that no earlier row stated is gone. */
function restored(table: ChangedTable, by: UndoneImport, names: { gone: string; before: string }): string[] {
  const at = `${literal(by.undone_at)}::TIMESTAMPTZ`
  const values: Record<string, string> = { recorded_at: at, reason: literal(by.reason) }
  const select = (said: Record<string, string>) =>
    currentColumns(table)
      .map((name) => `${said[name] ?? name} AS ${name}`)
      .join(', ')
  const again = `SELECT ${select(values)} FROM (${currentRows(table, names.before)}) SEMI JOIN ${names.gone} USING (question_id)`
  if (table === 'questions') return [again]
  const withdrawn = select({ ...values, outcome: `'open'`, resolved_at: at })
  return [
    again,
    `SELECT DISTINCT ${withdrawn} FROM ${names.gone} ANTI JOIN ${names.before} USING (question_id)`,
  ]
}
