// Measures how many forecasts a second one process makes durable and acknowledges, beside writing each as an object or
// a synced file of its own.
import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { v4 as uuidv4 } from 'uuid'
import { DemoClient } from '../jobs/simulation/demo-client.ts'
import { FileStore } from '../pipeline/store/file.ts'
import { inboxPath, inboxPrefix } from '../pipeline/store/paths.ts'
import { encodeRows } from '../pipeline/tables/inbox.ts'
import { type LoadFigures, type Volume, load, timed, warmUp } from './load.ts'
import { run, startService } from './process.ts'

const AGENTS = 100
const DAY_MS = 86_400_000

export async function measureWrites(volume: Volume) {
  const folder = await mkdtemp(join(tmpdir(), 'fvs-bench-writes-'))
  try {
    const root = join(folder, 'store')
    const questionId = await openQuestion(folder, root)
    await using service = await startService(root)
    const client = new DemoClient(service.url)
    const agents = await Promise.all(Array.from({ length: AGENTS }, () => client.register('bench', 'bench')))
    const forecast = (nth: number) => {
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
    await load(service.url, warmUp(volume), forecast)
    const before = await countObjects(root)
    const figures = await load(service.url, volume, forecast)
    return {
      service: figures,
      rowsPerObject: figures.requests / ((await countObjects(root)) - before),
      // Without HTTP: an inbox object for each row, and a bare file for each row.
      objects: await measureObjects(join(folder, 'objects'), volume),
      files: await measureFiles(join(folder, 'files'), volume),
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
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

async function countObjects(root: string): Promise<number> {
  const store = await FileStore.open(root)
  const objects = await Array.fromAsync(store.list(inboxPrefix('forecasts')))
  return objects.length
}

async function measureObjects(folder: string, volume: Volume): Promise<LoadFigures> {
  const store = await FileStore.begin(folder)
  return timed(volume, async (nth) => {
    const at = new Date()
    const row = {
      forecast_id: uuidv4(),
      entity_type: 'agent',
      entity_id: uuidv4(),
      question_id: uuidv4(),
      probability: (nth % 999) / 1000,
      forecast_at: at,
      recorded_at: at,
      source: 'api',
    }
    const bytes = encodeRows('forecasts', [row])
    await store.putIfAbsent(inboxPath('forecasts', uuidv4(), bytes), bytes)
  })
}

async function measureFiles(folder: string, volume: Volume): Promise<LoadFigures> {
  await mkdir(folder)
  return timed(volume, async (nth) => {
    await using file = await open(join(folder, String(nth)), 'wx')
    await file.writeFile(`${uuidv4()},${nth % 999},${performance.now()}\n`)
    await file.sync()
  })
}
