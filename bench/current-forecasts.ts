// Reading back what stands: whether each of several nodes is right, and how soon; and what starting a node
// costs.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pMap from 'p-map'
import { v5 as uuidv5, v7 as uuidv7 } from 'uuid'
import { Database } from '../pipeline/duckdb.ts'
import { LocalFiles } from '../pipeline/store/local-files.ts'
import { openStore } from '../pipeline/store/open.ts'
import { inboxPath } from '../pipeline/store/paths.ts'
import { compact } from '../pipeline/tables/compact.ts'
import { parquetOf } from '../pipeline/tables/data-files.ts'
import type { CurrentForecasts } from '../schemas/answers.ts'
import { run, startService } from './process.ts'

const { values } = parseArgs({
  options: {
    store: { type: 'string' },
    nodes: { type: 'string', default: '4' },
    agents: { type: 'string', default: '100' },
    questions: { type: 'string', default: '1000' },
    updates: { type: 'string', default: '200' },
    /** For the starts: forecasts in the table, of which each agent has three on each open question. */
    current: { type: 'string', default: '1000000' },
  },
})
const [nodes, agents, questions, updates, current] = [
  values.nodes,
  values.agents,
  values.questions,
  values.updates,
  values.current,
].map(Number) as [number, number, number, number, number]

const folder = await mkdtemp(join(tmpdir(), 'fvs-bench-current-'))
const url = values.store ?? join(folder, 'store')
const s3 = Object.fromEntries(
  ['S3_ENDPOINT', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_REGION'].flatMap((name) =>
    process.env[name] === undefined ? [] : [[name, process.env[name]]],
  ),
)
const print = (line = '') => process.stdout.write(`${line}\n`)
const question = (index: number) => uuidv5(`standing ${index}`, uuidv5.URL)
const range = (count: number) => Array.from({ length: count }, (_, index) => index)

interface Agent {
  agent_id: string
  api_key: string
  /** What it said last, by question. */
  said: Map<string, number>
}
type Node = Awaited<ReturnType<typeof startService>>

/** A node with an empty cache, as on a machine of its own. */
const startNode = (store: string, name: string) =>
  startService(store, { ...s3, CACHE_DIR: join(folder, name) })

/** Asks again where a node cannot answer yet. */
async function call<T>(node: Node, agent: Agent, path: string, body?: object): Promise<T> {
  const headers = { Authorization: `Bearer ${agent.api_key}`, 'Content-Type': 'application/json' }
  const response = await fetch(
    node.url + path,
    body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers },
  )
  if (response.status === 503 && !body) {
    await pause(20)
    return call(node, agent, path)
  }
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}

const register = async (node: Node): Promise<Agent> => {
  const body = { name: 'an agent', model_type: 'bench' }
  const nobody = { agent_id: '', api_key: 'none', said: new Map<string, number>() }
  return { ...nobody, ...(await call<object>(node, nobody, '/agents/register', body)) }
}

/** All current forecasts of an agent, by question. */
async function readBack(node: Node, agent: Agent): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (let query = '?limit=1000'; ;) {
    const page = await call<CurrentForecasts>(node, agent, `/agents/${agent.agent_id}/forecasts${query}`)
    for (const { question_id, probability } of page.forecasts) found.set(question_id, probability!)
    if (page.next_cursor === null) return found
    query = `?limit=1000&cursor=${page.next_cursor}`
  }
}

async function memoryMib({ pid }: Node, name: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)![1]) / 1024
}

const STARTS = 'serves after  reads back after     CPU   memory MiB, most'
/** Starts a node, and prints what that took until it could answer an agent's current forecasts. */
async function printStart(
  what: string,
  begin: () => Promise<Node>,
  agent: Agent,
  check: (node: Node) => Promise<void>,
): Promise<void> {
  const startedMs = performance.now()
  await using node = await begin()
  const servesS = (performance.now() - startedMs) / 1000
  await readBack(node, agent)
  const readsS = (performance.now() - startedMs) / 1000
  const cpuS = await node.cpuSeconds()
  const [now, most] = [await memoryMib(node, 'VmRSS'), await memoryMib(node, 'VmHWM')]
  await check(node)
  const seconds = (number: number, width: number) => `${number.toFixed(2).padStart(width)} s`
  print(
    `  ${what.padEnd(42)}${seconds(servesS, 12)}${seconds(readsS, 17)}${seconds(cpuS, 7)} ${now.toFixed(0).padStart(12)}, ${most.toFixed(0)}`,
  )
}

