// `fvs import`.
import { withDatabase } from '../pipeline/duckdb.ts'
import { assertEnvironment } from '../pipeline/release/state.ts'
import type { ImportKind } from '../pipeline/import/checks.ts'
import { importFile } from '../pipeline/import/import.ts'
import type { Components } from './components.ts'
import type { Report } from './output.ts'

export async function runImport(components: Components, kind: ImportKind, file: string): Promise<Report> {
  const { manifest } = await assertEnvironment(components)
  const released = manifest?.tables ?? {}
  const { rows, added, unchanged, forecastersCreated, tooLate, clockBehindMs } = await withDatabase(
    components.openDatabase,
    (database) => importFile({ ...components, database, released }, kind, file),
  )
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
