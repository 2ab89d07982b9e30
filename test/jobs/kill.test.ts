// The real process, cut off in the middle of a thousand submissions: each one answered with 200 is kept, once.
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { Database } from '../../pipeline/duckdb.ts'
import { auditRelease } from '../../pipeline/release/audit.ts'
import { suiteFolder, testFolder } from '../support/folder.ts'
import { fvsServe } from '../support/process.ts'
import { Client, SECRET, bearer, registerAgent, release, testComponents } from '../support/service.ts'
import { QUESTION, importWorld } from '../support/world.ts'

const SUBMISSIONS = 1000
const SOCKETS = 100
const AGENTS = 5

interface Outcome {
  /** The submitted probabilities of the forecasts that were answered with 200, by id. */
  acknowledged: Map<string, number>
  /** Submissions that were refused or got no answer. */
  unanswered: number
}

/** Submits distinct probabilities over `SOCKETS` connections. `enough` is called after `after` answers. */
async function submitMany(
  url: string,
  submissions: number,
  after: number,
  enough: () => void,
): Promise<Outcome> {
  const client = new Client(url, SOCKETS)
  const agents = await Promise.all(
    Array.from({ length: AGENTS }, (_, index) => registerAgent(client, `agent ${index}`)),
  )
  const acknowledged = new Map<string, number>()
  let unanswered = 0
  await Promise.all(
    Array.from({ length: submissions }, async (_, index) => {
      const { agentId, key } = agents[index % AGENTS]!
      const probability = index / 1e6
      try {
        const body = { question_id: QUESTION.open, probability }
        const answer = await client.post(`/agents/${agentId}/forecast`, body, bearer(key))
        if (answer.status !== 200) throw new Error(answer.text)
        acknowledged.set(answer.json<{ forecast_id: string }>().forecast_id, probability)
        if (acknowledged.size === after) enough()
      } catch {
        unanswered += 1
      }
    }),
  )
  return { acknowledged, unanswered }
}

/** The number of rows of each forecast of an agent in the table, and its probability, by id. */
async function storedForecasts(folder: string): Promise<Map<string, { times: number; probability: number }>> {
  using database = await Database.open({ threads: 2, memoryLimit: '1GB', directory: folder })
  const rows = await database.rows<{ forecast_id: string; times: bigint; probability: number }>(
    `SELECT forecast_id, count(*) AS times, min(probability) AS probability
     FROM read_parquet('${join(folder, 'store/tables/forecasts/recorded_date=*/*.parquet')}')
     WHERE source = 'api' GROUP BY forecast_id`,
  )
  return new Map(
    rows.map(({ forecast_id, times, probability }) => [forecast_id, { times: Number(times), probability }]),
  )
}

async function expectKept(folder: string, { acknowledged }: Outcome): Promise<number> {
  const stored = await storedForecasts(folder)
  const missing = [...acknowledged.keys()].filter((id) => !stored.has(id))
  expect(missing).toEqual([])
  for (const [id, probability] of acknowledged) expect(stored.get(id)).toEqual({ times: 1, probability })
  expect([...stored.values()].every(({ times }) => times === 1)).toBe(true)
  return stored.size
}

const imported = await suiteFolder()
beforeAll(async () => {
  await importWorld(await testComponents({ folder: imported }))
})

async function freshWorld(): Promise<string> {
  const folder = await testFolder()
  await cp(join(imported, 'store'), join(folder, 'store'), { recursive: true })
  return folder
}

const store = (folder: string) => ({ folder, env: { STORE_URL: join(folder, 'store') } })

describe('kill -9', () => {
  test.for([1, 400, 800])('after %d acknowledged forecasts loses none of them', async (killAfter) => {
    const folder = await freshWorld()
    const service = await fvsServe(store(folder), '--no-scheduler')
    const outcome = await submitMany(service.url, SUBMISSIONS, killAfter, () => {
      service.kill('SIGKILL')
    })
    expect((await service.finished).signal).toBe('SIGKILL')
    expect(outcome.acknowledged.size).toBeGreaterThanOrEqual(killAfter)
    // The next release takes in the rows that were left.
    const components = await testComponents({ folder })
    expect(await release(components)).toMatchObject({ made: true, release: 1 })
    const stored = await expectKept(folder, outcome)
    console.info(
      `killed after ${killAfter}: ${outcome.acknowledged.size} acknowledged, ${outcome.unanswered} not, ${stored} stored`,
    )
    using database = await components.openDatabase()
    const audit = await auditRelease({ ...components, database, secrets: [SECRET] }, 1)
    expect(audit.faults).toEqual([])
  })
})

describe.for(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  test('in the middle of submissions answers those under way, keeps them and exits with 0', async () => {
    const folder = await freshWorld()
    const env = { ...store(folder).env, SHUTDOWN_TIMEOUT_MS: '600000' }
    const service = await fvsServe({ folder, env }, '--no-scheduler')
    const outcome = await submitMany(service.url, 500, 200, () => {
      service.kill(signal)
    })
    const { code, stdout, stderr } = await service.finished
    expect(code, stderr).toBe(0)
    expect(stdout).toBe('')
    expect(stderr).toContain('"msg":"stopped"')
    await expect(fetch(service.url)).rejects.toThrow('fetch failed')
    await release(await testComponents({ folder }))
    const stored = await expectKept(folder, outcome)
    // No submission that was refused or unanswered was recorded.
    expect(stored).toBe(outcome.acknowledged.size)
    console.info(`${signal} after 200: ${outcome.acknowledged.size} acknowledged, ${outcome.unanswered} not`)
  })
})