async function importQuestions(store: string, count: number): Promise<void> {
  const file = join(folder, 'questions.csv')
  const closes = new Date(Date.now() + 30 * 86_400_000).toISOString()
  const lines = range(count).map(
    (index) => `${question(index)},Question ${index},2026-01-01T00:00:00Z,${closes}`,
  )
  await writeFile(file, ['question_id,title,opened_at,closes_at', ...lines, ''].join('\n'))
  Object.assign(process.env, { CACHE_DIR: join(folder, 'operator') })
  await run('../jobs/fvs.js', 'import', 'questions', file, '--store', store)
}

function quantile(numbers: number[], share: number): number {
  return numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(share * numbers.length))]!
}

async function measureNodes(): Promise<void> {
  await importQuestions(url, questions)
  const fleet = await Promise.all(range(nodes).map((node) => startNode(url, `node-${node}`)))
  const nodeOf = (number: number) => fleet[number % nodes]!
  const everyone = await pMap(range(agents), (index) => register(nodeOf(index)), { concurrency: 16 })
  let submittedMs = performance.now()
  await pMap(
    everyone,
    async (agent, index) => {
      for (let from = 0; from < questions; from += 100) {
        const forecasts = range(Math.min(100, questions - from)).map((each) => {
          const probability = ((index * 7919 + (from + each) * 104_729) % 1_000_001) / 1e6
          agent.said.set(question(from + each), probability)
          return { question_id: question(from + each), probability }
        })
        await call(nodeOf(index + from / 100), agent, `/agents/${agent.agent_id}/forecasts`, { forecasts })
      }
    },
    { concurrency: 16 },
  )
  submittedMs = performance.now() - submittedMs
  print(
    `${nodes} nodes on ${s3['S3_ENDPOINT'] === undefined ? 'a folder' : 'S3'}, ${agents} agents with ${questions} open questions each: ` +
      `${agents * questions} forecasts acknowledged in ${(submittedMs / 1000).toFixed(1)} s`,
  )

  const own: number[] = []
  const others: number[] = []
  /** For each node, when the last call was made whose answer was old. */
  const old: number[] = []
  for (const number of range(updates)) {
    const agent = everyone[(number * 31) % agents]!
    const question_id = question((number * 17) % questions)
    const probability = (number + 1) / 1000
    await call(nodeOf(number), agent, `/agents/${agent.agent_id}/forecast`, { question_id, probability })
    agent.said.set(question_id, probability)
    const acknowledgedMs = performance.now()
    const path = `/agents/${agent.agent_id}/forecasts?question_id=${question_id}`
    const isRight = async (node: Node) =>
      (await call<CurrentForecasts>(node, agent, path)).forecasts[0]?.probability === probability
    assert.ok(await isRight(nodeOf(number)), 'the node that took a forecast does not have it')
    own.push(performance.now() - acknowledgedMs)
    await Promise.all(
      range(nodes - 1).map(async (step) => {
        let lastOldMs = 0
        for (;;) {
          const askedMs = performance.now() - acknowledgedMs
          if (await isRight(nodeOf(number + 1 + step))) break
          lastOldMs = askedMs
          await pause(50)
        }
        others.push(performance.now() - acknowledgedMs)
        old.push(lastOldMs)
      }),
    )
  }
  print(
    `${updates} single forecasts: read back at once from the node that took it, ${Math.max(...own).toFixed(0)} ms at most with the call; ` +
      `from the others after ${quantile(others, 0.5).toFixed(0)} ms (median), ${quantile(others, 0.99).toFixed(0)} ms (p99), ` +
      `${Math.max(...others).toFixed(0)} ms at most; no call that was made later than ${Math.max(...old).toFixed(0)} ms had an old answer; ` +
      `REFRESH_MS is 2000`,
  )

  const wrong = async (node: Node) => {
    const differ = await pMap(
      everyone,
      async (agent) => {
        const found = await readBack(node, agent)
        return (
          [...agent.said].filter(([id, probability]) => found.get(id) !== probability).length +
          found.size -
          agent.said.size
        )
      },
      { concurrency: 4 },
    )
    return differ.reduce((sum, count) => sum + count, 0)
  }
  const differences = await Promise.all(fleet.map(wrong))
  print(`all ${agents * questions} on every node: ${differences.map((count) => `${count} wrong`).join(', ')}`)
  assert.deepEqual(
    differences,
    range(nodes).map(() => 0),
  )

  print(`\n${'a node that starts'.padEnd(44)}${STARTS}`)
  const allRight = async (node: Node) => {
    assert.equal(await wrong(node), 0)
  }
  await printStart('all in the inbox', () => startNode(url, 'late-1'), everyone[0]!, allRight)
  await run('../jobs/fvs.js', 'release', '--store', url)
  await printStart(
    'all in the table, after a release',
    () => startNode(url, 'late-2'),
    everyone[0]!,
    allRight,
  )
  await Promise.all(fleet.map((node) => node[Symbol.asyncDispose]()))
}

