// A service with open questions and agents, and the requests by which they submit forecasts.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { v4 as uuidv4 } from 'uuid'
import type { z } from 'zod'
import { registered } from '../schemas/answers.ts'
import { MOST_FORECASTS } from '../schemas/requests.ts'
import { type Served, run, startService } from './process.ts'

const AGENTS = 100
/** Requests that differ. */
const SINGLES = 10_000
const BATCHES = 200
const DAY_MS = 86_400_000

export interface Submissions extends AsyncDisposable, Served {
  /** Where its store is. */
  root: string
  agents: readonly z.infer<typeof registered>[]
  /** The ids of those that take forecasts: as many as one call may name. */
  questions: readonly string[]
  /** Whole requests, of one agent after another. */
  singles: readonly string[]
  /** The same for calls that submit a forecast on every question. */
  batches: readonly string[]
}

/** Starts the service on a new store in a folder. */
export async function startSubmissions(
  folder: string,
  settings: Record<string, string> = {},
): Promise<Submissions> {
  const root = join(folder, 'store')
  const questions = await openQuestions(folder, root)
  const service = await startService(root, settings)
  const register = async () => {
    const body = JSON.stringify({ name: 'bench', model_type: 'bench' })
    const headers = { 'Content-Type': 'application/json' }
    const answer = await fetch(`${service.url}/agents/register`, { method: 'POST', headers, body })
    return registered.parse(await answer.json())
  }
  const agents = await Promise.all(Array.from({ length: AGENTS }, register))
  const post = (nth: number, call: string, sent: object) => {
    const { agent_id, api_key } = agents[nth % agents.length]!
    const body = JSON.stringify(sent)
    return [
      `POST /agents/${agent_id}/${call} HTTP/1.1`,
      'Host: bench',
      `Authorization: Bearer ${api_key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n')
  }
  const forecast = (question_id: string, nth: number) => ({ question_id, probability: (nth % 999) / 1000 })
  return {
    ...service,
    root,
    agents,
    questions,
    singles: Array.from({ length: SINGLES }, (_, nth) =>
      post(nth, 'forecast', forecast(questions[nth % questions.length]!, nth)),
    ),
    batches: Array.from({ length: BATCHES }, (_, nth) =>
      post(nth, 'forecasts', { forecasts: questions.map((id, index) => forecast(id, nth + index)) }),
    ),
  }
}

/** Questions that take forecasts, in the tables. */
async function openQuestions(folder: string, root: string): Promise<string[]> {
  const questions = Array.from({ length: MOST_FORECASTS }, () => ({
    question_id: uuidv4(),
    title: 'Will it be fast?',
    opened_at: new Date(Date.now() - DAY_MS),
    closes_at: new Date(Date.now() + DAY_MS),
  }))
  const file = join(folder, 'questions.ndjson')
  await writeFile(file, questions.map((question) => JSON.stringify(question)).join('\n'))
  await run('../jobs/fvs.js', 'import', 'questions', file, '--store', root)
  return questions.map(({ question_id }) => question_id)
}
