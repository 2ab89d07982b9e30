// Declares the commands for agents: their arguments, and the function that runs each.
import type { InviteOptions, OwnerOption, ReasonOption } from './agents/agents.ts'
import { wholeNumber } from './command-line/arguments.ts'
import { type StoreOptions, onStore, program, storeCommand } from './command-line/program.ts'

/** Adds `fvs agents` to the program. */
export function addAgentCommands(): void {
  const agents = program
    .command('agents')
    .description('Say who answers for agents, list and retire them, end their keys.')

  storeCommand('assign', 'Say who answers for agents, from the next release on, all or nothing.', agents)
    .argument('<agent_id...>', 'their ids')
    .requiredOption('--owner <name>', 'who answers for them')
    .option('--no-owner', 'nobody does')
    .action((ids: string[], options: StoreOptions & Required<OwnerOption>) =>
      onStore(options, 'writes', async (components) => {
        const { assignAgents } = await import('./agents/agents.ts')
        return assignAgents(components, ids, options)
      }),
    )

  storeCommand('list', 'List agents in the order of registration, also those of no release yet.', agents)
    .option('--owner <name>', 'only those of this owner')
    .option('--no-owner', 'only those without an owner')
    .action((options: StoreOptions & OwnerOption) =>
      onStore(options, 'reads', async (components) => {
        const { listAgents } = await import('./agents/agents.ts')
        return listAgents(components, options)
      }),
    )

  storeCommand('prove', 'Look at the domains that agents claim as their owners.', agents).action(
    (options: StoreOptions) =>
      onStore(options, 'writes', async (components) => {
        const { internet, proveOwners } = await import('./agents/prove-owners.ts')
        return proveOwners(components, internet())
      }),
  )

  storeCommand('retire', 'Retire agents, from the next release on, all or nothing.', agents)
    .argument('<agent_id...>', 'their ids')
    .action((ids: string[], options: StoreOptions) =>
      onStore(options, 'writes', async (components) => {
        const { retireAgents } = await import('./agents/agents.ts')
        return retireAgents(components, ids)
      }),
    )

  storeCommand('unretire', 'Take back that agents retire or have retired, from the next release on.', agents)
    .argument('<agent_id...>', 'their ids')
    .action((ids: string[], options: StoreOptions) =>
      onStore(options, 'writes', async (components) => {
        const { unretireAgents } = await import('./agents/agents.ts')
        return unretireAgents(components, ids)
      }),
    )

  storeCommand('rename', 'Give an agent another name, from the next release on.', agents)
    .argument('<agent_id>', 'its id')
    .argument('<name>', 'its name')
    .requiredOption('--reason <text>', 'why, for your records')
    .action((id: string, called: string, options: StoreOptions & ReasonOption) =>
      onStore(options, 'writes', async (components) => {
        const { renameAgent } = await import('./agents/agents.ts')
        return renameAgent(components, id, called, options)
      }),
    )

  storeCommand('hide', 'Take an agent out of every list, and its name out of every page.', agents)
    .argument('<agent_id>', 'its id')
    .requiredOption('--reason <text>', 'why, for your records')
    .action((id: string, options: StoreOptions & ReasonOption) =>
      onStore(options, 'writes', async (components) => {
        const { hideAgent } = await import('./agents/agents.ts')
        return hideAgent(components, id, options)
      }),
    )

  storeCommand('invite', 'Print codes that each let one agent register, once.', agents)
    .option('--count <number>', 'how many', wholeNumber, 1)
    .action((options: StoreOptions & InviteOptions) =>
      onStore(options, 'begins', async (components) => {
        const { inviteAgents } = await import('./agents/agents.ts')
        return inviteAgents(components, options)
      }),
    )

  storeCommand('reset-key', 'End every key of an agent, whoever made it, and print a new one, once.', agents)
    .argument('<agent_id>', 'its id')
    .action((id: string, options: StoreOptions) =>
      onStore(options, 'writes', async (components) => {
        const { resetKey } = await import('./agents/agents.ts')
        return resetKey(components, id)
      }),
    )
}
