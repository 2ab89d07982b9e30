// Writes an operator's statements about agents: who owns them, whether they are retired, and what they are
// called. Each statement is a row that replaces the agent's earlier ones.
import { ServiceError } from '../../schemas/errors.ts'
import { DOMAIN_OWNER } from '../../schemas/names.ts'
import { literal } from '../duckdb.ts'
import type { TableVersion } from '../tables/delta.ts'
import { TableLog, assertNotBehind } from '../tables/delta-log.ts'
import { attachCurrent } from '../tables/views.ts'
import { SHOWN } from './rejected.ts'
import { type ImportContext, countOf, takeIn, takeInWaiting } from './take-in.ts'

/** The columns that statements set. */
const STATED = ['owner_id', 'retired_at', 'name', 'model_type', 'organization_name'] as const

/** The SQL of the columns that a statement sets, computed from the agent's row; it leaves the others. */
type Statement = Partial<Record<(typeof STATED)[number], string>>

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
  return say(context, agentIds, { owner_id })
}

/** The SQL of a text for each of some agents. */
const byAgent = (texts: ReadonlyMap<string, string>) =>
  `CASE agent_id ${[...texts].map(([id, text]) => `WHEN ${literal(id)} THEN ${literal(text)}`).join(' ')} END`

/**
 * Gives agents the owners that domains have proved, but those that an operator has given one.
 *
 * @throws ServiceError as `say` does.
 */
export function ownByDomain(context: ImportContext, owners: ReadonlyMap<string, string>): Promise<Said> {
  const isOpen = `owner_id IS NULL OR starts_with(owner_id, ${literal(DOMAIN_OWNER)})`
  const owner_id = `CASE WHEN ${isOpen} THEN ${byAgent(owners)} ELSE owner_id END`
  return say(context, [...owners.keys()], { owner_id })
}

/** Takes owners from agents that are not proved any more. @throws ServiceError as `say` does. */
export function disownByDomain(context: ImportContext, owners: ReadonlyMap<string, string>): Promise<Said> {
  return say(context, [...owners.keys()], { owner_id: `nullif(owner_id, ${byAgent(owners)})` })
}

/**
 * Retires agents, each from its instant on. An agent that is retired already keeps its instant.
 *
 * @throws ServiceError as `say` does.
 */
export function retire(context: ImportContext, since: ReadonlyMap<string, string>): Promise<Said> {
  const instants = [...since].map(([id, at]) => `WHEN ${literal(id)} THEN ${literal(at)}::TIMESTAMPTZ`)
  const retired_at = `coalesce(retired_at, CASE agent_id ${instants.join(' ')} END)`
  return say(context, [...since.keys()], { retired_at })
}

/** The registry's notes of retirements, which decide whether an agent may submit. */
export interface RetirementNotes {
  noteRetired: (agentId: string, at: Date) => Promise<unknown>
  noteUnretired: (agentId: string) => Promise<unknown>
}

/**
 * Retires agents now. The notes come last, because a wrong id must change nothing: until then an agent may
 * still submit.
 *
 * @throws ServiceError as `say` does.
 */
export async function retireNow(
  context: ImportContext,
  notes: RetirementNotes,
  agentIds: readonly string[],
): Promise<Said> {
  const at = context.now()
  const ids = agentIds.map((id) => id.toLowerCase())
  const said = await retire(context, new Map(ids.map((id) => [id, at.toISOString()])))
  for (const id of ids) await notes.noteRetired(id, at)
  return said
}

/**
 * Takes back that agents retire or have retired. The table comes first, because a wrong id must change
 * nothing, and again last, because a release may have written a retirement meanwhile.
 *
 * @throws ServiceError as `say` does.
 */
export async function unretireNow(
  context: ImportContext,
  notes: RetirementNotes,
  agentIds: readonly string[],
): Promise<Said> {
  const said = await unretire(context, agentIds)
  for (const id of agentIds) await notes.noteUnretired(id.toLowerCase())
  await unretire(context, agentIds)
  return said
}

/** Takes back in the table that agents are retired. @throws ServiceError as `say` does. */
export function unretire(context: ImportContext, agentIds: readonly string[]): Promise<Said> {
  return say(context, agentIds, { retired_at: 'NULL::TIMESTAMPTZ' })
}

/** Gives agents other names, by their ids. @throws ServiceError as `say` does. */
export function rename(context: ImportContext, names: ReadonlyMap<string, string>): Promise<Said> {
  const cases = [...names].map(([id, name]) => `WHEN ${literal(id.toLowerCase())} THEN ${literal(name)}`)
  return say(context, [...names.keys()], { name: `CASE agent_id ${cases.join(' ')} END` })
}

/**
 * Hides agents: takes what they said of themselves at registration. One without a name is in no list, and
 * what is published about it names nothing but its id.
 *
 * @throws ServiceError as `say` does.
 */
export function hide(context: ImportContext, agentIds: readonly string[]): Promise<Said> {
  return say(context, agentIds, { name: "''", model_type: "''", organization_name: 'NULL::VARCHAR' })
}

/**
 * Makes a statement about agents, all or nothing. Ids may repeat and be in any case. For an agent for which
 * the statement is true already nothing is written, so that a statement may be repeated. Statements that are
 * made at once follow one another, so that none replaces what it has not seen.
 *
 * @throws ServiceError `notFound` if an id is not one of a registered agent: nothing is written.
 *   `unavailable` if the store does not answer.
 */
async function say(context: ImportContext, agentIds: readonly string[], statement: Statement): Promise<Said> {
  const { database } = context
  const named = [...new Set(agentIds.map((id) => id.toLowerCase()))]
  const stated = Object.entries(statement).map(([column, sql]) => `${sql} AS ${column}`)
  const now = `${literal(context.now().toISOString())}::TIMESTAMPTZ`
  for (;;) {
    await takeInWaiting(context, ['agents'])
    const seen = await findBasis(context, named)
    await assertKnown(context, named)
    // A statement is recorded later than the registration of its agent, so that the two can be told apart.
    await database.run(
      `CREATE OR REPLACE TEMP TABLE fresh AS
       SELECT said.* FROM (
         SELECT * REPLACE (${stated.join(', ')})
         FROM (SELECT * REPLACE (greatest(${now}, registered_at + INTERVAL 1 MILLISECOND) AS recorded_at) FROM basis)
       ) said JOIN basis USING (agent_id) WHERE NOT ${same('said', 'basis')}`,
    )
    const taken = await takeIn(context, seen, 'fresh')
    if (taken) return { agents: named.length, changed: taken.rows }
  }
}

/**
 * Makes the table `basis` of the current rows of agents: one per agent that is registered. Returns the
 * version of the table that they are from.
 */
async function findBasis(
  { store, local, database, released = {} }: ImportContext,
  agentIds: readonly string[],
): Promise<TableVersion> {
  const log = new TableLog(store, 'agents')
  await log.refresh()
  const version = { ...log.current, table: 'agents' as const }
  assertNotBehind({ agents: version }, released)
  const ids = agentIds.map((id) => `(${literal(id)})`).join(', ')
  await local.reading(async () => {
    await attachCurrent(database, local, version)
    await database.run(
      `CREATE OR REPLACE TEMP TABLE basis AS FROM current_agents WHERE agent_id IN (VALUES ${ids})`,
    )
  })
  return version
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
  `(${STATED.map((column) => `${one}.${column} IS NOT DISTINCT FROM ${other}.${column}`).join(' AND ')})`
