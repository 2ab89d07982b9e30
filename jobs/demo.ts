// `fvs demo`: the whole service on a small simulated world in the sandbox, from registration to an audited release.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openStore } from '../pipeline/store/open.ts'
import type { Settings } from '../schemas/config.ts'
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
import { demoSettings, shellExports, variablesOf } from './simulation/demo-settings.ts'
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
  const outcome: DemoOutcome = {
    simulated: true,
    seed: SEED,
    url,
    store,
    data: store.startsWith('file:') ? fileURLToPath(components.store.url) : components.store.url,
    ...played,
    ...standings,
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

async function refuseData({ STORE_URL: url, S3_ENDPOINT: s3Endpoint }: Settings): Promise<void> {
  const store = openStore({ url, s3Endpoint })
  for await (const { path } of store.list('')) {
    throw new ServiceError(
      'conflict',
      `${store.url} already holds ${path}; the demo writes to an empty store only`,
    )
  }
}
