// A service with an open question and agents, and the requests by which they submit forecasts on it.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { v4 as uuidv4 } from 'uuid'
import { DemoClient } from '../jobs/simulation/demo-client.ts'
import { run, startService } from './process.ts'

const AGENTS = 100
const DAY_MS = 86_400_000

export interface Submissions extends AsyncDisposable {
  url: string
  pid: number
  /** Where its store is. */
  root: string
  /** A whole request, of one agent after another. */
  request: (nth: number) => string
}

/** Starts the service on a new store in a folder. */
export async function startSubmissions(
  folder: string,
  settings: Record<string, string> = {},
): Promise<Submissions> {
  const root = join(folder, 'store')
  const questionId = await openQuestion(folder, root)
  const service = await startService(root, settings)
  const client = new DemoClient(service.url)
  const agents = await Promise.all(Array.from({ length: AGENTS }, () => client.register('bench', 'bench')))
  const request = (nth: number) => {
    const { agent_id, api_key } = agents[nth % agents.length]!
    const body = JSON.stringify({ question_id: questionId, probability: (nth % 999) / 1000 })
    return [
      `POST /agents/${agent_id}/forecast HTTP/1.1`,
      'Host: bench',
      `Authorization: Bearer ${api_key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n')
  }
  return { ...service, root, request }
}

/** A question that takes forecasts, in the tables. */
async function openQuestion(folder: string, root: string): Promise<string> {
  const question = {
    question_id: uuidv4(),
    title: 'Will it be fast?',
    opened_at: new Date(Date.now() - DAY_MS),
    closes_at: new Date(Date.now() + DAY_MS),
  }
  const file = join(folder, 'questions.ndjson')
  await writeFile(file, JSON.stringify(question))
  await run('../jobs/fvs.ts', 'import', 'questions', file, '--store', root)
  return question.question_id
}
