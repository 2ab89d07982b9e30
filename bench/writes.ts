// Measures how many forecasts a second one process makes durable and acknowledges, beside writing each as an object or
// a synced file of its own.
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { v4 as uuidv4 } from 'uuid'
import { Registry } from '../pipeline/access/registry.ts'
import { FileStore } from '../pipeline/store/file.ts'
import { inboxPath, inboxPrefix } from '../pipeline/store/paths.ts'
import { LocalFiles } from '../pipeline/store/local-files.ts'
import { Database } from '../pipeline/duckdb.ts'
import { compact } from '../pipeline/tables/compact.ts'
import { encodeRows } from '../pipeline/tables/inbox.ts'
import { type LoadFigures, figuresOf, load } from './load.ts'
import { startService } from './server.ts'

export interface WriteFigures {
  service: LoadFigures
  rowsPerObject: number
  /** Without HTTP: an inbox object for each row, and a bare file for each row. */
  objects: LoadFigures
  files: LoadFigures
}

interface Volume {
  connections: number
  requests: number
  limitMs: number
}

const AGENTS = 100
const DAY_MS = 86_400_000

export async function measureWrites(volume: Volume): Promise<WriteFigures> {
  const root = await mkdtemp(join(tmpdir(), 'fvs-bench-writes-'))
  try {
    const store = new FileStore(root)
    const questionId = await openQuestion(root, store)
    const agents = await registeredAgents(store)
    const forecast = (nth: number) => {
      const { agentId, key } = agents[nth % agents.length]!
      const body = JSON.stringify({ question_id: questionId, probability: (nth % 999) / 1000 })
      return [
        `POST /agents/${agentId}/forecast HTTP/1.1`,
        'Host: bench',
        `Authorization: Bearer ${key}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        '',
        body,
      ].join('\r\n')
    }
    await using service = await startService(root)
    const { url } = service
    await load({ url, ...volume, requests: Math.ceil(volume.requests / 10), request: forecast })
    const before = await countObjects(store)
    const figures = await load({ url, ...volume, request: forecast })
    const rowsPerObject = figures.requests / ((await countObjects(store)) - before)
    return {
      service: figures,
      rowsPerObject,
      objects: await measureObjects(join(root, 'objects'), volume),
      files: await measureFiles(join(root, 'files'), volume),
    }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

/** A question that takes forecasts, in the tables. */
async function openQuestion(root: string, store: FileStore): Promise<string> {
  const questionId = uuidv4()
  const now = new Date()
  const row = {
    question_id: questionId,
    title: 'Will it be fast?',
    category: null,
    url: null,
    opened_at: new Date(now.getTime() - DAY_MS),
    closes_at: new Date(now.getTime() + DAY_MS),
    recorded_at: now,
  }
  await store.put(inboxPath('questions', uuidv4()), encodeRows('questions', [row]))
  const directory = join(root, 'work')
  await mkdir(directory)
  using database = await Database.open({ threads: 1, memoryLimit: '1GB', directory })
  const local = new LocalFiles(store, directory)
  await compact({ store, local, database, directory, now: () => now }, 'questions')
  return questionId
}

async function registeredAgents(store: FileStore): Promise<{ agentId: string; key: string }[]> {
  const registry = new Registry({ store, environment: 'production', randomBytes })
  return Promise.all(
    Array.from({ length: AGENTS }, async () => {
      const agentId = uuidv4()
      const key = registry.newKey()
      await registry.createAgent(agentId, key, new Date())
      return { agentId, key: key.key }
    }),
  )
}

async function countObjects(store: FileStore): Promise<number> {
  const objects = await Array.fromAsync(store.list(inboxPrefix('forecasts')))
  return objects.length
}

async function measureObjects(folder: string, volume: Volume): Promise<LoadFigures> {
  const store = new FileStore(folder)
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
    await store.putIfAbsent(inboxPath('forecasts', uuidv4()), encodeRows('forecasts', [row]))
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

/** Writes as many rows as the service was sent, with as many writers at once. */
async function timed(
  { connections, requests, limitMs }: Volume,
  write: (nth: number) => Promise<void>,
): Promise<LoadFigures> {
  const started = performance.now()
  const tookMs: number[] = []
  let begun = 0
  const work = async () => {
    while (begun < requests && performance.now() - started < limitMs) {
      const from = performance.now()
      await write(begun++)
      tookMs.push(performance.now() - from)
    }
  }
  await Promise.all(Array.from({ length: connections }, work))
  return figuresOf(tookMs, performance.now() - started)
}
