// `fvs stage`: a release in stages. Each stage reads lines and prints lines.
import { once } from 'node:events'
import { InvalidArgumentError, Option } from 'commander'
import { commitStages, type CommitRequest } from '../../pipeline/release/stage/commit.ts'
import type { Input } from '../../pipeline/release/stage/lines.ts'
import { partLines } from '../../pipeline/release/stage/parts.ts'
import { type PublishRequest, publishLines } from '../../pipeline/release/stage/publish.ts'
import { scoreLines } from '../../pipeline/release/stage/score.ts'
import { sweepLines } from '../../pipeline/release/stage/sweep.ts'
import { storeTally } from '../../pipeline/release/stage/tally.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { issueCredentials } from '../../pipeline/credentials/issue.ts'
import { assertOrigin, completeLog } from '../../pipeline/transparency/publish.ts'
import { type VoiceRule, VOICE_RULES } from '../../schemas/payloads.ts'
import type { Components } from '../components/components.ts'
import { keepHouse } from './housekeeping.ts'
import type { Report } from '../command-line/output.ts'
import { countArgument, wholeNumber } from '../command-line/arguments.ts'
import { type StoreOptions, onStore, program, storeCommand } from '../command-line/program.ts'

interface StageOptions extends StoreOptions {
  release: number
}

/** Parses the SHA-256 of a tally. */
function parseSha256(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text
  throw new InvalidArgumentError('It must be what fvs stage tally printed.')
}

export function addStage(): void {
  const stage = program
    .command('stage')
    .description('Make a release in stages, each of which reads lines and prints lines (docs/spark.md).')

  stage
    .command('sweep')
    .description('Forecasts of questions in order, to pairs of an entity and a question.')
    .action(() => runSweep(process.stdin))

  stage
    .command('score')
    .description('Pairs of entities in order, to their scores.')
    .action(() => runScore(process.stdin))

  stage
    .command('parts')
    .description('Counts of all shards, to the parts that they are in.')
    .action(() => runParts(process.stdin))

  const planned = (name: string, about: string) =>
    storeCommand(name, about, stage).requiredOption(
      '--release <number>',
      'which release, as planned',
      wholeNumber,
    )

  planned('tally', 'Store what the entities of a release are ranked by; prints its SHA-256.')
    .addOption(new Option('--voice-rule <rule>', 'who is a voice').choices(VOICE_RULES).makeOptionMandatory())
    .action((options: StageOptions & { voiceRule: VoiceRule }) =>
      onStore(options, 'writes', (components) =>
        runTally(components, options.release, options.voiceRule, process.stdin),
      ),
    )

  planned('publish', 'Put files of one kind into the store, and print a line for each.')
    .argument('<files>', 'which kind, such as shards or leaderboards (docs/spark.md)')
    .option('--tally <sha256>', 'what fvs stage tally printed, for files that rank entities', parseSha256)
    .action((files: string, options: StageOptions & { tally?: string }) =>
      onStore(options, 'writes', (components) =>
        runPublish(components, { ...options, files }, process.stdin),
      ),
    )

  planned('commit', 'Check that every file is there, and publish the release.')
    .requiredOption('--tally <sha256>', 'what fvs stage tally printed', parseSha256)
    .requiredOption('--forecasts <number>', 'how many forecasts there are, each id once', countArgument)
    .action((options: StageOptions & { tally: string; forecasts: number }) =>
      onStore({ ...options, json: true }, 'writes', (components) =>
        runCommit(components, options, process.stdin),
      ),
    )
}

export function runSweep(input: Input): Promise<void> {
  return printLines(sweepLines(METHODOLOGY, input))
}

export function runScore(input: Input): Promise<void> {
  return printLines(scoreLines(METHODOLOGY, input))
}

export async function runParts(input: Input): Promise<void> {
  process.stdout.write(await partLines(input))
}

/** Prints lines as fast as standard output takes them. */
async function printLines(lines: AsyncIterable<string>): Promise<void> {
  for await (const text of lines) {
    if (!process.stdout.write(text)) await once(process.stdout, 'drain')
  }
}

export async function runTally(
  { store }: Components,
  release: number,
  voiceRule: VoiceRule,
  input: Input,
): Promise<Report> {
  const sha256 = await storeTally(store, release, voiceRule, input)
  return { ok: true, json: { sha256 }, text: sha256 }
}

export async function runPublish(
  components: Components,
  request: PublishRequest,
  input: Input,
): Promise<Report> {
  await printLines(publishLines(components, request, input))
  return { ok: true, json: {}, text: '' }
}

export async function runCommit(
  components: Components,
  request: CommitRequest,
  input: Input,
): Promise<Report> {
  await assertOrigin(components)
  const result = await commitStages(components, request, input)
  await keepHouse(components, result)
  await completeLog(components, result.release)
  await issueCredentials(components, result.release)
  return { ok: true, json: result, text: '' }
}
