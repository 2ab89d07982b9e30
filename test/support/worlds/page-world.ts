// A world for pages: production has people and agents with hostile names, the sandbox is seeded, and a second
// service is empty.
import { assignAgents } from '../../../jobs/agents/agents.ts'
import type { Components } from '../../../jobs/components/components.ts'
import { startService } from '../../../jobs/serve/service.ts'
import { seedSandbox } from '../../../jobs/sandbox/seed.ts'
import { takeStep } from '../../../jobs/sandbox/step.ts'
import { signingKeyText } from '../../../pipeline/proof/note-keys.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { completeLog } from '../../../pipeline/transparency/publish.ts'
import { issueCredentials } from '../../../pipeline/credentials/issue.ts'
import { makeFolder } from '../folder.ts'
import { importCertified } from './certified-world.ts'
import { CREDENTIAL_KEY, CREDENTIAL_URL } from './credential-world.ts'
import { OPTIONS, START, after } from './sandbox.ts'
import {
  Clock,
  type TestOptions,
  importRows,
  registerAgent,
  release,
  startTestService,
  testComponents,
} from '../http/service.ts'
import { submitForecasts } from './submitted-forecasts.ts'
import {
  FORECAST_LINES,
  QUESTIONS_CSV,
  RESOLUTIONS_CSV,
  csvOf,
  forecasterId,
  openForecastLine,
  uuidOf,
} from './world.ts'

/**
 * Names and titles that must stay text. A control character of writing from right to left is refused with the
 * name itself.
 */
export const HOSTILE_NAMES = [
  '<script>document.title = "taken over"</script>',
  '" onload="document.title=1" x="',
  'אבג <b>דה</b> 123 &amp; “”',
  'W'.padEnd(200, '﷽'),
]
export const HOSTILE_OWNER = "owner's <img src=x onerror=alert(1)>/?#%"
export const agentIdOf = (index: number): string => uuidOf(5, index)
export const HOSTILE_QUESTION = uuidOf(6, 1)

const HOSTILE_TITLE = '</title><script>alert(1)</script> "quoted" & ﷽﷽﷽ W'.padEnd(200, 'W')
/** As CSV holds it. */
const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
const HOSTILE_PROSE = '<iframe src="//example.org"></iframe>\n\n\u202ereversed\n'.padEnd(2000, 'W')

/**
 * How many forecasts each hostile agent has on resolved questions: two are ranked and cannot be told apart, one
 * has too few. The last one has a forecast on an open question only.
 */
const FORECASTS = [104, 104, 10, 0]

/** Registers the agents under fixed ids, imports all else, and releases it. */
export async function releasePageWorld(components: Components): Promise<void> {
  for (const [index, name] of HOSTILE_NAMES.entries()) {
    const service = await startTestService({ ...components, newId: () => agentIdOf(index) })
    await registerAgent(service.client, name)
    await service.stop()
  }
  await assignAgents(components, [agentIdOf(0), agentIdOf(3)], { owner: HOSTILE_OWNER })
  const question = [
    HOSTILE_QUESTION,
    quoted(HOSTILE_TITLE),
    quoted('<i>category</i>'),
    'https://example.org/?a="><script>',
    quoted(HOSTILE_NAMES[1]!),
    '2026-01-01T00:00:00Z',
    '2199-01-01T00:00:00Z',
    'x',
    quoted('<b>1</b>'),
    quoted(HOSTILE_PROSE.trim()),
    quoted(HOSTILE_PROSE.trim()),
  ]
  await importRows(components, 'questions', `${QUESTIONS_CSV}${question.join(',')}\n`)
  await importRows(components, 'resolutions', RESOLUTIONS_CSV)
  await importRows(
    components,
    'forecasters',
    `user_id,display_name\n${forecasterId(0)},${quoted(HOSTILE_NAMES[0]!)}\n`,
  )
  const ofFirst = FORECAST_LINES.filter((line) => line.includes(forecasterId(0)))
  const ofAgents = FORECASTS.flatMap((count, index) =>
    ofFirst.slice(0, count).map((line) => line.replace(/^forecaster,[^,]+/, `agent,${agentIdOf(index)}`)),
  )
  await importRows(components, 'forecasts', csvOf(FORECAST_LINES))
  await submitForecasts(components.store, [...ofAgents, openForecastLine(agentIdOf(3))])
  await release(components)
}

const LOG_KEY = signingKeyText('log.example/forecasts', 'log', Buffer.alloc(32, 1))

export interface PageServices {
  /** Production has the world, the sandbox is seeded and has certificates. */
  full: string
  /** Nothing was ever released. */
  empty: string
  stop: () => Promise<void>
}

/** The caller must stop them. */
export async function startPageServices(): Promise<PageServices> {
  const { path: folder, remove } = await makeFolder()
  const clock = new Clock(START)
  const made = (options: TestOptions) =>
    testComponents({ store: new MemoryStore(), folder, clock, ...options })
  const sandbox = await made({ environment: 'sandbox' })
  await seedSandbox(sandbox, OPTIONS)
  await importCertified(sandbox)
  clock.set(after(60))
  await takeStep(sandbox)
  // The first of them is an earlier release.
  for (let nth = 0; nth < 2; nth++) await release(sandbox)
  const credentialIssuer = { url: CREDENTIAL_URL, keys: [CREDENTIAL_KEY] }
  await issueCredentials({ ...sandbox, credentialIssuer }, 2)
  const production = await made({ settings: { LOG_SIGNING_KEY: LOG_KEY } })
  await releasePageWorld(production)
  await completeLog(production, 1)
  const services = [
    await startService({ production, sandbox }, { scheduler: false }),
    await startService(
      { production: await made({}), sandbox: await made({ environment: 'sandbox' }) },
      { scheduler: false },
    ),
  ]
  return {
    full: services[0]!.url,
    empty: services[1]!.url,
    stop: async () => {
      for (const service of services) await service.stop()
      await remove()
    },
  }
}
