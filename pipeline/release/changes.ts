// Tells whether a new release would differ from the last one.
import pMap from 'p-map'
import type { PipelineComponents } from '../components.ts'
import type { QuarantinedObject, ReleaseManifest } from '../../schemas/manifests.ts'
import { SCORED_TABLES, type ScoredTable, type TableName } from '../../schemas/tables.ts'
import { withDatabase } from '../duckdb.ts'
import { snapshotDate } from './read.ts'
import { canonical } from '../proof/canonical.ts'
import { deltaLogPath, inboxPrefix, intakePath, isInboxPath } from '../store/paths.ts'
import type { Store } from '../store/store.ts'
import { firstFileAfter } from '../tables/delta-log.ts'
import type { LeftOut, TableVersion } from '../tables/delta.ts'
import { attachTable } from '../tables/views.ts'

/** The inputs of the next release. */
export type NextRelease = Pick<ReleaseManifest, 'as_of' | 'engines' | 'methodology_version'> &
  LeftOut & {
    quarantined: readonly QuarantinedObject[]
    tables: Record<ScoredTable, number>
  }

type ChangesContext = Pick<PipelineComponents, 'openDatabase' | 'local'>

/**
 * Whether a release from these versions of the tables would differ. Registrations alone are no change, since
 * an agent is in no release before its first forecast.
 */
export async function hasChanged(
  context: ChangesContext,
  last: ReleaseManifest,
  next: NextRelease,
  versions: Record<ScoredTable, TableVersion>,
): Promise<boolean> {
  if (!isAlike(last, next)) return true
  const changed = SCORED_TABLES.filter((name) => last.tables[name] !== next.tables[name])
  if (changed.some((name) => name !== 'agents')) return true
  return changed.length > 0 && hasNewsOfAgents(context, versions, last.tables['agents'])
}

/**
 * Whether rows after a version of the table of agents may change a release: statements, which may decide who
 * is first of an owner, and registrations of agents that have made a forecast.
 */
function hasNewsOfAgents(
  { openDatabase, local }: ChangesContext,
  { agents, forecasts }: Record<ScoredTable, TableVersion>,
  last: number | undefined,
): Promise<boolean> {
  return withDatabase(openDatabase, (database) =>
    local.reading(async () => {
      await attachTable(database, local, agents, firstFileAfter(agents, last), 'fresh_agents')
      await attachTable(database, local, forecasts)
      const found = await database.rows(
        `SELECT 1 AS one FROM fresh_agents WHERE recorded_at <> registered_at
           OR agent_id IN (SELECT entity_id FROM forecasts WHERE entity_type = 'agent') LIMIT 1`,
      )
      return found.length > 0
    }),
  )
}

/** Whether all inputs but the tables are the same. */
function isAlike(last: ReleaseManifest, next: Omit<NextRelease, 'tables'>): boolean {
  return !changesByTime(last, next.as_of) && Buffer.compare(restOf(last), restOf(next)) === 0
}

/** The inputs beside the tables. A new day counts as a change, so that each day has its own release. */
function restOf(inputs: Omit<NextRelease, 'tables'>): Uint8Array {
  const { as_of, engines, methodology_version, quarantined, undone_imports, erased_people } = inputs
  const day = snapshotDate(as_of)
  return canonical({ day, engines, methodology_version, quarantined, undone_imports, erased_people })
}

/**
 * Whether time alone has changed something since: a question has settled, an outcome has become known, or an
 * agent has retired.
 */
function changesByTime({ next_change_at: at }: ReleaseManifest, asOf: string): boolean {
  return typeof at === 'string' && Date.parse(at) <= Date.parse(asOf)
}

/**
 * Returns true if there is nothing to release: no release is begun, nothing waits in the inbox, no version
 * has an intake without being made, and the last release has read every commit of the tables. Takes three
 * requests a table, however long the logs are. Objects that another run is taking in stay in the inbox until
 * it commits them.
 */
export async function nothingToRelease(
  store: Store,
  last: ReleaseManifest,
  next: Omit<NextRelease, 'tables'>,
): Promise<boolean> {
  if (!isAlike(last, next)) return false
  const quiet = await pMap(SCORED_TABLES, async (table) => {
    const version = (last.tables[table] ?? -1) + 1
    const [commit, intake, waits] = await Promise.all([
      store.get(deltaLogPath(table, version)),
      store.range(intakePath(table, version), 0, 1),
      hasWaiting(store, table, 1),
    ])
    return !commit && !intake && !waits
  })
  return quiet.every((isSo) => isSo)
}

/** Whether at least this many objects wait to be taken in. */
export async function hasWaiting(store: Store, table: TableName, count: number): Promise<boolean> {
  let waiting = 0
  for await (const { path } of store.list(inboxPrefix(table))) {
    if (isInboxPath(table, path)) waiting += 1
    if (waiting >= count) return true
  }
  return false
}
