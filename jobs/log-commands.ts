// Declares the commands for the public log, its keys and its witnesses: their arguments, and the function
// that runs each.
import { randomBytes } from 'node:crypto'
import { collected } from './arguments.ts'
import { type GlobalOptions, JSON_OPTION, calledRightly, finish, program } from './command-line.ts'
import type { WitnessOptions } from './witness.ts'

/** The size of an Ed25519 seed. */
const SEED_BYTES = 32

/** Adds `fvs log` and `fvs witness` to the program. */
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
    .argument(
      '<url>',
      'the address of the service, such as https://fvs.example or https://fvs.example/sandbox',
    )
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
}
