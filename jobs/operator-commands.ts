// Declares `fvs operator log`.
import { time } from './command-line/arguments.ts'
import { type StoreOptions, onStore, program, storeCommand } from './command-line/program.ts'

export function addOperatorCommands(): void {
  const operator = program.command('operator').description("See what was done by the operator's calls.")
  storeCommand('log', 'List the calls of operators: who, when, and what changed.', operator)
    .option('--since <time>', 'only calls from this instant on', time)
    .action((options: StoreOptions & { since?: Date }) =>
      onStore(options, 'reads', async (components) => {
        const { reportOperatorLog } = await import('./operator/operator.ts')
        return reportOperatorLog(components, options.since)
      }),
    )
}
