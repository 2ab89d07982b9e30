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
import { SHOWN_LENGTH } from '../../schemas/wording.ts'

/** The columns that statements set. */
const STATED = ['owner_id', 'retired_at', 'name', 'model_type', 'organization_name'] as const

/** The SQL of the columns that a statement sets, computed from the agent's row; it leaves the others. */
type Statement = Partial<Record<(typeof STATED)[number], string>>

/** The number of agents in a statement, and the number for which it was not true before. */
export interface StatedCounts {
  agents: number
  changed: number
}

/**
 * Gives agents an owner, or none (null).
 *
 * @param note ends what domains may prove of them.
 * @throws ServiceError as `say` does.
 */
export function assignOwner(
  context: ImportContext,
  agentIds: readonly string[],
  owner: string | null,
  note?: () => Promise<unknown>,
): Promise<StatedCounts> {
  const owner_id = owner === null ? 'NULL::VARCHAR' : literal(owner)
  return say(context, agentIds, { owner_id }, note)
}

/** The SQL of a text for each of some agents. */
const byAgent = (texts: ReadonlyMap<string, string>) =>
  `CASE agent_id ${[...texts].map(([id, text]) => `WHEN ${literal(id)} THEN ${literal(text)}`).join(' ')} END`

/**
 * Gives agents the owners that domains have proved, but those that an operator has given one.
 *
 * @throws ServiceError as `sayAsked` does.
 */
export function ownByDomain(context: ImportContext, proved: ReadRequests): Promise<StatedCounts> {
  const isOpen = `owner_id IS NULL OR starts_with(owner_id, ${literal(DOMAIN_OWNER)})`
  return sayAsked(context, proved, (owners) => ({
    owner_id: `CASE WHEN ${isOpen} THEN ${byAgent(owners)} ELSE owner_id END`,
  }))
}

/** Takes owners from agents that are not proved any more. @throws ServiceError as `sayAsked` does. */
export function disownByDomain(context: ImportContext, ended: ReadRequests): Promise<StatedCounts> {
  return sayAsked(context, ended, (owners) => ({ owner_id: `nullif(owner_id, ${byAgent(owners)})` }))
}

/**
 * Retires agents, each from its instant on. An agent that is retired already keeps its instant.
 *
 * @throws ServiceError as `say` does.
 */
export function retire(context: ImportContext, since: ReadonlyMap<string, string>): Promise<StatedCounts> {
  return say(context, [...since.keys()], retiredSince(since))
}

const retiredSince = (since: ReadonlyMap<string, string>): Statement => ({
  retired_at: `coalesce(retired_at, (${byAgent(since)})::TIMESTAMPTZ)`,
})

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
): Promise<StatedCounts> {
  const at = context.now()
  const ids = agentIds.map((id) => id.toLowerCase())
  const counts = await retire(context, new Map(ids.map((id) => [id, at.toISOString()])))
  for (const id of ids) await notes.noteRetired(id, at)
  return counts
}

/** Takes back that agents retire or have retired. @throws ServiceError as `say` does. */
export function unretireNow(
  context: ImportContext,
  notes: RetirementNotes,
  agentIds: readonly string[],
): Promise<StatedCounts> {
  return say(context, agentIds, { retired_at: 'NULL::TIMESTAMPTZ' }, async () => {
    for (const id of agentIds) await notes.noteUnretired(id.toLowerCase())
  })
}

/** Gives an agent another name. @throws ServiceError as `say` does. */
export function rename(
  context: ImportContext,
  agentId: string,
  name: string,
  note: () => Promise<unknown>,
): Promise<StatedCounts> {
  return say(context, [agentId], { name: literal(name) }, note)
}

/**
 * Hides an agent: takes what it said of itself at registration. One without a name is in no list, and what is
 * published about it names nothing but its id.
 *
 * @throws ServiceError as `say` does.
 */
export function hide(
  context: ImportContext,
  agentId: string,
  note: () => Promise<unknown>,
): Promise<StatedCounts> {
  return say(context, [agentId], { name: "''", model_type: "''", organization_name: 'NULL::VARCHAR' }, note)
}

/** Writes the names that agents have asked for. @throws ServiceError as `sayAsked` does. */
export function renameAsAsked(context: ImportContext, readRequests: ReadRequests): Promise<StatedCounts> {
  return sayAsked(context, readRequests, (names) => ({ name: byAgent(names) }))
}

/** Writes the retirements that agents have asked for. @throws ServiceError as `sayAsked` does. */
export function retireAsAsked(context: ImportContext, readRequests: ReadRequests): Promise<StatedCounts> {
  return sayAsked(context, readRequests, retiredSince)
}

