// Agents as the operator sees them: the agents of the table, and later registrations that still wait in the
// inbox.
import { literal } from '../duckdb.ts'
import type { CompactionContext } from '../tables/data-files.ts'
import { TableLog } from '../tables/delta-log.ts'
import { attachCurrent } from '../tables/views.ts'
import { attachWithWaiting } from './waiting.ts'

export interface ListedAgent {
  agent_id: string
  name: string
  owner_id: string | null
  registered_at: Date
  retired_at: Date | null
}

/**
 * Returns the agents of an owner, the agents without one (null) or all agents (undefined), in the order of
 * registration. Writes nothing.
 *
 * @throws ServiceError `corrupt` for an object that is damaged or lost.
 */
export async function readAgents(
  context: Pick<CompactionContext, 'store' | 'local' | 'database'>,
  owner: string | null | undefined,
): Promise<ListedAgent[]> {
  const { store, local, database } = context
  const log = new TableLog(store, 'agents')
  return local.reading(async () => {
    await attachWithWaiting(context, ['agents'], async () => {
      await log.refresh()
      const agents = { ...log.current, table: 'agents' as const }
      await attachCurrent(database, local, agents)
      return { agents }
    })
    const filter =
      owner === undefined ? '' : `WHERE owner_id ${owner === null ? 'IS NULL' : `= ${literal(owner)}`}`
    return database.rows<ListedAgent>(
      `SELECT agent_id, name, owner_id, registered_at, retired_at FROM current_agents ${filter}
       ORDER BY registered_at, agent_id`,
    )
  })
}
