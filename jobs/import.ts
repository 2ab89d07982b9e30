// `fvs import`.
import { withDatabase } from '../pipeline/duckdb.ts'
import { assertEnvironment } from '../pipeline/release/state.ts'
import type { ImportKind } from '../pipeline/import/checks.ts'
import { importFile } from '../pipeline/import/import.ts'
import type { Components } from './components.ts'
import type { Report } from './output.ts'

export async function runImport(components: Components, kind: ImportKind, file: string): Promise<Report> {
  await assertEnvironment(components)
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
