// Declares the commands of a release in stages: their arguments, and the function that runs each.
import { InvalidArgumentError, Option } from 'commander'
import { VOICE_RULES, type VoiceRule } from '../schemas/payloads.ts'
import { countOf, wholeNumber } from './command-line/arguments.ts'
import { type StoreOptions, onStore, program, storeCommand } from './command-line/program.ts'

interface StageOptions extends StoreOptions {
  release: number
}

/** Parses the SHA-256 of a tally. */
function sha256(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text
  throw new InvalidArgumentError('It must be what fvs stage tally printed.')
}

/** Adds `fvs stage` to the program. */
export function addStageCommands(): void {
  const stage = program
    .command('stage')
    .description('Make a release in stages, each of which reads lines and prints lines (docs/stages.md).')

  stage
    .command('sweep')
    .description('Forecasts of questions in order, to pairs of an entity and a question.')
    .action(async () => (await import('./release/stage.ts')).runSweep(process.stdin))

  stage
    .command('score')
    .description('Pairs of entities in order, to their scores.')
    .action(async () => (await import('./release/stage.ts')).runScore(process.stdin))

  stage
    .command('parts')
    .description('Counts of all shards, to the parts that they are in.')
    .action(async () => (await import('./release/stage.ts')).runParts(process.stdin))

  const planned = (name: string, about: string) =>
    storeCommand(name, about, stage).requiredOption(
      '--release <number>',
      'which release, as planned',
      wholeNumber,
    )

  planned('tally', 'Store what the entities of a release are ranked by; prints its SHA-256.')
    .addOption(new Option('--voice-rule <rule>', 'who is a voice').choices(VOICE_RULES).makeOptionMandatory())
    .action((options: StageOptions & { voiceRule: VoiceRule }) =>
      onStore(options, 'writes', async (components) => {
        const { runTally } = await import('./release/stage.ts')
        return runTally(components, options.release, options.voiceRule, process.stdin)
      }),
    )

  planned('publish', 'Put files of one kind into the store, and print a line for each.')
    .argument('<files>', 'which kind, such as shards or leaderboards (docs/stages.md)')
    .option('--tally <sha256>', 'what fvs stage tally printed, for files that rank entities', sha256)
    .action((files: string, options: StageOptions & { tally?: string }) =>
      onStore(options, 'writes', async (components) => {
        const { runPublish } = await import('./release/stage.ts')
        return runPublish(components, { ...options, files }, process.stdin)
      }),
    )

  planned('commit', 'Check that every file is there, and publish the release.')
    .requiredOption('--tally <sha256>', 'what fvs stage tally printed', sha256)
    .requiredOption('--forecasts <number>', 'how many forecasts there are, each id once', countOf)
    .action((options: StageOptions & { tally: string; forecasts: number }) =>
      onStore({ ...options, json: true }, 'writes', async (components) => {
        const { runCommit } = await import('./release/stage.ts')
        return runCommit(components, options, process.stdin)
      }),
    )
}
