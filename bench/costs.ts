// Prints for every route of the service how long a call keeps the main thread busy, and how long that is for
// each call that it counts as. The routes come from the table of routes, so a new one is measured unnamed.
import { randomBytes } from 'node:crypto'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { Route } from '../api/http/route.ts'
import { allRoutes } from '../api/routes/all.ts'
import { withEveryEnvironment } from '../jobs/components/components.ts'
import { runImport } from '../jobs/import/import.ts'
import { startService } from '../jobs/serve/service.ts'
import { readSnapshotManifest, snapshotDates } from '../pipeline/release/read.ts'
import { METHODOLOGY } from '../pipeline/scoring/methodology.ts'
import { FileStore } from '../pipeline/store/file.ts'
import { snapshotManifestPath } from '../pipeline/store/paths.ts'
import { recordBytes } from '../pipeline/store/records.ts'
import { parseSettings } from '../schemas/config.ts'
import type { Answered } from './costs/asking.ts'
import { type Named, type PlannedCall, callsOf } from './costs/calls.ts'
import { NO_LIMITS, run } from './process.ts'
import { median } from './spread.ts'
import { worldSize, worldStore } from './world.ts'

const { values } = parseArgs({
  options: {
    forecasts: { type: 'string', default: '200000' },
    questions: { type: 'string', default: '5000' },
    entities: { type: 'string', default: '10' },
    'forecasts-per-pair': { type: 'string', default: '5' },
    times: { type: 'string', default: '9' },
    only: { type: 'string', default: '' },
  },
})
/** As many agents as the world has, besides the first one. */
const OTHERS = 3
/** As many days as a call of one hundred counts as one. */
const EARLIER_DAYS = 99
/** The most of the main thread that a call may take for each call that it counts as. */
const MOST_MS = 5

/** Questions with long texts, which a node reads only when somebody asks for them. */
const TEXT_IDS = Array.from(
  { length: 20 },
  (_, nth) => `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`,
)

