// Sorts the forecasts of a store by DuckDB alone, as a peer of a release, which has to sort them too. Prints
// what it took as JSON.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Database } from '../pipeline/duckdb.ts'
import { FileStore } from '../pipeline/store/file.ts'
import { LocalFiles } from '../pipeline/store/local-files.ts'
import { currentVersions } from '../pipeline/tables/delta-log.ts'
import { attachAll } from '../pipeline/tables/views.ts'

// Arguments: the folder of the store, DuckDB's threads, its memory.
const [root, threads = '2', memoryLimit = '1GB'] = process.argv.slice(2)
const directory = await mkdtemp(join(tmpdir(), 'fvs-bench-sort-'))
try {
  const started = performance.now()
  const store = await FileStore.begin(root!)
  using database = await Database.open({ threads: Number(threads), memoryLimit, directory })
  await attachAll(database, new LocalFiles(store, directory), await currentVersions(store))
  await database.run(
    `CREATE TEMP TABLE sorted AS SELECT question_id, entity_id, forecast_at, probability FROM forecasts
     ORDER BY question_id, forecast_at, entity_id`,
  )
  const { user, system } = process.cpuUsage()
  const figures = {
    seconds: (performance.now() - started) / 1000,
    cpuSeconds: (user + system) / 1e6,
    peakBytes: process.resourceUsage().maxRSS * 1024,
  }
  process.stdout.write(`${JSON.stringify(figures)}\n`)
} finally {
  await rm(directory, { recursive: true, force: true })
}
