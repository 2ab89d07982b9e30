// Checks the tables that a release was made from.
import type { PipelineComponents } from '../components.ts'
import type { ScoredTable } from '../../schemas/tables.ts'
import { versionsOf } from '../release/plan.ts'
import { localPath } from '../tables/delta-log.ts'
import type { TableVersion, TablesRead } from '../tables/delta.ts'
import { type AuditReport, unlessCorrupt } from './report.ts'

/**
 * Checks every commit and every data file of the tables that the release was made from. Returns the tables,
 * or undefined if they are damaged, so that nothing can be derived from them.
 */
export async function checkTables(
  { store, local }: Pick<PipelineComponents, 'store' | 'local'>,
  read: TablesRead,
  report: AuditReport,
): Promise<Record<ScoredTable, TableVersion> | undefined> {
  const versions = await unlessCorrupt(versionsOf(store, read), report)
  if (versions) {
    const faults = report.faults.length
    for (const { table, files } of Object.values(versions)) {
      for (const file of files) {
        report.data_files_checked += 1
        await unlessCorrupt(localPath(local, table, file), report)
      }
    }
    if (report.faults.length === faults) return versions
  }
  report.derived = false
  report.notes.push('the tables are damaged, so the numbers were not derived again')
  return undefined
}
