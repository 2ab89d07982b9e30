// Declares the commands: their arguments, and the function that runs each. A command loads its module only
// when it is called, so that every command starts sooner.
import { type Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { IMPORTS, type ImportKind } from '../pipeline/import/columns.ts'
import { type GivenOptions, parseOptions } from '../pipeline/import/options.ts'
import type { ImportSource } from '../pipeline/import/source.ts'
import { SOURCES } from '../pipeline/import/sources.ts'
import { settingsOf } from '../schemas/config.ts'
import { SERVICE_VERSION } from './components/components.ts'
import {
  type GlobalOptions,
  type StoreOptions,
  calledRightly,
  command,
  finish,
  onStore,
  program,
  settingsFor,
  storeCommand,
} from './command-line/program.ts'
import { addAgentCommands } from './agent-commands.ts'
import { collected, reason, time, wholeNumber } from './command-line/arguments.ts'
import type { ImportFromOptions } from './import/import-from.ts'
import { addBackupCommands } from './backup-commands.ts'
import { addCredentialCommands } from './credential-commands.ts'
import { addImportsCommands } from './imports-commands.ts'
import { addKeyCommands } from './key-commands.ts'
import { addPeopleCommands } from './people-commands.ts'
import { addLogCommands } from './log-commands.ts'
import { addOperatorCommands } from './operator-commands.ts'
import { endWithReader, reportError } from './command-line/output.ts'
import { addSandboxCommands } from './sandbox-commands.ts'
import { addStageCommands } from './stage-commands.ts'
import { addWebhookCommands } from './webhook-commands.ts'
import type { ProofOptions } from './verify/verify-proof.ts'

interface ImportCommandOptions extends StoreOptions, GivenOptions {
  dryRun?: boolean
  template?: boolean
}

interface ServeOptions extends GlobalOptions {
  scheduler: boolean
  sharePort?: boolean
}

interface ReleaseOptions extends StoreOptions {
  asOf?: Date
  ifChanged?: boolean
  unsigned?: boolean
}

interface AuditOptions extends StoreOptions {
  release?: number
  log?: boolean
  from?: string
  known?: string
  vkey: readonly string[]
  unsigned?: boolean
}

command('serve', 'Serve the API and make releases on schedule, until SIGTERM or SIGINT.')
  .option('--no-scheduler', 'only serve, as a further node on the same store')
  .option('--share-port', 'let other processes with this option serve on the same port')
  .action(async ({ scheduler, sharePort = false, ...options }: ServeOptions) => {
    const { runServe } = await import('./serve/serve.ts')
    finish(await runServe(settingsFor(options), { scheduler, sharePort }), options)
  })

const releases = storeCommand('release', 'Take in the inbox, score everyone and publish a release.')
  .addOption(new Option('--as-of <time>', 'score as of this instant (default: now)').argParser(time))
  .option('--if-changed', 'make none where nothing has changed since the last release of the day')
  .option('--unsigned', 'go on without the secret or the key of the log that the last release was made with')
  .action((options: ReleaseOptions) =>
    onStore(options, 'writes', async (components) => {
      const { assertSigningAsBefore } = await import('./release/signing-as-before.ts')
      if (options.unsigned !== true) await assertSigningAsBefore(components)
      const { runRelease } = await import('./release/release.ts')
      return runRelease(components, { asOf: options.asOf, ifChanged: options.ifChanged === true })
    }),
  )

releases
  .command('plan')
  .description('Take in the inbox and plan a release, for an engine that makes it in stages; prints JSON.')
  .action((_options: object, planned: Command) => {
    // The options belong to the command above.
    const { asOf, ifChanged = false, unsigned, ...options } = planned.optsWithGlobals<ReleaseOptions>()
    return onStore({ ...options, json: true }, 'writes', async (components) => {
      const { assertSigningAsBefore } = await import('./release/signing-as-before.ts')
      if (unsigned !== true) await assertSigningAsBefore(components)
      const { runPlan } = await import('./release/stage.ts')
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
  .argument(
    '[file]',
    '.csv, .tsv, .json, .ndjson, .jsonl or .parquet, any of them with .gz; - is standard input',
  )
  .option('--delimiter <character>', 'auto, ",", ";" or tab', 'auto')
  .option('--map <column=Name>', 'the name that a column has in the file; may be repeated', collected)
  .option('--ignore-unknown', 'leave out columns that the table has not')
  .option('--ids <what>', 'uuid; or text: any text, made a UUID of --namespace', 'uuid')
  .option(
    '--namespace <uuid>',
    'a UUID of your own, the same for all your files with --ids text; said twice if it is a new one',
    collected,
  )
  .option('--timezone <zone>', 'of times without an offset, such as Europe/Paris')
  .option('--percent', 'probabilities are percentages')
  .option('--outcomes <meanings>', 'what outcomes mean, such as yes=YES|1|true,no=NO|0|false')
  .option('--set <column=Text>', 'a column that is the same in every row; may be repeated', collected)
  .option(
    '--where <column=Text>',
    'only the rows with this text in a column of the file; may be repeated',
    collected,
  )
  .option('--rows <path>', 'where the list of rows is in a document of JSON, such as data.markets')
  .option('--first-of-repeats', 'of several rows about the same, take the first')
  .option('--epoch <unit>', 'times are numbers since 1970, in s, ms or us')
  .option('--days', 'a time may be a day: its beginning as an opening, its end otherwise')
  .option('--normalize-text', 'make texts fit to be shown: line ends, white space, control characters')
  .option('--events <which>', 'own: each question without an event_id has nothing to do with any other')
  .addOption(
    new Option(
      '--correct <reason>',
      'why the file changes scored questions or outcomes; the next release says so',
    ).argParser(reason),
  )
  .option('--dry-run', 'write nothing; say what would be added, and count what is bad by its reason')
  .option('--template', 'print an empty file of the kind, with an example row')
  .action(async (kind: ImportKind, file: string | undefined, options: ImportCommandOptions) => {
    const { reportTemplate, runImport, runTrial } = await import('./import/import.ts')
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

storeCommand('import-from', "Import a platform's own files, all or nothing.")
  .argument('<source>', SOURCES.map(({ name }) => name).join(' | '), (text): ImportSource => {
    const source = SOURCES.find(({ name }) => name === text)
    if (!source) {
      throw new InvalidArgumentError(`It must be one of ${SOURCES.map(({ name }) => name).join(', ')}.`)
    }
    return source
  })
  .argument('<files...>', 'the files, or a .zip of them, in any order')
  .option('--dry-run', 'write nothing; say what would be added')
  .option('--check', 'score the files alone, and compare with the scores that the platform publishes')
  .option(
    '--with-freeze',
    'forecastbench: take what markets said at the freeze as forecasts of `freeze-value`',
  )
  .option('--report <file>', 'write the report to a file too, as NDJSON')
  .action(async (source: ImportSource, files: string[], options: StoreOptions & ImportFromOptions) => {
    const { runImportFrom } = await import('./import/import-from.ts')
    return onStore(options, options.dryRun === true ? 'tries' : 'begins', (components) =>
      runImportFrom(components, source, files, options),
    )
  })

addImportsCommands()
addPeopleCommands()
addOperatorCommands()
addWebhookCommands()
addAgentCommands()
addKeyCommands()
addLogCommands()
addCredentialCommands()
addSandboxCommands()
addBackupCommands()

storeCommand(
  'verify',
  'Check that a published record is the one that the address asks for, its signature, and what it awards; without a secret, a credential, and with --vkey a proof or a receipt.',
)
  .argument(
    '<target>',
    'a URL of the API, or a file: a credential, a badge, a payload, a shard of a release or a bulk answer',
  )
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
      const { runVerifyProof } = await import('./verify/verify-proof.ts')
      finish(await runVerifyProof(target, options), options)
      return
    }
    const own = settingsOf(settingsFor(options), options.environment)
    const { runVerify } = await import('./verify/verify.ts')
    finish(await runVerify(own, target, options, new Date()), options)
  })

storeCommand(
  'audit',
  'Derive a release again from the tables and compare every byte; with --log, check the whole public log; with --from, audit over HTTP without a store.',
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
    'with --log, a key of the log or of a witness; with --from, a key of the log; may be repeated (default with --log: the keys of the settings)',
    collected,
    [],
  )
  .option(
    '--from <address>',
    'audit what is served there, such as https://host/data, by the public log; it needs no store and no secret',
  )
  .option(
    '--known <file>',
    'with --from, a checkpoint that you have kept or a --state, which the log must continue',
  )
  .option('--unsigned', 'check no signatures, so that it takes no secret')
  .action((options: AuditOptions) => {
    const { release, log: wholeLog = false, vkey, unsigned = false, from, known } = options
    if (from !== undefined) return auditFrom({ ...options, from })
    if (known !== undefined) program.error('error: --known goes with --from', { exitCode: 2 })
    if (wholeLog && release !== undefined)
      program.error('error: --log checks all releases, so it takes no --release', { exitCode: 2 })
    if (wholeLog && unsigned)
      program.error('error: --log checks the signatures of the log, so it takes no --unsigned', {
        exitCode: 2,
      })
    if (!wholeLog && vkey.length > 0)
      program.error('error: --vkey goes with --log or --from', { exitCode: 2 })
    return onStore(options, 'reads', async (components) => {
      if (wholeLog) {
        const { runAuditLog } = await import('./audit/audit-log.ts')
        return runAuditLog(components, vkey)
      }
      const { assertSecretOf } = await import('./release/signing-as-before.ts')
      if (!unsigned) await assertSecretOf(components, release)
      const { runAudit } = await import('./audit/audit.ts')
      return runAudit(components, release, { unsigned })
    })
  })

async function auditFrom(options: AuditOptions & { from: string }): Promise<void> {
  if (options.log === true || options.unsigned === true)
    program.error('error: --from checks the log and no secret, so it takes neither --log nor --unsigned', {
      exitCode: 2,
    })
  if (options.vkey.length === 0)
    program.error('error: --from takes the key of the log: --vkey', { exitCode: 2 })
  const { knownCheckpoint } = await import('./monitor/state-file.ts')
  const { runAuditFrom } = await import('./audit/audit-from.ts')
  const { known: place } = options
  const known = place === undefined ? undefined : await knownCheckpoint(place)
  finish(await runAuditFrom(settingsFor(options), { ...options, known }), options)
}

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
      const { runRetention } = await import('./release/retention.ts')
      return runRetention(components, options.keep)
    }),
  )

storeCommand('quarantine', 'Move aside an object that cannot be read, so that the next release goes on.')
  .argument('<key>', 'its path in the store: an inbox object, an intake or the manifest of a snapshot')
  .requiredOption('--reason <text>', 'why, for everyone to read in the next releases', reason)
  .action((key: string, options: StoreOptions & { reason: string }) =>
    onStore(options, 'writes', async (components) => {
      const { runQuarantine } = await import('./release/quarantine.ts')
      return runQuarantine(components, key, options.reason)
    }),
  )

command('demo', 'Run the whole service on a small simulated world, in the sandbox of an empty store.')
  .option('--exit', 'end when everything has been shown instead of serving on')
  .action(async (options: GlobalOptions & { exit?: boolean }) => {
    const { runDemo } = await import('./demo/demo.ts')
    if (!(await runDemo(process.env, options))) process.exitCode = 1
  })

program
  .command('mcp')
  .description('Let a language model take part, by the Model Context Protocol on standard input and output.')
  .addHelpText(
    'after',
    '\nFVS_URL is the address of the service, FVS_AGENT_ID and FVS_API_KEY the agent; without a key it only reads. By LOG_VKEY, the key of the log, it verifies.',
  )
  .action(async () => {
    const { runMcp } = await import('./mcp/mcp.ts')
    await runMcp(process.env, SERVICE_VERSION)
  })

endWithReader(process, () => process.exit())
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
