// `fvs demo`: the whole service on a small simulated world in the sandbox, from registration to an audited release.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openStore } from '../pipeline/store/open.ts'
import { type Settings, parseSettings } from '../schemas/config.ts'
import { ServiceError } from '../schemas/errors.ts'
import type { Environment } from '../schemas/values.ts'
import { runAudit } from './audit.ts'
import { type Components, withEveryEnvironment } from './components.ts'
import { print } from './output.ts'
import { Scheduler } from './serve/scheduler.ts'
import { startService } from './serve/service.ts'
import { stopSignal } from './serve/stop-signal.ts'
import { DemoClient } from './simulation/demo-client.ts'
import { type DemoOutcome, describeDemo, standingsOf } from './simulation/demo-report.ts'
import { playDemo } from './simulation/demo-steps.ts'
import { SEED } from './simulation/demo-world.ts'
import { runVerify } from './verify.ts'

export interface DemoOptions {
  store?: string | undefined
  /** End when everything has been shown instead of serving on. */
  exit: boolean
  json: boolean
}

interface Shown {
  outcome: DemoOutcome
  ok: boolean
  /** The lines that the checks have printed. */
  checks: string[]
}

/**
 * Prints its own report, before it serves on. Resolves once nothing is left running, with whether everything was
 * shown and every check held.
 *
 * @throws ServiceError `conflict` for a store that is not empty.
 */
export async function runDemo(variables: NodeJS.ProcessEnv, options: DemoOptions): Promise<boolean> {
  const stopping = new AbortController()
  const stopped = stopSignal().then(() => {
    stopping.abort()
  })
  const folder = await mkdtemp(join(tmpdir(), 'fvs-demo-'))
  try {
    const settings = demoSettings(variables, options.store ?? join(folder, 'data'))
    if (options.store !== undefined) await refuseData(settings)
    return await withEveryEnvironment(settings, async (components) => {
      const { sandbox } = components
      const service = await startService(components, { scheduler: false })
      try {
        const shown = await showDemo(components, service.url, stopping.signal)
        const forCommands = variablesOf(sandbox, shown.outcome)
        const variablesFile = join(folder, 'demo.env')
        await writeFile(variablesFile, shellExports(forCommands))
        report(shown, options, folder, variablesFile)
        if (!options.exit) {
          // The scheduled commands are processes of their own and find their settings in the variables of this one.
          Object.assign(variables, forCommands)
          const scheduler = new Scheduler('sandbox', sandbox.own.RELEASE_SCHEDULE, true, sandbox.logger)
          await stopped
          await scheduler.stop()
        }
        return shown.ok
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
  { production, sandbox: components }: Record<Environment, Components>,
  root: string,
  signal: AbortSignal,
): Promise<Shown> {
  const startedMs = performance.now()
  const say = (text: string) => {
    signal.throwIfAborted()
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
    process.stderr.write(`${seconds.padStart(5)} s  ${text}\n`)
  }
  const url = `${root}/sandbox`
  const store = production.store.url
  say(`serving ${url} on the empty store ${store}`)
  const stage = { components, client: new DemoClient(url), say, signal }
  const played = await playDemo(stage)
  const standings = await standingsOf(stage, played)
  const target = `${url}/agents/${standings.agents[0]!.id}/verification`
  say(`fvs verify ${target}`)
  const verification = await runVerify(components.own, target, undefined)
  say('fvs audit')
  const audit = await runAudit(components, played.release)
  say('done')
  const { agents: _agents, openQuestionId, ...rest } = played
  const outcome: DemoOutcome = {
    simulated: true,
    seed: SEED,
    url,
    store,
    data: store.startsWith('file:') ? fileURLToPath(components.store.url) : components.store.url,
    ...rest,
    ...standings,
    open_question_id: openQuestionId,
    verification: verification.json,
    audit: audit.json,
  }
  const checks = [...verification.text.split('\n'), ...audit.text.split('\n')]
  return { outcome, ok: verification.ok && audit.ok, checks }
}

function report(
  { ok, outcome, checks }: Shown,
  { exit, json }: DemoOptions,
  folder: string,
  variablesFile: string,
): void {
  const kept = exit ? {} : { folder, variables_file: variablesFile }
  const text = describeDemo(outcome, checks, exit ? undefined : variablesFile)
  print({ ok, json: { ok, serving: !exit, ...kept, ...outcome }, text }, json)
}

/** The settings of `variables`, with the demo's own where they are silent; never the store that they name. */
function demoSettings(variables: NodeJS.ProcessEnv, storeUrl: string): Settings {
  return parseSettings({
    PORT: '0',
    // The demo's agents do within seconds, from one address, what others take weeks for.
    SANDBOX_REGISTRATIONS_PER_HOUR: '1000',
    SANDBOX_FORECASTS_PER_MINUTE: '100000',
    LOG_LEVEL: 'warn',
    REFRESH_MS: '250',
    SHUTDOWN_TIMEOUT_MS: '2000',
    SANDBOX_VERIFICATION_SIGNING_SECRET: randomBytes(32).toString('base64url'),
    ...Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== '')),
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

/** What a command in another terminal needs to work on this sandbox as the demo does, and what its examples name. */
function variablesOf({ settings, own }: Components, outcome: DemoOutcome): Record<string, string> {
  const secret = own.VERIFICATION_SIGNING_SECRET ?? ''
  return {
    STORE_URL: outcome.store,
    SANDBOX_VERIFICATION_SIGNING_SECRET: secret,
    LOG_LEVEL: settings.LOG_LEVEL,
    FVS_URL: outcome.url,
    SIGNING_SECRET: secret,
    DATA: outcome.data,
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