/**
 * Makes a statement about agents, all or nothing. Ids may repeat and be in any case. For an agent for which
 * the statement is true already nothing is written, so that a statement may be repeated. Statements that are
 * made at once follow one another, so that none replaces what it has not seen.
 *
 * A statement with a note must not be replaced by what agents have asked for. The note comes before the rows,
 * and a row is written even where the statement is true already: so a run that has read what was asked for
 * before the note finds the table changed, and reads again.
 *
 * @throws ServiceError `notFound` if an id is not one of a registered agent: nothing is written.
 *   `unavailable` if the store does not answer.
 */
function say(
  context: ImportContext,
  agentIds: readonly string[],
  statement: Statement,
  note?: () => Promise<unknown>,
): Promise<StatedCounts> {
  return write(context, async (basis) => {
    await assertKnown(context, await basis(agentIds))
    await note?.()
    return { statement, isRepeated: note !== undefined }
  })
}

/** Reads what agents have asked for and still stands, by their ids. */
export type ReadRequests = () => Promise<ReadonlyMap<string, string>>

/**
 * Writes what agents have asked for, also where it is true already, for the reason that a note has. It is
 * read after the version of the table on which the rows are based: a run that reads more writes later, and
 * one that has read less finds the table changed. Agents that the table does not have are left out, because
 * one whose registration was moved aside must not keep releases from being made.
 *
 * @throws ServiceError `unavailable` if the store does not answer.
 */
function sayAsked(
  context: ImportContext,
  readRequests: ReadRequests,
  statementOf: (requests: ReadonlyMap<string, string>) => Statement,
): Promise<StatedCounts> {
  return write(context, async (basis) => {
    const found = await readRequests()
    await basis([...found.keys()])
    return { statement: found.size === 0 ? {} : statementOf(found), isRepeated: true }
  })
}

/**
 * Writes the rows that a statement makes of the rows in `basis`, unless another command has written to the
 * table meanwhile: then everything is read again.
 *
 * @param read makes `basis` of the rows of some agents, and returns the statement about them.
 */
async function write(
  context: ImportContext,
  read: (
    basis: (agentIds: readonly string[]) => Promise<readonly string[]>,
  ) => Promise<{ statement: Statement; isRepeated: boolean }>,
): Promise<StatedCounts> {
  const { database } = context
  const now = `${literal(context.now().toISOString())}::TIMESTAMPTZ`
  for (;;) {
    await takeInWaiting(context, ['agents'])
    const seen = await currentVersion(context)
    const { statement, isRepeated } = await read((agentIds) => makeBasis(context, seen, agentIds))
    const stated = Object.entries(statement).map(([column, sql]) => `${sql} AS ${column}`)
    const statedRows = stated.length === 0 ? 'basis' : `(SELECT * REPLACE (${stated.join(', ')}) FROM basis)`
    // A statement is recorded later than the registration of its agent, so that the two can be told apart.
    await database.run(
      `CREATE OR REPLACE TEMP TABLE stated AS
       SELECT said.* REPLACE (greatest(${now}, said.registered_at + INTERVAL 1 MILLISECOND) AS recorded_at),
         NOT ${same('said', 'basis')} AS is_changed
       FROM ${statedRows} said JOIN basis USING (agent_id);
       CREATE OR REPLACE TEMP TABLE fresh AS FROM stated WHERE is_changed OR ${isRepeated}`,
    )
    const [agents, changed] = [
      await countOf(context, 'basis'),
      await countOf(context, '(FROM stated WHERE is_changed)'),
    ]
    if (await takeIn(context, seen, 'fresh')) return { agents, changed }
  }
}

async function currentVersion({
  store,
  released = {},
}: ImportContext): Promise<TableVersion & { table: 'agents' }> {
  const log = new TableLog(store, 'agents')
  await log.refresh()
  const version = { ...log.current, table: 'agents' as const }
  assertNotBehind({ agents: version }, released)
  return version
}

/** Makes the table `basis` of the rows of registered agents. Returns the ids, once each. */
async function makeBasis(
  { local, database }: ImportContext,
  version: TableVersion & { table: 'agents' },
  agentIds: readonly string[],
): Promise<readonly string[]> {
  const named = [...new Set(agentIds.map((id) => id.toLowerCase()))]
  const ids = named.length === 0 ? '(NULL)' : named.map((id) => `(${literal(id)})`).join(', ')
  await local.reading(async () => {
    await attachCurrent(database, local, version)
    await database.run(
      `CREATE OR REPLACE TEMP TABLE basis AS FROM current_agents WHERE agent_id IN (VALUES ${ids})`,
    )
  })
  return named
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
