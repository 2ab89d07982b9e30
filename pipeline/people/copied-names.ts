// Copies the names that the tables of earlier versions of the service have, once. The data files keep them,
// since they never change; nobody reads them there any more.
import { z } from 'zod'
import { instant } from '../../schemas/values.ts'
import { tableSpec } from '../../schemas/tables.ts'
import type { PipelineComponents } from '../components.ts'
import { type Database, parquet } from '../duckdb.ts'
import { NAMES_COPIED_PATH } from '../store/paths.ts'
import { readRecord, recordBytes } from '../store/records.ts'
import { TableLog, localPaths } from '../tables/delta-log.ts'
import { type DataFile, statisticsOf } from '../tables/delta.ts'
import { undoneImports, withoutUndone } from '../tables/undone.ts'
import { type NameChange, changeNames } from './names.ts'

type CopyContext = Pick<PipelineComponents, 'store' | 'local' | 'now'>
type WithDatabase = <T>(work: (database: Database) => Promise<T>) => Promise<T>

/** The column of the names. */
export const NAME = tableSpec('forecasters').dropped![0]!

/** Whether a data file has a name. */
export function hasNames(file: Pick<DataFile, 'stats'>): boolean {
  return NAME in statisticsOf(file).minValues
}

/**
 * Copies the names of an older store, unless that was done. Any number of processes may do it at once: none
 * replaces a name that is there already, or brings one back.
 */
export async function copyNames({ store, local, now }: CopyContext, onDatabase: WithDatabase): Promise<void> {
  if (await readRecord(store, NAMES_COPIED_PATH, z.strictObject({ copied_at: instant }))) return
  const log = new TableLog(store, 'forecasters')
  await log.refresh()
  // A store without a table may be one that nobody has begun; it has no names.
  if (log.current.version < 0) return
  const { files } = withoutUndone(log.current, await undoneImports(store))
  if (files.some(hasNames)) {
    const names = await local.reading(async () => {
      const paths = await localPaths(local, { table: 'forecasters', files })
      return onDatabase((database) => namesIn(database, paths))
    })
    await changeNames(store, names, { mayReplace: false })
  }
  await store.put(NAMES_COPIED_PATH, recordBytes(NAMES_COPIED_PATH, { copied_at: now().toISOString() }))
}

/** Reads the last name of each person. Of rows of one instant that counts whose name sorts last. */
async function namesIn(database: Database, paths: readonly string[]): Promise<Map<string, NameChange>> {
  const rows = await database.rows<{ user_id: string; name: string | null }>(
    `SELECT user_id, ${NAME} AS name FROM ${parquet(paths, true)}
     QUALIFY row_number() OVER (PARTITION BY user_id ORDER BY recorded_at DESC, ${NAME} DESC NULLS LAST) = 1`,
  )
  return new Map(rows.flatMap(({ user_id, name }) => (name === null ? [] : [[user_id, { name }] as const])))
}
