// Agents as the operator sees them: those of the table, and those that have registered since and still wait in the inbox.
import { tableSpec } from '../../schemas/tables.ts'
import { literal } from '../duckdb.ts'
import { inboxPrefix, isInboxPath } from '../store/paths.ts'
import { columnsOf } from '../tables/columns.ts'
import { type CompactionContext, inboxRows } from '../tables/data-files.ts'
import { TableLog } from '../tables/delta-log.ts'
import { namingObject, stillPresent } from '../tables/intake.ts'
import { earliestAfter } from '../tables/recorded-at.ts'
import { attachCurrent, currentRows } from '../tables/views.ts'

const SPEC = tableSpec('agents')

export interface ListedAgent {
  agent_id: string
  name: string
  owner_id: string | null
  registered_at: Date
  retired_at: Date | null
}

/**
 * The agents of an owner, those without one (null) or all (undefined), in the order of registration. Nothing is written.
 *
 * @throws ServiceError `corrupt` for an object that is damaged or lost.
 */
export async function readAgents(
  { store, local, database }: Pick<CompactionContext, 'store' | 'local' | 'database'>,
  owner: string | null | undefined,
): Promise<ListedAgent[]> {
  // The inbox first, so that what is taken in meanwhile is in the table.
  const listed: string[] = []
  for await (const { path } of store.list(inboxPrefix('agents'))) {
    if (isInboxPath('agents', path)) listed.push(path)
  }
  const log = new TableLog(store, 'agents')
  return local.reading(async () => {
    const waiting = await stillPresent({ local }, listed)
    await log.refresh()
    const version = { ...log.current, table: 'agents' as const }
    await attachCurrent(database, local, version)
    let rows = 'agents'
    if (waiting.length > 0) {
      const paths = waiting.map(([, path]) => path)
      const inbox = inboxRows({ spec: SPEC, paths, earliest: earliestAfter(version) })
      try {
        await database.run(`CREATE OR REPLACE TEMP TABLE waiting AS ${inbox}`)
      } catch (error) {
        const objects = waiting.map(([object]) => object)
        throw await namingObject({ local, database }, 'agents', objects, error)
      }
      rows = `(FROM agents UNION ALL SELECT ${columnsOf(SPEC)} FROM waiting)`
    }
    const filter =
      owner === undefined ? '' : `WHERE owner_id ${owner === null ? 'IS NULL' : `= ${literal(owner)}`}`
    return database.rows<ListedAgent>(
      `SELECT agent_id, name, owner_id, registered_at, retired_at FROM (${currentRows('agents', rows)}) ${filter}
       ORDER BY registered_at, agent_id`,
    )
  })
}
