// From the start of a process to its first answer: the service on a store with few releases and on one with
// many, beside a Node that does nothing.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Timed, runCommand, startService } from '../process.ts'
import { byTurns } from '../turns.ts'
import { build, release, uuid } from './worlds.ts'

export interface StartFigures {
  /** How many releases the store with many has. */
  manyReleases: number
  turns: { node: Timed; few: Timed; many: Timed }[]
}

export async function measureStart(turns: number, manyReleases: number): Promise<StartFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'fvs-start-'))
  try {
    const few = await storeWith(join(folder, 'few'), 1)
    const many = await storeWith(join(folder, 'many'), manyReleases)
    // The first one has Node compile everything, which it keeps.
    await serviceStarts(few)
    await serviceStarts(many)
    const parties = { node: nodeStarts, few: () => serviceStarts(few), many: () => serviceStarts(many) }
    return { manyReleases, turns: await byTurns(parties, turns) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function storeWith(folder: string, releases: number): Promise<string> {
  await build(folder, { releases })
  const store = join(folder, 'store')
  if (releases === 1) await release(store)
  return store
}

/** Until a verification has been answered. */
async function serviceStarts(store: string): Promise<Timed> {
  const began = performance.now()
  await using service = await startService(store, { CACHE_DIR: join(store, '..', 'machine') })
  const answer = await fetch(`${service.url}/agents/${uuid(3, 1)}/verification`)
  await answer.arrayBuffer()
  const seconds = (performance.now() - began) / 1000
  if (answer.status !== 200) throw new Error(`the service answered ${answer.status}`)
  return { seconds, cpuSeconds: await service.cpuSeconds() }
}

/**
 * Until the process has ended: the mean of several, because one takes no more than the clock ticks a few
 * times.
 */
async function nodeStarts(): Promise<Timed> {
  const times = 10
  const all = await runCommand('bash', ['-c', `for _ in {1..${times}}; do "$0" -e 0; done`, process.execPath])
  return { seconds: all.seconds / times, cpuSeconds: all.cpuSeconds / times }
}
