// Forecasts submitted to a process over many connections, and whether each one that was acknowledged is kept,
// once.
import { join } from 'node:path'
import { expect } from 'vitest'
import { Database } from '../../../pipeline/duckdb.ts'
import { Client, bearer, registerAgent } from './service.ts'
import { QUESTION } from '../worlds/world.ts'

const SOCKETS = 100
const AGENTS = 5

export interface Outcome {
  /** The submitted probabilities of the forecasts that were answered with 200, by id. */
  acknowledged: Map<string, number>
  /** Submissions that were refused or got no answer. */
  unanswered: number
}

/** Submits distinct probabilities over `SOCKETS` connections. `enough` is called after `after` answers. */
export async function submitMany(
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

export async function expectKept(folder: string, { acknowledged }: Outcome): Promise<number> {
  const stored = await storedForecasts(folder)
  const missing = [...acknowledged.keys()].filter((id) => !stored.has(id))
  expect(missing).toEqual([])
  for (const [id, probability] of acknowledged) expect(stored.get(id)).toEqual({ times: 1, probability })
  expect([...stored.values()].every(({ times }) => times === 1)).toBe(true)
  return stored.size
}
