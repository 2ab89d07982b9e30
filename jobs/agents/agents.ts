// `fvs agents`.
import { randomBytes } from 'node:crypto'
import { createInvitation } from '../../pipeline/access/invitations.ts'
import { endClaims } from '../../pipeline/access/owner-claims.ts'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { type ListedAgent, readAgents } from '../../pipeline/import/agent-list.ts'
import {
  type StatedCounts,
  assignOwner,
  hide,
  rename,
  retireNow,
  unretireNow,
} from '../../pipeline/import/agents.ts'
import { moderationPath } from '../../pipeline/store/paths.ts'
import { recordBytes } from '../../pipeline/store/records.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { DOMAIN_OWNER, name } from '../../schemas/names.ts'
import { WORDED } from '../../schemas/wording.ts'
import type { Components } from '../components/components.ts'
import { KEEP_IT, type Report } from '../command-line/output.ts'
import { parseOwner } from '../command-line/owner-option.ts'
import { wholeNumber } from '../command-line/arguments.ts'
import { type StoreOptions, onStore, program, storeCommand } from '../command-line/program.ts'
import { onTable } from './agents-table.ts'
import { internet, proveOwners } from './prove-owners.ts'

export function addAgents(): void {
  const agents = program
    .command('agents')
    .description('Say who answers for agents, list and retire them, end their keys.')

  storeCommand('assign', 'Say who answers for agents, from the next release on, all or nothing.', agents)
    .argument('<agent_id...>', 'their ids')
    .requiredOption('--owner <name>', 'who answers for them')
    .option('--no-owner', 'nobody does')
    .action((ids: string[], options: StoreOptions & Required<OwnerOption>) =>
      onStore(options, 'writes', (components) => assignAgents(components, ids, options)),
    )

  storeCommand('list', 'List agents in the order of registration, also those of no release yet.', agents)
    .option('--owner <name>', 'only those of this owner')
    .option('--no-owner', 'only those without an owner')
    .action((options: StoreOptions & OwnerOption) =>
      onStore(options, 'reads', (components) => listAgents(components, options)),
    )

  storeCommand('prove', 'Look at the domains that agents claim as their owners.', agents).action(
    (options: StoreOptions) =>
      onStore(options, 'writes', (components) => proveOwners(components, internet())),
  )

  storeCommand('retire', 'Retire agents, from the next release on, all or nothing.', agents)
    .argument('<agent_id...>', 'their ids')
    .action((ids: string[], options: StoreOptions) =>
      onStore(options, 'writes', (components) => retireAgents(components, ids)),
    )

  storeCommand('unretire', 'Take back that agents retire or have retired, from the next release on.', agents)
    .argument('<agent_id...>', 'their ids')
    .action((ids: string[], options: StoreOptions) =>
      onStore(options, 'writes', (components) => unretireAgents(components, ids)),
    )

  storeCommand('rename', 'Give an agent another name, from the next release on.', agents)
    .argument('<agent_id>', 'its id')
    .argument('<name>', 'its name')
    .requiredOption('--reason <text>', 'why, for your records')
    .action((id: string, called: string, options: StoreOptions & ReasonOption) =>
      onStore(options, 'writes', (components) => renameAgent(components, id, called, options)),
    )

  storeCommand('hide', 'Take an agent out of every list, and its name out of every page.', agents)
    .argument('<agent_id>', 'its id')
    .requiredOption('--reason <text>', 'why, for your records')
    .action((id: string, options: StoreOptions & ReasonOption) =>
      onStore(options, 'writes', (components) => hideAgent(components, id, options)),
    )

  storeCommand('invite', 'Print codes that each let one agent register, once.', agents)
    .option('--count <number>', 'how many', wholeNumber, 1)
    .action((options: StoreOptions & InviteOptions) =>
      onStore(options, 'begins', (components) => inviteAgents(components, options)),
    )

  storeCommand('reset-key', 'End every key of an agent, whoever made it, and print a new one, once.', agents)
    .argument('<agent_id>', 'its id')
    .action((id: string, options: StoreOptions) =>
      onStore(options, 'writes', (components) => resetKey(components, id)),
    )
}

export interface OwnerOption {
  /** False means no owner. */
  owner?: string | false
}

export interface InviteOptions {
  count: number
}

const KEEP_THEM = 'Keep them: they are not shown again. Each registers one agent, as invitation in the body.'

