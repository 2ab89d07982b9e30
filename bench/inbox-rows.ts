// Rows for a world that is there, made from its own.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Database } from '../pipeline/duckdb.ts'
import { FileStore } from '../pipeline/store/file.ts'
import { LocalFiles } from '../pipeline/store/local-files.ts'
import { inboxPath } from '../pipeline/store/paths.ts'
import { parquetOf } from '../pipeline/tables/data-files.ts'
import { currentVersions } from '../pipeline/tables/delta-log.ts'
import { attachAll } from '../pipeline/tables/views.ts'
import { type ScoredTable, tableSpec } from '../schemas/tables.ts'

/**
 * Some forecasts once more, a millisecond later and under ids of their own. `which` follows `FROM forecasts`.
 */
export const repeatedForecasts = (which: string) => `SELECT * REPLACE (
    left(forecast_id, 24) || right(md5(forecast_id), 12) AS forecast_id,
    forecast_at + INTERVAL 1 MILLISECOND AS forecast_at) FROM (FROM forecasts ${which})`

/** The outcome of one question, the other way round. */
export const CORRECTED_OUTCOME = `SELECT * REPLACE (
    CASE outcome WHEN 'yes' THEN 'no' ELSE 'yes' END AS outcome,
    recorded_at + INTERVAL 1 SECOND AS recorded_at) FROM resolutions ORDER BY question_id LIMIT 1`

/** Puts rows, given as SQL over the tables, into the inbox of a store. */
export async function putRows(root: string, table: ScoredTable, rows: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'fvs-bench-rows-'))
  try {
    const store = await FileStore.begin(root)
    using database = await Database.open({ threads: 2, memoryLimit: '4GB', directory })
    await attachAll(database, new LocalFiles(store, directory), await currentVersions(store))
    const columns = tableSpec(table).columns.map(({ name }) => name)
    const bytes = await parquetOf(
      { database, directory },
      'rows',
      `SELECT ${columns.join(', ')} FROM (${rows})`,
      122_880,
    )
    await store.put(inboxPath(table, '00000000-0000-8000-8000-00000000ffff', bytes), bytes)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
