// More forecasts for a world that is there: some of its own once more, a millisecond later and under ids of
// their own.
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
import { tableSpec } from '../schemas/tables.ts'

/**
 * Puts them into the inbox of the store.
 *
 * @param which follows `FROM forecasts` in SQL: a condition, an order, a limit.
 */
export async function repeatForecasts(root: string, which: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'fvs-bench-repeat-'))
  try {
    const store = await FileStore.begin(root)
    using database = await Database.open({ threads: 2, memoryLimit: '4GB', directory })
    await attachAll(database, new LocalFiles(store, directory), await currentVersions(store))
    const columns = tableSpec('forecasts').columns.map(({ name }) => {
      if (name === 'forecast_id') return `left(forecast_id, 24) || right(md5(forecast_id), 12) AS forecast_id`
      return name === 'forecast_at' ? `forecast_at + INTERVAL 1 MILLISECOND AS forecast_at` : name
    })
    const rows = `SELECT ${columns.join(', ')} FROM (FROM forecasts ${which})`
    const bytes = await parquetOf({ database, directory }, 'repeated', rows, 122_880)
    await store.put(inboxPath('forecasts', '00000000-0000-8000-8000-00000000ffff', bytes), bytes)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
