// What the disk alone asks for a write: an inbox object, beside an append to a file that is there in full
// already, as a database keeps its log. Both are durable after each.
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { FileStore } from '../pipeline/store/file.ts'
import { byTurns } from './turns.ts'

/** As an object of some forty forecasts. */
const BYTES = new Uint8Array(5_000).fill(1)
const TIMES = 200
const LOG_BYTES = 16 * 2 ** 20

export interface SyncFigures {
  wallUs: number
  /** Of this process, the calls of the system included. */
  cpuUs: number
}

/** By turns, in a folder that is not there yet. */
export async function measureSyncs(
  folder: string,
  turns: number,
): Promise<Record<'object' | 'append', SyncFigures>[]> {
  await mkdir(folder)
  const store = await FileStore.begin(join(folder, 'store'))
  const inbox = store.oneByOne()
  await using log = await open(join(folder, 'log'), 'w')
  await log.writeFile(new Uint8Array(LOG_BYTES))
  await log.sync()
  let objects = 0
  const object = async () => {
    await inbox.putIfAbsent(`inbox/forecasts/${objects++}`, BYTES)
  }
  const append = async (nth: number) => {
    await log.write(BYTES, 0, BYTES.length, nth * BYTES.length)
    await log.datasync()
  }
  // The first one makes the folder.
  await object()
  try {
    return await byTurns({ object: () => measured(object), append: () => measured(append) }, turns)
  } finally {
    inbox.close()
  }
}

async function measured(write: (nth: number) => Promise<void>): Promise<SyncFigures> {
  await write(0)
  const before = process.cpuUsage()
  const started = performance.now()
  for (let nth = 1; nth <= TIMES; nth++) await write(nth)
  const wallUs = ((performance.now() - started) * 1000) / TIMES
  const { user, system } = process.cpuUsage(before)
  return { wallUs, cpuUs: (user + system) / TIMES }
}
