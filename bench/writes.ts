// Measures how many forecasts a second one process makes durable and acknowledges, beside writing each as an object or
// a synced file of its own.
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { v4 as uuidv4 } from 'uuid'
import { FileStore } from '../pipeline/store/file.ts'
import { inboxPath, inboxPrefix } from '../pipeline/store/paths.ts'
import { encodeRows } from '../pipeline/tables/inbox.ts'
import { type LoadFigures, type Volume, load, timed, warmUp } from './load.ts'
import { startSubmissions } from './submissions.ts'

export async function measureWrites(volume: Volume) {
  const folder = await mkdtemp(join(tmpdir(), 'fvs-bench-writes-'))
  try {
    await using service = await startSubmissions(folder)
    const { root, request } = service
    await load(service.url, warmUp(volume), request)
    const before = await countObjects(root)
    const figures = await load(service.url, volume, request)
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
