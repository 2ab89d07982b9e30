// `fvs import`.
import { withDatabase } from '../pipeline/duckdb.ts'
import { assertOwnStore } from '../pipeline/own-store.ts'
import type { ImportKind } from '../pipeline/sql/import.ts'
import { importFile } from '../pipeline/tables/import.ts'
import type { Components } from './components.ts'
import type { Report } from './output.ts'

export async function runImport(components: Components, kind: ImportKind, file: string): Promise<Report> {
  await assertOwnStore(components)
  const { rows, added, unchanged, forecastersCreated } = await withDatabase(
    components.openDatabase,
    (database) => importFile({ ...components, database }, kind, file),
  )
  const created = forecastersCreated > 0 ? `, ${forecastersCreated} forecasters met for the first time` : ''
  return {
    ok: true,
    json: { kind, rows, added, unchanged, forecasters_created: forecastersCreated },
    text: `${kind}: ${added} of ${rows} rows added, ${unchanged} known already${created}`,
  }
}
