// Minutes of mixed load on one node that also makes releases: prints, for each minute, what it answered and
// how much memory and how many open files it held, beside the first minute's.
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { v4 as uuidv4, v5 as uuidv5 } from 'uuid'
import { run, startService } from './process.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    connections: { type: 'string', default: '8' },
  },
})
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const QUESTIONS = 1_000
const question = (index: number) => uuidv5(`question ${index}`, uuidv5.URL)
/** The even ones are open, the odd ones closed and resolved. */
const anyQuestion = (nth: number) => question(2 * (nth % (QUESTIONS / 2)))

interface Agent {
  agent_id: string
  api_key: string
}
const agents: Agent[] = []
const answers: Record<string, number> = {}

const json = { 'Content-Type': 'application/json' }
const post = (body: object, headers = {}) => ({
  method: 'POST',
  headers: { ...json, ...headers },
  body: JSON.stringify(body),
})
const anyAgent = (nth: number) => agents[(nth * 7919) % agents.length]!
const submission = (nth: number, probability: number): [path: string, init: RequestInit] => {
  const { agent_id, api_key } = anyAgent(nth)
  const keyed = { Authorization: `Bearer ${api_key}`, 'Idempotency-Key': uuidv4() }
  const body = { question_id: anyQuestion(nth), probability }
  return [
    `/agents/${agent_id}/forecast`,
    post(body, nth % 2 === 0 ? keyed : { Authorization: keyed.Authorization }),
  ]
}

/** What is asked, in turn: half of it forecasts, and one call in ten wrong. */
const CALLS: ((nth: number) => [path: string, init?: RequestInit])[] = [
  (nth) => submission(nth, (nth % 999) / 1000),
  (nth) => [`/agents/${anyAgent(nth).agent_id}/verification`],
  (nth) => submission(nth, 0.5),
  () => ['/questions?status=open&limit=20'],
  (nth) => submission(nth, (nth % 7) / 7),
  (nth) => [
    '/verification/bulk',
    post({ entity_type: 'agent', ids: range(10).map((each) => anyAgent(nth + each).agent_id) }),
  ],
  (nth) => submission(nth, 0.25),
  (nth) => [`/agents/${anyAgent(nth).agent_id}/${nth % 3 === 0 ? 'metrics' : 'rankings'}`],
  (nth) => submission(nth, (nth % 100) / 100),
  (nth) => WRONG[nth % WRONG.length]!(nth),
]
const WRONG: ((nth: number) => [path: string, init?: RequestInit])[] = [
  () => [`/questions/${uuidv4()}`],
  (nth) => submission(nth, 2),
  (nth) => [`/agents/${anyAgent(nth).agent_id}/verification`, { headers: { 'X-API-Key': 'wrong' } }],
  () => ['/agents/register', { method: 'POST', headers: json, body: '{"name": ' }],
]

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

async function ask(url: string, path: string, init?: RequestInit): Promise<Response> {
  const answer = await fetch(url + path, init)
  const kind = `${Math.floor(answer.status / 100)}xx`
  answers[kind] = (answers[kind] ?? 0) + 1
  return answer
}

async function register(url: string): Promise<void> {
  const answer = await ask(url, '/agents/register', post({ name: 'soak', model_type: 'soak' }))
  if (answer.status === 201) agents.push((await answer.json()) as Agent)
  else await answer.arrayBuffer()
}

async function load(url: string, worker: number, signal: AbortSignal): Promise<void> {
  for (let nth = worker; !signal.aborted; nth += 1) {
    if (nth % 200 === 0) await register(url)
    const [path, init] = CALLS[nth % CALLS.length]!(nth)
    const answer = await ask(url, path, init)
    await answer.arrayBuffer()
  }
}

async function held(pid: number, url: string) {
  const [status, files, metrics] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'utf8'),
    readdir(`/proc/${pid}/fd`),
    fetch(`${url}/metrics`).then((answer) => answer.text()),
  ])
  const measured = (name: string) =>
    Number(new RegExp(`^${name}(?:\\{environment="production"\\})? (\\S+)`, 'm').exec(metrics)?.[1])
  return {
    residentMib: Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) / 1024,
    heapMib: measured('nodejs_heap_size_used_bytes') / 2 ** 20,
    files: files.length,
    release: measured('fvs_release'),
  }
}

/** The middle of some samples, since between two collections of garbage a heap may be of any size. */
function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!
}

const folder = await mkdtemp(join(tmpdir(), 'fvs-soak-'))
try {
  const store = join(folder, 'store')
  const importRows = async (table: string, rows: object[]) => {
    const file = join(folder, `${table}.ndjson`)
    await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    await run('../jobs/fvs.js', 'import', table, file, '--store', store)
  }
  const at = (days: number) => new Date(Date.now() + days * DAY_MS)
  await importRows(
    'questions',
    range(QUESTIONS).map((index) => ({
      question_id: question(index),
      title: `Will it hold, ${index}?`,
      opened_at: at(-30),
      closes_at: at(index % 2 === 0 ? 30 : -1),
    })),
  )
  await importRows(
    'resolutions',
    range(QUESTIONS / 2).map((index) => ({
      question_id: question(2 * index + 1),
      outcome: 'yes',
      resolved_at: at(-1),
    })),
  )
  await using service = await startService(
    store,
    { RELEASE_SCHEDULE: '*/15 * * * * *', LOG_LEVEL: 'info' },
    [],
  )
  const { url, pid } = service
  while (agents.length < 50) await register(url)
  const stopping = new AbortController()
  const loading = Promise.all(
    range(Number(values.connections)).map((worker) => load(url, worker, stopping.signal)),
  )
  process.stdout.write(
    '| minute | answers/s | 2xx | 4xx | 5xx | resident MiB | heap MiB | open files | release |\n',
  )
  process.stdout.write('| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n')
  for (let minute = 1; minute <= Number(values.minutes); minute++) {
    const before = { ...answers }
    const samples: Awaited<ReturnType<typeof held>>[] = []
    for (const end = performance.now() + MINUTE_MS; performance.now() < end;) {
      await Promise.race([pause(2_000), loading])
      samples.push(await held(pid, url))
    }
    const since = (kind: string) => (answers[kind] ?? 0) - (before[kind] ?? 0)
    const kinds = ['2xx', '4xx', '5xx'].map(since)
    const total = kinds.reduce((sum, count) => sum + count, 0)
    const middle = (['residentMib', 'heapMib', 'files'] as const).map((name) =>
      median(samples.map((sample) => sample[name])).toFixed(0),
    )
    const cells = [minute, (total / 60).toFixed(0), ...kinds, ...middle, samples.at(-1)!.release]
    process.stdout.write(`| ${cells.join(' | ')} |\n`)
  }
  stopping.abort()
  await loading
  process.stdout.write(`\n${agents.length} agents; answers other than 2xx and 4xx: ${answers['5xx'] ?? 0}\n`)
} finally {
  await rm(folder, { recursive: true, force: true })
}
