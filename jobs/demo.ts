// `fvs demo`: the whole service on a small simulated world, from registration to an audited release, in seconds.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../pipeline/store/open.ts'
import { type Settings, parseSettings } from '../schemas/config.ts'
import { ServiceError } from '../schemas/errors.ts'
import { type Components, withEveryEnvironment } from './components.ts'
import { DemoClient } from './simulation/demo-client.ts'
import { type Checked, type DemoOutcome, checkDemo, describeDemo } from './simulation/demo-report.ts'
import { playDemo } from './simulation/demo-steps.ts'
import { print } from './output.ts'
import { Scheduler } from './serve/scheduler.ts'
import { startService } from './serve.ts'
import { stopSignal } from './stop-signal.ts'

export interface DemoOptions {
  store?: string | undefined
  /** End when everything has been shown instead of serving on. */
  exit: boolean
  json: boolean
}

/**
 * Prints its own report, before it serves on. Resolves once nothing is left running, to whether all was shown
 * and every check held.
 *
 * @throws ServiceError `conflict` for a store that is not empty.
 */
export async function runDemo(environment: NodeJS.ProcessEnv, options: DemoOptions): Promise<boolean> {
  const stopping = new AbortController()
  const stopped = stopSignal().then(() => {
    stopping.abort()
  })
  const folder = await mkdtemp(join(tmpdir(), 'fvs-demo-'))
  try {
    const settings = demoSettings(environment, options.store ?? join(folder, 'data'))
    if (options.store !== undefined) await refuseData(settings)
    return await withEveryEnvironment(settings, async (components) => {
      const { production } = components
      const service = await startService(components, { scheduler: false })
      try {
        const checked = await showDemo(production, service.url, folder, stopping.signal)
        const variables = variablesOf(settings, checked.outcome)
        const variablesFile = join(folder, 'demo.env')
        await writeFile(variablesFile, shellExports(variables))
        const text = describeDemo(checked, options.exit ? undefined : variablesFile)
        const kept = options.exit ? {} : { folder, variables_file: variablesFile }
        const json = { ok: checked.ok, serving: !options.exit, ...kept, ...checked.outcome }
        print({ ok: checked.ok, json, text }, options.json)
        if (!options.exit) {
          // Scheduled releases run as commands of their own and find their settings in the environment.
          Object.assign(environment, variables)
          const scheduler = new Scheduler('production', settings.RELEASE_SCHEDULE, true, production.logger)
          await stopped
          await scheduler.stop()
        }
        return checked.ok
      } finally {
        await service.stop()
      }
    })
  } catch (error) {
    if (!stopping.signal.aborted) throw error
    process.stderr.write('fvs: stopped before the end; nothing is left running\n')
    return !options.exit
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function showDemo(
  components: Components,
  url: string,
  folder: string,
  signal: AbortSignal,
): Promise<Checked> {
  const startedMs = performance.now()
  const say = (text: string) => {
    signal.throwIfAborted()
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
    process.stderr.write(`${seconds.padStart(5)} s  ${text}\n`)
  }
  say(`serving ${url} on the empty store ${components.store.url}`)
  const stage = { components, client: new DemoClient(url), folder, say, signal }
  const checked = await checkDemo(stage, await playDemo(stage))
  say('done')
  return checked
}

/** The environment's settings, with the demo's own where it is silent; never the store that it names. */
function demoSettings(environment: NodeJS.ProcessEnv, storeUrl: string): Settings {
  return parseSettings({
    PORT: '0',
    // The demo's agents do within seconds, from one address, what others take weeks for.
    REGISTRATIONS_PER_HOUR: '1000',
    FORECASTS_PER_MINUTE: '100000',
    LOG_LEVEL: 'warn',
    REFRESH_MS: '250',
    SHUTDOWN_TIMEOUT_MS: '2000',
    RELEASE_SCHEDULE: '* * * * *',
    VERIFICATION_SIGNING_SECRET: randomBytes(32).toString('base64url'),
    ...Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== '')),
    STORE_URL: storeUrl,
  })
}

async function refuseData({ STORE_URL: url, S3_ENDPOINT: s3Endpoint }: Settings): Promise<void> {
  const store = openStore({ url, s3Endpoint })
  for await (const { path } of store.list('')) {
    throw new ServiceError(
      'conflict',
      `${store.url} already holds ${path}; the demo writes to an empty store only`,
    )
  }
}

/** What a command in another terminal needs to work on this store as the demo does, and the ids of its examples. */
function variablesOf(settings: Settings, outcome: DemoOutcome): Record<string, string> {
  return {
    FVS_URL: outcome.url,
    STORE_URL: outcome.store,
    LOG_LEVEL: settings.LOG_LEVEL,
    VERIFICATION_SIGNING_SECRET: settings.VERIFICATION_SIGNING_SECRET ?? '',
    AGENT_ID: outcome.agents[0]!.id,
    USER_ID: outcome.forecasters[0]!.id,
    QUESTION_ID: outcome.open_question_id,
  }
}

function shellExports(variables: Record<string, string>): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    .join('')
}
