// Declares the commands for the public log, its keys and its witnesses: their arguments, and the function
// that runs each.
import { randomBytes } from 'node:crypto'
import { Option } from 'commander'
import { collected, entities } from './command-line/arguments.ts'
import { type GlobalOptions, JSON_OPTION, calledRightly, finish, program } from './command-line/program.ts'
import type { MonitorOptions } from './monitor/monitor.ts'
import { print, reportError } from './command-line/output.ts'
import type { WitnessOptions } from './monitor/witness.ts'
import { ServiceError } from '../schemas/errors.ts'

/** The size of an Ed25519 seed. */
const SEED_BYTES = 32

const SERVICE = [
  '<url>',
  'the address of the service, such as https://fvs.example or https://fvs.example/sandbox',
] as const
const VKEY = [
  '--vkey <key>',
  'a key of the log, as its operator publishes it; may be repeated',
  collected,
] as const

type WatchOptions = MonitorOptions & Pick<WitnessOptions, 'vkey'> & Pick<GlobalOptions, 'json'>

const MONITOR_HELP = `
It ends with 0 if nothing is new, 1 if something is inconsistent or cannot be read, 3 if there is news,
and 4 if the service or the receiver could not be reached. After 1 and 4 the state is as before, so that
the next call tells the same again. FVS_API_KEY is a key for the calls, which count as verification calls.`

/** Adds `fvs log`, `fvs witness` and `fvs monitor` to the program. */
export function addLogCommands(): void {
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
      const { makeLogKey, makeWitnessKey } = await import('./keys/log-key.ts')
      const make = options.witness === true ? makeWitnessKey : makeLogKey
      finish(
        calledRightly(() => make(origin, randomBytes(SEED_BYTES))),
        options,
      )
    })

  program
    .command('witness')
    .description('Check that a public log continues what it has shown before, and keep what it shows.')
    .argument(...SERVICE)
    .requiredOption(...VKEY)
    .requiredOption('--state <file>', 'where the last checkpoint is kept; the first call makes it')
    .option('--key-file <file>', 'the key of a witness: then each checkpoint is cosigned')
    .option(...JSON_OPTION)
    .action(async (url: string, options: WitnessOptions & Pick<GlobalOptions, 'json'>) => {
      const { runWitness } = await import('./monitor/witness.ts')
      finish(await runWitness(url, options, new Date()), options)
    })

  program
    .command('monitor')
    .description('Look at records and at the public log, and tell what is new or does not fit together.')
    .argument(...SERVICE)
    .requiredOption(...VKEY)
    .requiredOption('--state <file>', 'where the last look is kept; the first call makes it')
    .requiredOption('--entity <type:id>', 'agent:UUID or forecaster:UUID; may be repeated', entities)
    .addOption(
      new Option(
        '--exec <command>',
        'a line of the shell that finds the news on its standard input, as JSON',
      ).conflicts('webhook'),
    )
    .option('--webhook <url>', 'an address that the news is posted to, as JSON')
    .option(...JSON_OPTION)
    .addHelpText('after', MONITOR_HELP)
    .action(async (url: string, options: WatchOptions) => {
      const { EXIT_UNREACHED, runMonitor } = await import('./monitor/monitor.ts')
      const { remoteLog } = await import('../pipeline/transparency/remote-log.ts')
      const apiKey = process.env['FVS_API_KEY']
      const headers = { 'Cache-Control': 'no-cache', ...(apiKey && { 'X-API-Key': apiKey }) }
      const watched = calledRightly(() => remoteLog(url, options.vkey, headers))
      try {
        const { exitCode, ...report } = await runMonitor(watched, options)
        print(report, options.json === true)
        process.exitCode = exitCode
      } catch (error) {
        if (!(error instanceof ServiceError) || error.kind !== 'unavailable') throw error
        reportError(error, options.json === true)
        process.exitCode = EXIT_UNREACHED
      }
    })
}
