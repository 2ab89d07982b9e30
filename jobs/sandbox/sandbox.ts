// `fvs sandbox`.
import type { Components } from '../components/components.ts'
import type { Report } from '../command-line/output.ts'
import type { Added } from './rows.ts'
import { SEED_DEFAULTS, type SeedOptions, describeSimulation, seedSandbox } from './seed.ts'
import { takeStep } from './step.ts'
import { wholeNumber } from '../command-line/arguments.ts'
import { type GlobalOptions, command, onStore, program } from '../command-line/program.ts'

export function addSandbox(): void {
  const sandbox = program.command('sandbox').description('Fill the sandbox with simulated questions.')

  command('seed', 'Have simulated questions open, close and resolve by themselves from now on.', sandbox)
    .option('--seed <number>', 'another number gives other questions', wholeNumber, SEED_DEFAULTS.seed)
    .option('--round-minutes <n>', 'how long each question is open', wholeNumber, SEED_DEFAULTS.roundMinutes)
    .option('--questions <n>', 'how many are open at a time', wholeNumber, SEED_DEFAULTS.questionsPerRound)
    .option('--weeks <n>', 'simulate weeks before now too, in which agents took part', wholeNumber)
    .action((options: GlobalOptions & Omit<SeedOptions, 'questionsPerRound'> & { questions: number }) =>
      onStore({ ...options, environment: 'sandbox' }, 'begins', (components) =>
        runSeed(components, { ...options, questionsPerRound: options.questions }),
      ),
    )

  command(
    'step',
    'Bring the simulation up to the present; the schedule runs it before each release.',
    sandbox,
  ).action((options: GlobalOptions) =>
    onStore({ ...options, environment: 'sandbox' }, 'writes', (components) => runStep(components)),
  )
}

export async function runSeed(components: Components, options: SeedOptions): Promise<Report> {
  const json = await seedSandbox(components, options)
  const what = json.seeded ? 'seeded with' : `has been seeded already, at ${json.started_at}, with`
  const text = `${components.store.url} ${what} ${describeSimulation(json)}: ${describeAdded(json)}`
  return { ok: true, json, text }
}

export async function runStep(components: Components): Promise<Report> {
  const added = await takeStep(components)
  return { ok: true, json: added, text: describeAdded(added) }
}

function describeAdded({ asked, forecasts, resolved }: Added): string {
  return `${asked} questions asked, ${forecasts} forecasts made, ${resolved} questions resolved`
}
