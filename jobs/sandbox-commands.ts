// Declares the commands that fill the sandbox: their arguments, and the function that runs each.
import { wholeNumber } from './command-line/arguments.ts'
import { type GlobalOptions, command, onStore, program } from './command-line/program.ts'
import { SEED_DEFAULTS, type SeedOptions } from './sandbox/seed-options.ts'

/** Adds `fvs sandbox` to the program. */
export function addSandboxCommands(): void {
  const sandbox = program.command('sandbox').description('Fill the sandbox with simulated questions.')

  command('seed', 'Have simulated questions open, close and resolve by themselves from now on.', sandbox)
    .option('--seed <number>', 'another number gives other questions', wholeNumber, SEED_DEFAULTS.seed)
    .option('--round-minutes <n>', 'how long each question is open', wholeNumber, SEED_DEFAULTS.roundMinutes)
    .option('--questions <n>', 'how many are open at a time', wholeNumber, SEED_DEFAULTS.questionsPerRound)
    .action((options: GlobalOptions & Omit<SeedOptions, 'questionsPerRound'> & { questions: number }) =>
      onStore({ ...options, environment: 'sandbox' }, 'begins', async (components) => {
        const { runSeed } = await import('./sandbox/sandbox.ts')
        return runSeed(components, { ...options, questionsPerRound: options.questions })
      }),
    )

  command(
    'step',
    'Bring the simulation up to the present; the schedule runs it before each release.',
    sandbox,
  ).action((options: GlobalOptions) =>
    onStore({ ...options, environment: 'sandbox' }, 'writes', async (components) => {
      const { runStep } = await import('./sandbox/sandbox.ts')
      return runStep(components)
    }),
  )
}
