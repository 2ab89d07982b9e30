#!/usr/bin/env node
// The command line: reads arguments and environment, calls the pipeline, and says what came of it.
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { IMPORTS, type ImportKind } from '../pipeline/sql/import.ts'
import { parseSettings } from '../schemas/config.ts'
import { day } from '../schemas/values.ts'
import { type Components, SERVICE_VERSION, withComponents } from './components.ts'
import { runAudit } from './audit.ts'
import { runDemo } from './demo.ts'
import { runImport } from './import.ts'
import { createKey, listKeys, revokeKey } from './keys.ts'
import { type Report, print, reportError } from './output.ts'
import { runRelease } from './release.ts'
import { startService } from './serve.ts'
import { stopSignal } from './stop-signal.ts'
import { runVerify } from './verify.ts'

interface GlobalOptions {
  store?: string
  json?: boolean
}

const program = new Command('fvs')
  .description('Forecast verification service: scores probabilistic forecasts and publishes signed results.')
  .version(SERVICE_VERSION)
  .configureHelp({ showGlobalOptions: true })
  .exitOverride()

/** A command that works on the store; `--store` goes before `STORE_URL`. */
function command(name: string, about: string, parent: Command = program): Command {
  return parent
    .command(name)
    .description(about)
    .option('--store <url>', 'file:///folder or s3://bucket/prefix (default: STORE_URL, then ./data)')
    .option('--json', 'print one JSON object on standard output')
    .exitOverride()
}

async function onStore(
  options: GlobalOptions,
  work: (components: Components) => Promise<Report>,
  access: { readOnly?: boolean } = {},
): Promise<void> {
  const settings = parseSettings({
    ...process.env,
    ...(options.store === undefined ? {} : { STORE_URL: options.store }),
  })
  const report = await withComponents(settings, work, access)
  print(report, options.json === true)
  if (!report.ok) process.exitCode = 1
}

function instant(text: string): Date {
  const withOffset = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text)
  const at = new Date(text)
  // Date takes 30 February for 2 March.
  const dayExists = day.safeParse(text.slice(0, 10)).success
  if (!withOffset || !dayExists || Number.isNaN(at.getTime())) {
    throw new InvalidArgumentError('It must be a time with an offset such as 2026-01-31T12:00:00Z.')
  }
  return at
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,7}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 on.')
  return Number(text)
}

command('serve', 'Serve the API and make releases on the schedule, until SIGTERM or SIGINT.')
  .option('--no-scheduler', 'only serve: for further API nodes on the same store')
  .action((options: GlobalOptions & { scheduler: boolean }) =>
    onStore(options, async (components) => {
      // A scheduled release runs as a command of its own and finds its store in the environment.
      process.env['STORE_URL'] = components.settings.STORE_URL
      // Heard from the start: a signal that comes before everything runs stops it as soon as it does.
      const stopping = stopSignal()
      const service = await startService(components, { scheduler: options.scheduler })
      await stopping
      await service.stop()
      return { ok: true, json: { url: service.url }, text: '' }
    }),
  )

command('release', 'Take in the inbox, score everyone and publish a release.')
  .addOption(new Option('--as-of <time>', 'score as of this instant (default: now)').argParser(instant))
  .option('--if-changed', 'make none where nothing has changed since the last one of the day')
  .action((options: GlobalOptions & { asOf?: Date; ifChanged?: boolean }) =>
    onStore(options, (components) =>
      runRelease(components, { asOf: options.asOf, ifChanged: options.ifChanged === true }),
    ),
  )

command('import', 'Import questions, resolutions, forecasters or forecasts, all or nothing.')
  .argument('<kind>', IMPORTS.join(' | '), (text): ImportKind => {
    const kind = IMPORTS.find((name) => name === text)
    if (!kind) throw new InvalidArgumentError(`It must be one of ${IMPORTS.join(', ')}.`)
    return kind
  })
  .argument('<file>', 'CSV (.csv), NDJSON (.ndjson, .jsonl) or Parquet (.parquet)')
  .action((kind: ImportKind, file: string, options: GlobalOptions) =>
    onStore(options, (components) => runImport(components, kind, file)),
  )

const keys = program
  .command('keys')
  .description('Create, list and revoke the keys of clients.')
  .exitOverride()

command('create', 'Create a key and print it, once.', keys)
  .requiredOption('--owner <name>', 'whom the key is for')
  .action((options: GlobalOptions & { owner: string }) =>
    onStore(options, (components) => createKey(components, options.owner)),
  )

command('list', 'List keys by their public ids, never the keys themselves.', keys).action(
  (options: GlobalOptions) => onStore(options, listKeys, { readOnly: true }),
)

command('revoke', 'Revoke a key; every node refuses it within ten seconds.', keys)
  .argument('<key_id>', 'the public id')
  .action((keyId: string, options: GlobalOptions) =>
    onStore(options, (components) => revokeKey(components, keyId)),
  )

command('verify', 'Check the signature of a published payload.')
  .argument('<target>', 'a URL of the API, or a file: a payload, a shard of a release or a bulk answer')
  .option('--signature <header>', 'the X-Service-Signature of a payload in a file')
  .action(async (target: string, options: GlobalOptions & { signature?: string }) => {
    const report = await runVerify(parseSettings(process.env), target, options.signature)
    print(report, options.json === true)
    if (!report.ok) process.exitCode = 1
  })

command('audit', 'Derive a release again from the tables and compare every byte.')
  .addOption(
    new Option('--release <number>', 'which release (default: the current one)').argParser(wholeNumber),
  )
  .action((options: GlobalOptions & { release?: number }) =>
    onStore(options, (components) => runAudit(components, options.release), { readOnly: true }),
  )

command('demo', 'Run the whole service on a small simulated world in a fresh folder.')
  .option('--exit', 'end when everything has been shown instead of serving on')
  .action(async (options: GlobalOptions & { exit?: boolean }) => {
    const { store, exit = false, json = false } = options
    if (!(await runDemo(process.env, { store, exit, json }))) process.exitCode = 1
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
