// The commands: their arguments, and what runs each, which is loaded once it is called, so that every command starts sooner.
import { randomBytes } from 'node:crypto'
import { type Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { IMPORTS, type ImportKind } from '../pipeline/import/columns.ts'
import { type GivenOptions, parseOptions } from '../pipeline/import/options.ts'
import { settingsOf } from '../schemas/config.ts'
import { TIERS } from '../schemas/tiers.ts'
import { SERVICE_VERSION } from './components.ts'
import {
  type GlobalOptions,
  JSON_OPTION,
  type StoreOptions,
  calledRightly,
  command,
  finish,
  onStore,
  program,
  settingsFor,
  storeCommand,
} from './command-line.ts'
import type { OwnerOption } from './agents.ts'
import { collected, reason, time, wholeNumber, workerCount } from './arguments.ts'
import type { KeyOptions } from './keys.ts'
import { reportError } from './output.ts'
import { SEED_DEFAULTS, type SeedOptions } from './simulation/seed-options.ts'
import { addStageCommands } from './stage-commands.ts'
import type { ProofOptions } from './verify-proof.ts'
import type { WitnessOptions } from './witness.ts'

/** Of an Ed25519 key. */
const SEED_BYTES = 32

interface ImportCommandOptions extends StoreOptions, GivenOptions {
  dryRun?: boolean
  template?: boolean
}

interface ReleaseOptions extends StoreOptions {
  asOf?: Date
  ifChanged?: boolean
}

command('serve', 'Serve the API and make releases on schedule, until SIGTERM or SIGINT.')
  .option('--no-scheduler', 'only serve, as a further node on the same store')
  .addOption(
    new Option('--workers <n>', 'how many processes serve on the port; auto: one for each core')
      .argParser(workerCount)
      .default(1),
  )
  .action(async (options: GlobalOptions & { scheduler: boolean; workers: number }) => {
    const { runServe } = await import('./serve.ts')
    finish(await runServe(settingsFor(options), options), options)
  })

const releases = storeCommand('release', 'Take in the inbox, score everyone and publish a release.')
  .addOption(new Option('--as-of <time>', 'score as of this instant (default: now)').argParser(time))
  .option('--if-changed', 'make none where nothing has changed since the last release of the day')
  .action((options: ReleaseOptions) =>
    onStore(options, 'writes', async (components) => {
      const { runRelease } = await import('./release.ts')
      return runRelease(components, { asOf: options.asOf, ifChanged: options.ifChanged === true })
    }),
  )

releases
  .command('plan')
  .description('Take in the inbox and plan a release, for an engine that makes it in stages; prints JSON.')
  .action((_options: object, planned: Command) => {
    // The options stand with the command above.
    const { asOf, ifChanged = false, ...options } = planned.optsWithGlobals<ReleaseOptions>()
    return onStore({ ...options, json: true }, 'writes', async (components) => {
      const { runPlan } = await import('./stage.ts')
      return runPlan(components, { asOf, ifChanged })
    })
  })

addStageCommands()

storeCommand('import', 'Import questions, resolutions, forecasters or forecasts, all or nothing.')
  .argument('<kind>', IMPORTS.join(' | '), (text): ImportKind => {
    const kind = IMPORTS.find((name) => name === text)
    if (!kind) throw new InvalidArgumentError(`It must be one of ${IMPORTS.join(', ')}.`)
    return kind
  })
  .argument('[file]', '.csv, .tsv, .ndjson, .jsonl or .parquet, any of them with .gz; - is standard input')
  .option('--delimiter <character>', 'auto, ",", ";" or tab', 'auto')
  .option('--map <column=Name>', 'the name that a column has in the file; may be repeated', collected)
  .option('--ignore-unknown', 'leave out columns that the table has not')
  .option('--ids <what>', 'uuid; or text: any text, made a UUID of --namespace', 'uuid')
  .option('--namespace <uuid>', 'a UUID of your own, the same for all your files with --ids text')
  .option('--timezone <zone>', 'of times without an offset, such as Europe/Paris')
  .option('--percent', 'probabilities are percentages')
  .option('--outcomes <meanings>', 'what outcomes mean, such as yes=YES|1|true,no=NO|0|false')
  .option('--dry-run', 'write nothing; say what would be added, and count what is bad by its reason')
  .option('--template', 'print an empty file of the kind, with an example row')
  .action(async (kind: ImportKind, file: string | undefined, options: ImportCommandOptions) => {
    const { reportTemplate, runImport, runTrial } = await import('./import.ts')
    if (options.template === true) {
      if (file !== undefined) program.error('error: --template takes no file', { exitCode: 2 })
      return finish(reportTemplate(kind), options)
    }
    if (file === undefined) return program.error("error: missing required argument 'file'", { exitCode: 2 })
    const source = file === '-' ? process.stdin : file
    const parsed = calledRightly(() => parseOptions(kind, options))
    return options.dryRun === true
      ? onStore(options, 'tries', (components) => runTrial(components, kind, source, parsed))
      : onStore(options, 'begins', (components) => runImport(components, kind, source, parsed))
  })

const agents = program.command('agents').description('Say who answers for agents, list and retire them.')

storeCommand('assign', 'Say who answers for agents, from the next release on, all or nothing.', agents)
  .argument('<agent_id...>', 'their ids')
  .requiredOption('--owner <name>', 'who answers for them')
  .option('--no-owner', 'nobody does')
  .action((ids: string[], options: StoreOptions & Required<OwnerOption>) =>
    onStore(options, 'writes', async (components) => {
      const { assignAgents } = await import('./agents.ts')
      return assignAgents(components, ids, options)
    }),
  )

storeCommand('list', 'List agents in the order of registration, also those of no release yet.', agents)
  .option('--owner <name>', 'only those of this owner')
  .option('--no-owner', 'only those without an owner')
  .action((options: StoreOptions & OwnerOption) =>
    onStore(options, 'reads', async (components) => {
      const { listAgents } = await import('./agents.ts')
      return listAgents(components, options)
    }),
  )

storeCommand('retire', 'Retire agents, from the next release on, all or nothing.', agents)
  .argument('<agent_id...>', 'their ids')
  .action((ids: string[], options: StoreOptions) =>
    onStore(options, 'writes', async (components) => {
      const { retireAgents } = await import('./agents.ts')
      return retireAgents(components, ids)
    }),
  )

const keys = program
  .command('keys')
  .description('Create, list, rotate and revoke API keys, and set their tiers.')

storeCommand('create', 'Create a key and print it, once.', keys)
  .requiredOption('--owner <name>', 'whom the key is for')
  .addOption(new Option('--tier <name>', 'how many calls the key has').choices(TIERS).default('free'))
  .option('--monthly-calls <number>', 'the quota of an enterprise key', wholeNumber)
  .action((options: StoreOptions & KeyOptions) =>
    onStore(options, 'begins', async (components) => {
      const { createKey } = await import('./keys.ts')
      return createKey(components, options)
    }),
  )

storeCommand('list', 'List the public ids of keys, never the keys themselves.', keys).action(
  (options: StoreOptions) =>
    onStore(options, 'reads', async (components) => {
      const { listKeys } = await import('./keys.ts')
      return listKeys(components)
    }),
)

storeCommand('set-tier', 'Give a key another tier; every node counts by it within ten seconds.', keys)
  .argument('<key_id>', 'the public id, with or without fv_live_ or fv_test_')
  .addOption(new Option('--tier <name>', 'how many calls the key has').choices(TIERS).makeOptionMandatory())
  .option('--monthly-calls <number>', 'the quota of an enterprise key', wholeNumber)
  .action((keyId: string, options: StoreOptions & Omit<KeyOptions, 'owner'>) =>
    onStore(options, 'writes', async (components) => {
      const { setTier } = await import('./keys.ts')
      return setTier(components, keyId, options)
    }),
  )

storeCommand('revoke', 'Revoke a key; every node refuses it within ten seconds.', keys)
  .argument('<key_id>', 'the public id, with or without fv_live_ or fv_test_')
  .action((keyId: string, options: StoreOptions) =>
    onStore(options, 'writes', async (components) => {
      const { revokeKey } = await import('./keys.ts')
      return revokeKey(components, keyId)
    }),
  )

storeCommand('rotate', 'Replace a key by a new one; the old one works for 24 hours more.', keys)
  .argument('<key_id>', 'the public id of the old key, with or without its prefix')
  .action((keyId: string, options: StoreOptions) =>
    onStore(options, 'writes', async (components) => {
      const { rotateKey } = await import('./keys.ts')
      return rotateKey(components, keyId)
    }),
  )

const log = program.command('log').description('Make the keys of the public log.')

log
  .command('key')
  .description('Make a signing key of the log and print it, once.')
  .argument(
    '<origin>',
    'the name of the log, such as fvs.example/forecasts; in the sandbox it ends in /sandbox',
  )
  .option('--witness', 'make the key of a witness of that name, which cosigns what a log signs')
  .option(...JSON_OPTION)
  .action(async (origin: string, options: Pick<GlobalOptions, 'json'> & { witness?: boolean }) => {
    const { makeLogKey, makeWitnessKey } = await import('./log-key.ts')
    const make = options.witness === true ? makeWitnessKey : makeLogKey
    finish(
      calledRightly(() => make(origin, randomBytes(SEED_BYTES))),
      options,
    )
  })

program
  .command('witness')
  .description('Check that a public log continues what it has shown before, and keep what it shows.')
  .argument('<url>', 'the address of the service, such as https://fvs.example or https://fvs.example/sandbox')
  .requiredOption(
    '--vkey <key>',
    'a key of the log, as its operator publishes it; may be repeated',
    collected,
  )
  .requiredOption('--state <file>', 'where the last checkpoint is kept; the first call makes it')
  .option('--key-file <file>', 'the key of a witness: then each checkpoint is cosigned')
  .option(...JSON_OPTION)
  .action(async (url: string, options: WitnessOptions & Pick<GlobalOptions, 'json'>) => {
    const { runWitness } = await import('./witness.ts')
    finish(await runWitness(url, options, new Date()), options)
  })

const sandbox = program.command('sandbox').description('Fill the sandbox with simulated questions.')

command('seed', 'Have simulated questions open, close and resolve by themselves from now on.', sandbox)
  .option('--seed <number>', 'another number gives other questions', wholeNumber, SEED_DEFAULTS.seed)
  .option('--round-minutes <n>', 'how long each question is open', wholeNumber, SEED_DEFAULTS.roundMinutes)
  .option('--questions <n>', 'how many are open at a time', wholeNumber, SEED_DEFAULTS.questionsPerRound)
  .action((options: GlobalOptions & Omit<SeedOptions, 'questionsPerRound'> & { questions: number }) =>
    onStore({ ...options, environment: 'sandbox' }, 'begins', async (components) => {
      const { runSeed } = await import('./sandbox.ts')
      return runSeed(components, { ...options, questionsPerRound: options.questions })
    }),
  )

command(
  'step',
  'Bring the simulation up to the present; the schedule runs it before each release.',
  sandbox,
).action((options: GlobalOptions) =>
  onStore({ ...options, environment: 'sandbox' }, 'writes', async (components) => {
    const { runStep } = await import('./sandbox.ts')
    return runStep(components)
  }),
)

storeCommand(
  'verify',
  'Check the signature of a published payload, and what a verification awards; with --vkey, without a secret, a proof or a receipt.',
)
  .argument('<target>', 'a URL of the API, or a file: a payload, a shard of a release or a bulk answer')
  .option('--signature <header>', 'the X-Service-Signature of a payload in a file')
  .option(
    '--vkey <key>',
    'a key of the public log, as its operator publishes it; may be repeated',
    collected,
    [],
  )
  .option(
    '--proof <place>',
    'the proof of the payload: a URL or a file (default: that of the service which the target names)',
  )
  .option('--receipt <file>', 'the X-Service-Receipt of a forecast')
  .option('--witness <key>', 'a witness that must have signed too; may be repeated', collected, [])
  .action(async (target: string, options: StoreOptions & { signature?: string } & ProofOptions) => {
    const { vkey, proof, receipt, witness } = options
    const withKeys = vkey.length + witness.length > 0 || proof !== undefined || receipt !== undefined
    if (withKeys) {
      const { runVerifyProof } = await import('./verify-proof.ts')
      finish(await runVerifyProof(target, options), options)
      return
    }
    const own = settingsOf(settingsFor(options), options.environment)
    const { runVerify } = await import('./verify.ts')
    finish(await runVerify(own, target, options.signature), options)
  })

storeCommand(
  'audit',
  'Derive a release again from the tables and compare every byte; with --log, check the whole public log.',
)
  .addOption(
    new Option('--release <number>', 'which release (default: the current one)').argParser(wholeNumber),
  )
  .option(
    '--log',
    'check every signature, tile and entry of the public log, and what each release commits to',
  )
  .option(
    '--vkey <key>',
    'with --log, a key of the log or of a witness; may be repeated (default: the keys of the settings)',
    collected,
    [],
  )
  .action((options: StoreOptions & { release?: number; log?: boolean; vkey: readonly string[] }) => {
    const { release, log: wholeLog = false, vkey } = options
    if (wholeLog && release !== undefined)
      program.error('error: --log checks all releases, so it takes no --release', { exitCode: 2 })
    if (!wholeLog && vkey.length > 0) program.error('error: --vkey goes with --log', { exitCode: 2 })
    return onStore(options, 'reads', async (components) => {
      if (wholeLog) {
        const { runAuditLog } = await import('./audit-log.ts')
        return runAuditLog(components, vkey)
      }
      const { runAudit } = await import('./audit.ts')
      return runAudit(components, release)
    })
  })

storeCommand(
  'retention',
  'Delete shards and Parquet files of old releases; what says how they were made stays.',
)
  .requiredOption(
    '--keep <number>',
    'how many releases keep their files, the current one among them',
    wholeNumber,
  )
  .action((options: StoreOptions & { keep: number }) =>
    onStore(options, 'writes', async (components) => {
      const { runRetention } = await import('./retention.ts')
      return runRetention(components, options.keep)
    }),
  )

storeCommand('quarantine', 'Move aside an object that cannot be read, so that the next release goes on.')
  .argument('<key>', 'its path in the store: an inbox object, an intake or the manifest of a snapshot')
  .requiredOption('--reason <text>', 'why, for everyone to read in the next releases', reason)
  .action((key: string, options: StoreOptions & { reason: string }) =>
    onStore(options, 'writes', async (components) => {
      const { runQuarantine } = await import('./quarantine.ts')
      return runQuarantine(components, key, options.reason)
    }),
  )

command('demo', 'Run the whole service on a small simulated world, in the sandbox of an empty store.')
  .option('--exit', 'end when everything has been shown instead of serving on')
  .action(async (options: GlobalOptions & { exit?: boolean }) => {
    const { runDemo } = await import('./demo.ts')
    if (!(await runDemo(process.env, options))) process.exitCode = 1
  })

program
  .command('mcp')
  .description('Let a language model take part, by the Model Context Protocol on standard input and output.')
  .addHelpText(
    'after',
    '\nFVS_URL is the address of the service, FVS_AGENT_ID and FVS_API_KEY the agent; without a key it only reads.',
  )
  .action(async () => {
    const { runMcp } = await import('./mcp.ts')
    await runMcp(process.env, SERVICE_VERSION)
  })

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2
  } else {
    reportError(error, process.argv.includes('--json'))
    process.exitCode = 1
  }
}
