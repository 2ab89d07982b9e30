// The shared parts of all commands: the program, the options for a store and its environment, and the end of
// a command.
import { Command, type CommandOptions, Option } from 'commander'
import { type Settings, parseSettings } from '../../schemas/config.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { ENVIRONMENTS, type Environment } from '../../schemas/values.ts'
import { type Components, SERVICE_VERSION, withComponents } from '../components/components.ts'
import type { Access } from '../components/own-store.ts'
import { type Report, print } from './output.ts'

export const JSON_OPTION = ['--json', 'print one JSON object on standard output'] as const

export interface GlobalOptions {
  store?: string
  json?: boolean
}

export interface StoreOptions extends GlobalOptions {
  environment: Environment
}

let fileOfSettings: string | undefined

/** Returns the file of the settings, if any. */
export function namedSettingsFile(): string | undefined {
  return fileOfSettings === '' ? undefined : fileOfSettings
}

export const program: Command = new Command('fvs')
  .description('Forecast verification service: scores probabilistic forecasts and publishes signed results.')
  .version(SERVICE_VERSION)
  .option(
    '--env-file <file>',
    'read settings from this file too (default: FVS_ENV_FILE); values that are already in the environment win',
  )
  .configureHelp({ showGlobalOptions: true })
  .exitOverride()
  .hook('preAction', () => {
    const { envFile } = program.opts<{ envFile?: string }>()
    fileOfSettings = envFile ?? process.env['FVS_ENV_FILE']
    const fault = readEnvFile(envFile)
    if (fault !== undefined) program.error(`error: ${fault}`, { exitCode: 2 })
  })

/** Adds a command. `--store` wins over `STORE_URL`. */
export function command(
  name: string,
  about: string,
  parent: Command = program,
  how: CommandOptions = {},
): Command {
  return parent
    .command(name, how)
    .description(about)
    .option('--store <url>', 'file:///folder or s3://bucket/prefix (default: STORE_URL, then ./data)')
    .option(...JSON_OPTION)
}

/** Adds a command that works on one environment of the store. */
export function storeCommand(
  name: string,
  about: string,
  parent: Command = program,
  how: CommandOptions = {},
): Command {
  return command(name, about, parent, how).addOption(
    new Option('--environment <name>', 'production, or the sandbox beside it')
      .choices(ENVIRONMENTS)
      .default('production'),
  )
}

/**
 * @throws ServiceError `invalid`, even for an empty `--store`, because it would lead to another store.
 */
export function settingsFor({ store }: GlobalOptions): Settings {
  if (store?.trim() === '')
    throw new ServiceError('invalid', '--store is empty: is the variable that names the store set?')
  return parseSettings({ ...process.env, ...(store === undefined ? {} : { STORE_URL: store }) })
}

export function finish(report: Report, { json = false }: GlobalOptions): void {
  print(report, json)
  if (!report.ok) process.exitCode = 1
}

export async function onStore(
  options: StoreOptions,
  access: Access,
  work: (components: Components) => Promise<Report>,
): Promise<void> {
  finish(await withComponents(settingsFor(options), options.environment, access, work), options)
}

/** Exits with code 2 if the options are invalid. */
export function calledRightly<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof ServiceError) return program.error(`error: ${error.message}`, { exitCode: 2 })
    throw error
  }
}

/**
 * Adds the variables of a file in the form of Node's `--env-file`. Existing values in the environment win.
 * Processes started by this one inherit the result, and must not read a file again.
 *
 * @param given the value of `--env-file`; by default that of FVS_ENV_FILE, if set.
 * @returns the fault, with the name of the file, if it cannot be read.
 */
function readEnvFile(given: string | undefined): string | undefined {
  const { FVS_ENV_FILE: byVariable = '' } = process.env
  const file = given ?? byVariable
  const name = given === undefined ? 'FVS_ENV_FILE' : '--env-file'
  if (given === undefined && file === '') return undefined
  try {
    process.loadEnvFile(file)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    return `${name} is ${JSON.stringify(file)}, which cannot be read (${code})`
  }
  delete process.env['FVS_ENV_FILE']
  return undefined
}