/** A table in which agents have three forecasts on each of 1,000 open questions, as many as stand in all. */
async function measureStarts(): Promise<void> {
  print(`\n${'a node that starts over a folder'.padEnd(44)}${STARTS}`)
  for (const count of [0, current / 10, current]) {
    const store = join(folder, `starts-${count}`)
    await importQuestions(store, 1000)
    const first = await startNode(store, 'starts')
    const agent = await register(first)
    await first[Symbol.asyncDispose]()
    if (count > 0) await fill(store, agent, count / 1000)
    await run('../jobs/fvs.js', 'release', '--store', store)
    const what = `${count.toLocaleString('en')} stand, of ${(3 * count).toLocaleString('en')} forecasts`
    const start = () => startNode(store, 'starts')
    await printStart(what, start, agent, async (node) => {
      assert.equal((await readBack(node, agent)).size, count > 0 ? 1000 : 0)
    })
  }
}

/** Three forecasts of each of `count` agents, the given one first, on each question. */
async function fill(folderUrl: string, { agent_id }: Agent, count: number): Promise<void> {
  const directory = await mkdtemp(join(folder, 'fill-'))
  const store = await openStore({ url: folderUrl, s3Endpoint: undefined, requestTimeoutMs: 60_000 }, 'fail')
  using database = await Database.open({ threads: 2, memoryLimit: '2GB', directory })
  await database.run(
    `CREATE TABLE asked AS SELECT unnest([${range(1000)
      .map((index) => `'${question(index)}'`)
      .join(', ')}]) AS question_id`,
  )
  const uuid = (of: string, version: number) =>
    `concat_ws('-', md5(${of})[1:8], md5(${of})[9:12], '${version}' || md5(${of})[14:16], '8' || md5(${of})[18:20], md5(${of})[21:32])`
  const now = new Date().toISOString()
  const rows = `SELECT ${uuid(`question_id || agent || nth`, 7)} AS forecast_id, 'agent' AS entity_type,
      if(agent = 0, '${agent_id}', ${uuid(`'agent' || agent`, 4)}) AS entity_id, question_id,
      (agent * 7 + nth) % 1000 / 1000 AS probability,
      TIMESTAMPTZ '${now}' + to_milliseconds(agent * 3 + nth) AS forecast_at, forecast_at AS recorded_at, 'api' AS source
    FROM asked, range(${count}) a(agent), range(3) n(nth)`
  const bytes = await parquetOf({ database, directory }, 'fill', rows, 122_880)
  await store.put(inboxPath('forecasts', uuidv7(), bytes), bytes)
  const local = new LocalFiles(store, directory)
  await compact(
    { store, local, database, directory, now: () => new Date(), wait: () => Promise.resolve() },
    'forecasts',
  )
}

try {
  await measureNodes()
  await measureStarts()
} finally {
  await rm(folder, { recursive: true, force: true })
}
