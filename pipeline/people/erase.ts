// Takes the name of a person back.
import type { PipelineComponents } from '../components.ts'
import { type Database, literal, parquet } from '../duckdb.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { tablePath } from '../store/paths.ts'
import { TableLog, localPath } from '../tables/delta-log.ts'
import { attachTable } from '../tables/views.ts'
import { copyNames, hasNames, NAME } from './copied-names.ts'
import { type Erasure, PeopleNames, changeNames } from './names.ts'

type EraseContext = Pick<PipelineComponents, 'store' | 'local' | 'database' | 'now'>

export interface ErasedName {
  erasure: Erasure
  /** Whether the name was there until now. */
  wasNamed: boolean
  /** Data files of earlier versions of the service that have the name. They never change. */
  dataFiles: string[]
}

/**
 * Takes a name back: no object that the service reads has it any more, and no import brings it again. An
 * erasure that was made before keeps its time and its reason.
 *
 * @throws ServiceError `notFound` if the store knows no such person.
 */
export async function eraseName(context: EraseContext, userId: string, reason: string): Promise<ErasedName> {
  const { store, local, database, now } = context
  return local.reading(async () => {
    await copyNames(context, (work) => work(database))
    const log = new TableLog(store, 'forecasters')
    await log.refresh()
    const names = new PeopleNames(store)
    await names.refresh()
    const wasNamed = names.nameOf(userId) !== null
    const isKnown = wasNamed || names.erasureOf(userId) !== undefined
    await attachTable(database, local, log.current)
    const of = `user_id = ${literal(userId)}`
    if (!isKnown && (await database.rows(`SELECT 1 FROM forecasters WHERE ${of} LIMIT 1`)).length === 0) {
      throw new ServiceError('notFound', `the store knows no person ${userId}`)
    }
    const erased = { erased_at: now().toISOString(), reason }
    await changeNames(store, new Map([[userId, { erased }]]))
    await names.refresh()
    const dataFiles: string[] = []
    for (const file of log.current.files.filter(hasNames)) {
      const path = await localPath(local, 'forecasters', file)
      if (await isNamedIn(database, path, of)) dataFiles.push(tablePath('forecasters', file.path))
    }
    return { erasure: names.erasureOf(userId)!, wasNamed, dataFiles }
  })
}

async function isNamedIn(database: Database, path: string, of: string): Promise<boolean> {
  const rows = await database.rows(
    `SELECT 1 FROM ${parquet([path])} WHERE ${of} AND ${NAME} IS NOT NULL LIMIT 1`,
  )
  return rows.length > 0
}