export async function assignAgents(
  components: Components,
  agentIds: readonly string[],
  { owner }: Required<OwnerOption>,
): Promise<Report> {
  const owner_id = owner === false ? null : parseOwner(owner)
  if (owner_id?.startsWith(DOMAIN_OWNER)) {
    throw new ServiceError('invalid', `--owner must not begin with ${DOMAIN_OWNER}: domains prove those`)
  }
  const note = () => endClaims(components.store, agentIds, components.now())
  const written = await onTable(components, (context) => assignOwner(context, agentIds, owner_id, note))
  return agentReport(
    written,
    { owner_id },
    owner_id === null ? 'without an owner' : `of the owner ${owner_id}`,
  )
}

export async function retireAgents(components: Components, agentIds: readonly string[]): Promise<Report> {
  const { registry } = components
  const written = await onTable(components, (context) => retireNow(context, registry, agentIds))
  return agentReport(written, {}, 'retired')
}

/** Takes back the retirement of agents. */
export async function unretireAgents(components: Components, agentIds: readonly string[]): Promise<Report> {
  const { registry } = components
  const written = await onTable(components, (context) => unretireNow(context, registry, agentIds))
  return agentReport(written, {}, 'not retired')
}

export interface ReasonOption {
  reason: string
}

/** Gives an agent another name, even if it is hidden. */
export async function renameAgent(
  components: Components,
  agentId: string,
  called: string,
  { reason }: ReasonOption,
): Promise<Report> {
  const parsed = name.safeParse(called, WORDED)
  if (!parsed.success) {
    throw new ServiceError('invalid', `the name ${JSON.stringify(called)} ${parsed.error.issues[0]!.message}`)
  }
  const note = noteOf(components, agentId, { act: 'renamed', name: parsed.data, reason })
  const written = await onTable(components, (context) => rename(context, agentId, parsed.data, note))
  return agentReport(written, { name: parsed.data }, 'of this name')
}

/** Hides an agent: it is in no list and no page names it. Its record stays under its id. */
export async function hideAgent(
  components: Components,
  agentId: string,
  { reason }: ReasonOption,
): Promise<Report> {
  const note = noteOf(components, agentId, { act: 'hidden', reason })
  const written = await onTable(components, (context) => hide(context, agentId, note))
  return agentReport(written, {}, 'hidden')
}

/** Returns a function that records the operator's reason. Called again, it writes the same. */
function noteOf({ store, now }: Components, agentId: string, statement: object): () => Promise<void> {
  const agent_id = agentId.toLowerCase()
  const at = now()
  const path = moderationPath(agent_id, at.getTime())
  const bytes = recordBytes(path, { agent_id, at: at.toISOString(), ...statement })
  return () => store.put(path, bytes)
}

/** Creates invitations, each to register one agent, and prints their codes. */
export async function inviteAgents({ store, now }: Components, { count }: InviteOptions): Promise<Report> {
  const codes: string[] = []
  while (codes.length < count) codes.push(await createInvitation(store, randomBytes, now()))
  return { ok: true, json: { invitations: codes }, text: `${codes.join('\n')}\n${KEEP_THEM}` }
}

/** Ends every key of an agent, and prints a new one. */
export async function resetKey({ registry, now }: Components, agentId: string): Promise<Report> {
  const id = agentId.toLowerCase()
  const key = await registry.resetKeys(id, now())
  const retired_at = await registry.retiredAt(id)
  const retires =
    retired_at === null ? '' : ` It retires at ${retired_at}: \`fvs agents unretire\` takes that back.`
  return {
    ok: true,
    json: { agent_id: id, api_key: key.key, key_id: key.id, retired_at },
    text: `${key.key}\n${KEEP_IT} Every other key of the agent ${id} has ended.${retires}`,
  }
}

function agentReport({ agents, changed }: StatedCounts, fields: object, state: string): Report {
  const unchanged = agents - changed
  return {
    ok: true,
    json: { ...fields, agents, changed, unchanged },
    text: `changed: ${changed} of ${agents} agents; already ${state}: ${unchanged}`,
  }
}

export async function listAgents(components: Components, { owner }: OwnerOption): Promise<Report> {
  const owner_id = typeof owner === 'string' ? parseOwner(owner) : owner === false ? null : undefined
  const agents = await withDatabase(components.openDatabase, (database) =>
    readAgents({ ...components, database }, owner_id),
  )
  return {
    ok: true,
    json: { agents },
    text: agents.length === 0 ? 'no agents' : agents.map(agentLine).join('\n'),
  }
}

function agentLine({ agent_id, name: called, owner_id, registered_at, retired_at }: ListedAgent): string {
  const state = retired_at === null ? 'not retired' : `retired ${retired_at.toISOString()}`
  const owner = owner_id === null ? 'no owner' : `owner ${owner_id}`
  return `${agent_id}  ${registered_at.toISOString()}  ${state}  ${owner}  ${called === '' ? '(hidden)' : called}`
}
