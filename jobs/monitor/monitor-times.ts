// Holds the forecasts that were settled since the last look of `fvs monitor` to the log, as far as the
// service shows them.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Database, withDatabase } from '../../pipeline/duckdb.ts'
import type { SignedCheckpoint } from '../../pipeline/proof/checkpoint.ts'
import { noteText } from '../../pipeline/proof/note.ts'
import { copyToFile } from '../../pipeline/store/object-content.ts'
import { releasePrefix } from '../../pipeline/store/paths.ts'
import type { LogReader } from '../../pipeline/transparency/log-reader.ts'
import { checkSettledTimes, isSettledFile, timesText } from '../../pipeline/transparency/settled-times.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { makeTemporaryFolder } from '../components/temporary-folder.ts'
import { type Inconsistency, checked } from './monitor-news.ts'

/** A monitor is called often, so that it copies no table. `fvs audit --from` has no such limit. */
const MOST_FILES_BYTES = 64 * 1024 * 1024

export interface Times {
  /** How many were checked and how many not, a line for each. */
  timeLines: string[]
  news: Inconsistency[]
}

/**
 * Checks the files of forecasts that the releases after `from` have written, up to `to`.
 *
 * @throws ServiceError `unavailable` if the service does not answer.
 */
export function timesSince(
  log: LogReader,
  head: SignedCheckpoint,
  from: number,
  to: number,
): Promise<Times | Inconsistency> {
  const kept = { checkpoint: noteText(head.note) }
  return checked({ entity: null, kept, found: {} }, async () => {
    if (to <= from) return { timeLines: [], news: [] }
    const { public: tables } = await log.manifest(head, to)
    const files = tables.filter(({ path, release }) => release > from && isSettledFile(path))
    const bytes = files.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
    if (bytes > MOST_FILES_BYTES)
      return unchecked(`their files have ${bytes} bytes; fvs audit --from reads them`)
    const folder = await makeTemporaryFolder('work')
    try {
      const data = log.service.at(`${log.url}/data`)
      const places: string[] = []
      for (const [number, { path, release, size_bytes, sha256 }] of files.entries()) {
        const object = releasePrefix(release) + path
        const found = await copyToFile(data, object, join(folder, `${number}.parquet`), size_bytes)
        if (!found) return unchecked(`${data.url}/${object} is not public`)
        if (found.sha256 !== sha256)
          throw new ServiceError('corrupt', `${data.url}/${object} is not the file that was logged`)
        places.push(found.location)
      }
      const open = () => Database.open({ threads: 1, memoryLimit: '512MB', directory: folder })
      const logged = await log.statement(head, to)
      const times = await withDatabase(open, (database) =>
        checkSettledTimes(
          {
            database,
            keys: log.keys,
            service: log.service,
            statementOf: (releaseNumber) => log.statement(head, releaseNumber),
            quarantinedIn: async (releaseNumber) => (await log.manifest(head, releaseNumber)).quarantined,
          },
          places,
          logged,
        ),
      )
      if (times.unreached !== null && times.bad.length === 0)
        throw new ServiceError('unavailable', times.unreached)
      const news = times.bad.map(({ detail, body, proof }): Inconsistency => {
        const found = { record: body, ...(proof !== undefined && { proof }) }
        return { type: 'inconsistent', entity: null, detail, kept, found }
      })
      return { timeLines: timesText(times), news }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
}

function unchecked(why: string): Times {
  return {
    timeLines: [`whether newly settled forecasts are backdated was not checked, since ${why}`],
    news: [],
  }
}
