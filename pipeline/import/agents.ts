// Writes an operator's statements about agents: who owns them, and that they are retired. Each statement is a
// row that replaces the agent's earlier ones.
import { ServiceError } from '../../schemas/errors.ts'
import { literal } from '../duckdb.ts'
import { TableLog, assertNotBehind } from '../tables/delta-log.ts'
import { lastRecordedAt } from '../tables/recorded-at.ts'
import { attachCurrent } from '../tables/views.ts'
import { SHOWN } from './read-file.ts'
import { type ImportContext, countOf, takeIn, takeInWaiting } from './take-in.ts'

/** The SQL of the columns that a statement sets, computed from the agent's row. */
interface Statement {
  owner_id: string
  retired_at: string
}

/** The number of agents in a statement, and the number for which it was not true before. */
export interface Said {
  agents: number
  changed: number
}

const SHOWN_LENGTH = 100

/** Gives agents an owner, or none (null). @throws ServiceError as `say` does. */
export function assignOwner(
  context: ImportContext,
  agentIds: readonly string[],
  owner: string | null,
): Promise<Said> {
  const owner_id = owner === null ? 'NULL::VARCHAR' : literal(owner)
  return say(context, agentIds, { owner_id, retired_at: 'retired_at' })
}

/**
 * Retires agents, each from its instant on. An agent that is retired already keeps its instant.
 *
 * @throws ServiceError as `say` does.
 */
export function retire(context: ImportContext, since: ReadonlyMap<string, string>): Promise<Said> {
  const instants = [...since].map(([id, at]) => `WHEN ${literal(id)} THEN ${literal(at)}::TIMESTAMPTZ`)
  const retired_at = `coalesce(retired_at, CASE agent_id ${instants.join(' ')} END)`
  return say(context, [...since.keys()], { owner_id: 'owner_id', retired_at })
}

/**
 * Makes a statement about agents, all or nothing. Ids may repeat and be in any case. For an agent for which
 * the statement is true already nothing is written, so that a statement may be repeated. If several are made
 * at once about the same agent, none is lost.
 *
 * @throws ServiceError `notFound` if an id is not one of a registered agent: nothing is written.
 *   `unavailable` if the store does not answer.
 */
async function say(
  context: ImportContext,
  agentIds: readonly string[],
  { owner_id, retired_at }: Statement,
): Promise<Said> {
  const { database } = context
  const named = [...new Set(agentIds.map((id) => id.toLowerCase()))]
  await takeInWaiting(context, ['agents'])
  const ids = named.map((id) => `(${literal(id)})`).join(', ')
  let last = await findBasis(context, `FROM current_agents WHERE agent_id IN (VALUES ${ids})`)
  await assertKnown(context, named)
  let changed: number | undefined
  const now = `${literal(context.now().toISOString())}::TIMESTAMPTZ`
  for (;;) {
    // A statement is recorded later than the registration of its agent, so that the two can be told apart.
    await database.run(
      `CREATE OR REPLACE TEMP TABLE fresh AS
       SELECT said.* FROM (
         SELECT * REPLACE (${owner_id} AS owner_id, ${retired_at} AS retired_at)
         FROM (SELECT * REPLACE (greatest(${now}, registered_at + INTERVAL 1 MILLISECOND) AS recorded_at) FROM basis)
       ) said JOIN current_agents known USING (agent_id) WHERE NOT ${same('said', 'known')}`,
    )
    const written = await takeIn(context, 'agents', 'fresh')
    changed ??= written
    if (written === 0) return { agents: named.length, changed }
    last = await findBasis(context, saidMeanwhile(last))
  }
}

/**
 * Makes the table `basis` from the current table: the rows that a statement starts from, one per agent.
 * Returns when the last row of the table was recorded.
 */
async function findBasis(
  { store, local, database, released = {} }: ImportContext,
  select: string,
): Promise<Date> {
  const log = new TableLog(store, 'agents')
  await log.refresh()
  const version = { ...log.current, table: 'agents' as const }
  assertNotBehind({ agents: version }, released)
  await local.reading(async () => {
    await attachCurrent(database, local, version)
    await database.run(`CREATE OR REPLACE TEMP TABLE basis AS ${select}`)
  })
  return lastRecordedAt(version) ?? new Date(0)
}

async function assertKnown(context: ImportContext, named: readonly string[]): Promise<void> {
  if ((await countOf(context, 'basis')) === named.length) return
  const known = await context.database.rows<{ agent_id: string }>('SELECT agent_id FROM basis')
  const registered = new Set(known.map(({ agent_id }) => agent_id))
  const unknown = named.filter((id) => !registered.has(id))
  const shown = unknown.slice(0, SHOWN).map((id) => JSON.stringify(id.slice(0, SHOWN_LENGTH)))
  const rest = unknown.length > SHOWN ? ` and ${unknown.length - SHOWN} more` : ''
  throw new ServiceError(
    'notFound',
    `no agent is registered by the id ${shown.join(', ')}${rest}; nothing was written`,
  )
}

const same = (one: string, other: string) =>
  `(${one}.owner_id IS NOT DISTINCT FROM ${other}.owner_id AND ${one}.retired_at IS NOT DISTINCT FROM ${other}.retired_at)`

/**
 * Finds the statements of others that `fresh` replaces unseen, because they were made after its basis was
 * read and before it was taken in. Grain: one row per agent with such statements, the last.
 */
function saidMeanwhile(since: Date): string {
  const later = `agents.recorded_at > ${literal(since.toISOString())}::TIMESTAMPTZ`
  return `SELECT agents.* FROM agents JOIN fresh USING (agent_id) JOIN (
      SELECT agent_id, max(agents.recorded_at) AS said_at FROM agents JOIN fresh USING (agent_id)
      WHERE ${later} AND ${same('agents', 'fresh')} GROUP BY agent_id
    ) own USING (agent_id)
    WHERE ${later} AND agents.recorded_at <= own.said_at AND NOT ${same('agents', 'fresh')}
    QUALIFY row_number() OVER (PARTITION BY agent_id ORDER BY agents.recorded_at DESC, agents.owner_id, agents.retired_at) = 1`
}
