// `fvs demo`: seeds the sandbox with past weeks, serves it, and shows the answers of the service.
import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MOUNTS } from '../../api/mounts.ts'
import { credentialKeyText, parseCredentialKey } from '../../pipeline/credentials/keys.ts'
import { printable } from '../../pipeline/printable.ts'
import { signingKeyText } from '../../pipeline/proof/note-keys.ts'
import { firstPathIn } from '../../pipeline/store/open.ts'
import { type Settings, parseSettings } from '../../schemas/config.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { print } from '../command-line/output.ts'
import { type GlobalOptions, command } from '../command-line/program.ts'
import { stopSignal } from '../command-line/stop-signal.ts'
import { withEveryEnvironment } from '../components/components.ts'
import { makeTemporaryFolder } from '../components/temporary-folder.ts'
import { SEED_DEFAULTS, seedSandbox } from '../sandbox/seed.ts'
import { Scheduler } from '../serve/scheduler.ts'
import { startService } from '../serve/service.ts'
import { describeDemo, shellExports, variablesOf } from './report.ts'
import { type Say, SEED, WEEKS, showDemo } from './show.ts'

export function addDemo(): void {
  command('demo', 'Run the whole service on a small simulated world, in the sandbox of an empty store.')
    .option('--exit', 'end when everything has been shown instead of serving on')
    .action(async (options: GlobalOptions & { exit?: boolean }) => {
      if (!(await runDemo(process.env, options))) process.exitCode = 1
    })
}

const LOG_ORIGIN = 'demo.example/forecasts/sandbox'

/**
 * Prints its own report, then serves on, or ends if `exit` is true. Resolves once nothing is left running: to
 * true if every check held. After a stop before the report, resolves to false only with `exit`.
 *
 * @throws ServiceError `conflict` for a store that is not empty.
 */
export async function runDemo(
  variables: NodeJS.ProcessEnv,
  { store, exit = false, json = false }: { store?: string; exit?: boolean; json?: boolean },
): Promise<boolean> {
  const stopping = new AbortController()
  const stopped = stopSignal().then(() => {
    stopping.abort()
  })
  const folder = await makeTemporaryFolder('demo')
  try {
    const settings = demoSettings(variables, store ?? join(folder, 'data'))
    if (store !== undefined) await refuseData(settings)
    return await withEveryEnvironment(settings, async ({ production, sandbox }) => {
      const say = sayer(stopping.signal)
      // Seed the sandbox and serve it.
      say(`fvs sandbox seed --seed ${SEED} --weeks ${WEEKS}, in the empty store ${production.store.url}`)
      const world = await seedSandbox(sandbox, { ...SEED_DEFAULTS, seed: SEED, weeks: WEEKS })
      say('fvs serve')
      const service = await startService({ production, sandbox }, { scheduler: false, ownAddress: true })
      try {
        // Make releases, and show and check what is served.
        const credentialKey = credentialKeyText(randomBytes(32))
        const credentialIssuer = {
          url: service.url + MOUNTS.sandbox,
          keys: [parseCredentialKey(credentialKey)],
        }
        const { outcome, checks } = await showDemo({
          components: { ...sandbox, credentialIssuer },
          world,
          url: service.url + MOUNTS.sandbox,
          store: production.store.url,
          say,
          signal: stopping.signal,
        })
        // Tell the outcome, and how to try further commands.
        const ok = checks.every((check) => check.ok)
        const forCommands = {
          ...variablesOf(sandbox, outcome),
          PUBLIC_URL: service.url,
          SANDBOX_CREDENTIAL_SIGNING_KEY: credentialKey,
          FILES: folder,
        }
        const variablesFile = join(folder, 'demo.env')
        await writeFile(variablesFile, shellExports(forCommands))
        const kept = exit ? {} : { folder, variables_file: variablesFile }
        const text = describeDemo(outcome, checks, exit ? undefined : variablesFile)
        print({ ok, json: { ok, serving: !exit, ...kept, ...outcome }, text }, json)
        if (!exit) {
          // The scheduled commands are separate processes. They inherit their settings from the variables of
          // this one.
          Object.assign(variables, forCommands)
          const scheduler = new Scheduler('sandbox', sandbox.own.RELEASE_SCHEDULE, true, sandbox.logger)
          await stopped
          await scheduler.stop()
        }
        return ok
      } finally {
        await service.stop()
      }
    })
  } catch (error) {
    if (!stopping.signal.aborted) throw error
    process.stderr.write('fvs: stopped before the end; nothing is left running\n')
    return !exit
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Returns the settings in `variables`, and the demo's own for all others. The store and the log are always
 * the demo's.
 */
function demoSettings(variables: NodeJS.ProcessEnv, storeUrl: string): Settings {
  return parseSettings({
    PORT: '0',
    // The examples of README.md and docs/ make many calls from one address.
    SANDBOX_REGISTRATIONS_PER_HOUR: '1000',
    SANDBOX_FORECASTS_PER_MINUTE: '100000',
    SANDBOX_ADDRESS_FORECASTS_PER_MINUTE: '100000',
    SANDBOX_ANONYMOUS_PER_MINUTE: '100000',
    SANDBOX_ANONYMOUS_PER_MONTH: '100000',
    SANDBOX_READS_PER_MINUTE: '100000',
    SANDBOX_PAGES_PER_MINUTE: '100000',
    SANDBOX_ATTEMPTS_PER_MINUTE: '100000',
    LOG_LEVEL: 'warn',
    REFRESH_MS: '250',
    SHUTDOWN_TIMEOUT_MS: '2000',
    SANDBOX_VERIFICATION_SIGNING_SECRET: randomBytes(32).toString('base64url'),
    ...Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== '')),
    // Leave out the operator's keys: they would sign a second history under the name of a known log.
    LOG_SIGNING_KEY: '',
    LOG_SIGNING_KEY_PREVIOUS: '',
    LOG_WITNESSES: '',
    SANDBOX_LOG_SIGNING_KEY: signingKeyText(LOG_ORIGIN, 'log', randomBytes(32)),
    SANDBOX_LOG_SIGNING_KEY_PREVIOUS: '',
    SANDBOX_LOG_WITNESSES: '',
    // The demo makes a key for the address that it gets.
    CREDENTIAL_SIGNING_KEY: '',
    CREDENTIAL_SIGNING_KEY_PREVIOUS: '',
    SANDBOX_CREDENTIAL_SIGNING_KEY: '',
    SANDBOX_CREDENTIAL_SIGNING_KEY_PREVIOUS: '',
    STORE_URL: storeUrl,
  })
}

async function refuseData({ STORE_URL: url, S3_ENDPOINT: s3Endpoint }: Settings): Promise<void> {
  const path = await firstPathIn({ url, s3Endpoint })
  if (path === undefined) return
  throw new ServiceError('conflict', `${url} already holds ${path}; the demo writes to an empty store only`)
}

/** Returns a function that prints each step on standard error, until the demo is told to end. */
function sayer(signal: AbortSignal): Say {
  const startedMs = performance.now()
  return (text) => {
    signal.throwIfAborted()
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
    process.stderr.write(`${seconds.padStart(5)} s  ${printable(text)}\n`)
  }
}