const size = worldSize(
  Number(values.forecasts),
  Number(values.questions),
  Number(values.entities),
  Number(values['forecasts-per-pair']),
)
const world = await worldStore(size)
const folder = await mkdtemp(join(tmpdir(), 'fvs-bench-costs-'))
try {
  const root = join(folder, 'store')
  await cp(world, root, { recursive: true })
  await measure(root)
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function measure(root: string): Promise<void> {
  const settings = parseSettings({
    ...NO_LIMITS,
    STORE_URL: root,
    PORT: '0',
    LOG_LEVEL: 'silent',
    VERIFICATION_SIGNING_SECRET: 'a secret for measurements, of no other use',
  })
  await withEveryEnvironment(settings, async (components) => {
    const withTexts = join(folder, 'questions.csv')
    await writeFile(withTexts, textsCsv())
    await runImport(components.production, 'questions', withTexts)
    await run('release.ts', root, '2')
    await earlierSnapshots(root)
    const service = await startService(components, { scheduler: false, firstCallsMs: 0 })
    try {
      await service.loaded
      const routes = allRoutes({
        version: '0',
        methodology: METHODOLOGY,
        methodologyText: new TextEncoder().encode('# Methodology\n'),
      })
      await measureRoutes(service.url, routes)
    } finally {
      await service.stop()
    }
  })
}

/** Gives the days before the release the same snapshot, so that an entity has a history. */
async function earlierSnapshots(root: string): Promise<void> {
  const store = await FileStore.begin(root)
  const [last] = await snapshotDates(store)
  const manifest = await readSnapshotManifest(store, last!)
  for (let day = 1; day <= EARLIER_DAYS; day++) {
    const date = new Date(Date.parse(last!) - day * 86_400_000).toISOString().slice(0, 10)
    // The files never change, so that links to them take no room.
    await promisify(execFile)('cp', ['-al', join(root, 'snapshots', last!), join(root, 'snapshots', date)])
    const path = snapshotManifestPath(date)
    await store.put(path, recordBytes(path, { ...manifest, date }))
  }
}

function textsCsv(): string {
  const text = 'x'.repeat(10_000)
  const rows = TEXT_IDS.map(
    (id) => `${id},A long question,2026-01-01T00:00:00Z,2036-01-01T00:00:00Z,${text},${text}`,
  )
  return ['question_id,title,opened_at,closes_at,resolution_criteria,background', ...rows].join('\n')
}

async function measureRoutes(url: string, routes: readonly Route[]): Promise<void> {
  const worker = new Worker(new URL('costs/asking.ts', import.meta.url), { workerData: url })
  const ask: AskOne = async (request) => {
    const answered = Promise.withResolvers<Answered>()
    worker.once('message', answered.resolve)
    const before = process.threadCpuUsage()
    worker.postMessage(request)
    const answer = await answered.promise
    const { user, system } = process.threadCpuUsage(before)
    return { ...answer, ms: (user + system) / 1000 }
  }
  const named = await namesIn(ask)
  const calls = routes
    .flatMap((route) => callsOf(route, named))
    .filter(({ what }) => what.includes(values.only))
  // The asking itself costs a part of what is measured.
  const idle = '/livez'
  const warm = `GET ${idle} HTTP/1.1\r\nHost: bench\r\n\r\n`
  for (let nth = 0; nth < 200; nth++) await ask(warm)
  print('    first   others    again   a call  calls  again  status  call')
  for (const call of calls) print(await lineOf(call, ask))
  await worker.terminate()
}

interface Measured extends Answered {
  ms: number
}

type AskOne = (request: string) => Promise<Measured>

async function lineOf({ what, requestOf }: PlannedCall, ask: AskOne): Promise<string> {
  const times = Number(values.times)
  const first = await ask(requestOf(0))
  // What is made once for an entity is made again for each of these.
  const others = await inTurn(OTHERS, (nth) => ask(requestOf(nth + 1)))
  const again = await inTurn(times, () => ask(requestOf(0)))
  const costOf = (answers: readonly Measured[]) => median(answers.map(({ ms }) => ms))
  const eachOf = (answers: readonly Measured[]) =>
    median(answers.map(({ ms, counted }) => ms / Math.max(1, counted ?? 1)))
  const each = Math.max(eachOf(others), eachOf(again))
  const figures = [first.ms, costOf(others), costOf(again), each].map((ms) => ms.toFixed(2).padStart(9))
  const calls = [others, again].map((answers) => String(answers.at(-1)!.counted ?? '').padStart(7)).join('')
  return `${figures.join('')}${calls}${String(first.status).padStart(8)}  ${what}${each > MOST_MS ? '  OVER' : ''}`
}

async function inTurn<T>(times: number, work: (nth: number) => Promise<T>): Promise<T[]> {
  const done: T[] = []
  for (let nth = 0; nth < times; nth++) done.push(await work(nth))
  return done
}

/** Returns what the parameters of routes can name in the world, and the key of an agent. */
async function namesIn(ask: AskOne): Promise<Named> {
  const idsOf = async (kind: string, name: string) => {
    const { body } = await ask(`GET /leaderboard/${kind} HTTP/1.1\r\nHost: bench\r\n\r\n`)
    return (JSON.parse(body) as { entries: Record<string, string>[] }).entries.map((entry) => entry[name]!)
  }
  const settled = await ask('GET /questions?status=resolved&limit=1000 HTTP/1.1\r\nHost: bench\r\n\r\n')
  const { questions } = JSON.parse(settled.body) as { questions: { question_id: string }[] }
  const sent = JSON.stringify({ name: 'bench', model_type: 'bench' })
  const registered = await ask(
    `POST /agents/register HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: ${sent.length}\r\n\r\n${sent}`,
  )
  const { agent_id: own, api_key: key } = JSON.parse(registered.body) as Record<string, string>
  const agents = await idsOf('agent', 'agent_id')
  return {
    own: own!,
    key: key!,
    agent_id: agents,
    user_id: await idsOf('forecaster', 'user_id'),
    question_id: TEXT_IDS,
    settled: questions.map(({ question_id }) => question_id),
    newKey: () => randomBytes(16).toString('hex'),
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
