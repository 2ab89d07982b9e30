// Takes the name of a person back.
import type { PipelineComponents } from '../components.ts'
import { literal } from '../duckdb.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { TableLog } from '../tables/delta-log.ts'
import { attachTable } from '../tables/views.ts'
import { type Erasure, PeopleNames, changeNames } from './names.ts'

type EraseContext = Pick<PipelineComponents, 'store' | 'local' | 'database' | 'now'>

export interface ErasedName {
  erasure: Erasure
  /** Whether the name was there until now. */
  wasNamed: boolean
}

/**
 * Takes a name back: no object has it any more, and no import brings it again. An erasure that was made
 * before keeps its time and its reason.
 *
 * @throws ServiceError `notFound` if the store knows no such person.
 */
export async function eraseName(context: EraseContext, userId: string, reason: string): Promise<ErasedName> {
  const { store, local, database, now } = context
  const names = new PeopleNames(store)
  await names.refresh()
  const wasNamed = names.nameOf(userId) !== null
  const isKnown = wasNamed || names.erasureOf(userId) !== undefined
  if (!isKnown && !(await local.reading(() => isInTable({ store, local, database }, userId)))) {
    throw new ServiceError('notFound', `the store knows no person ${userId}`)
  }
  const erased = { erased_at: now().toISOString(), reason }
  await changeNames(store, new Map([[userId, { erased }]]))
  await names.refresh()
  return { erasure: names.erasureOf(userId)!, wasNamed }
}

async function isInTable(
  { store, local, database }: Pick<EraseContext, 'store' | 'local' | 'database'>,
  userId: string,
): Promise<boolean> {
  const log = new TableLog(store, 'forecasters')
  await log.refresh()
  await attachTable(database, local, log.current)
  const rows = await database.rows(`SELECT 1 FROM forecasters WHERE user_id = ${literal(userId)} LIMIT 1`)
  return rows.length > 0
}
