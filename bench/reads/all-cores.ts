// The service with a process for each core on one port, by turns beside nginx with as many workers and one
// process of the service alone.
import { availableParallelism } from 'node:os'
import { type Served, startService } from '../process.ts'
import { byTurns } from '../turns.ts'
import type { Asked, AskedServer } from '../ask.ts'
import type { BareAnswer } from './bare-server.ts'
import { startNginx } from './nginx.ts'

export interface AllCores {
  processes: number
  turns: Record<'shared' | 'nginx' | 'alone', Asked>[]
}

interface Parties {
  root: string
  settings: Record<string, string>
  /** The service in one process. */
  alone: Served
  /** For the files of nginx, which serves this answer. */
  folder: string
  answer: BareAnswer
}

export async function measureOnAllCores(
  { root, settings, alone, folder, answer }: Parties,
  turns: number,
  measure: (server: AskedServer, processes: number) => Promise<Asked>,
): Promise<AllCores> {
  const processes = availableParallelism()
  await using shared = await startShared(root, settings, processes)
  await using nginx = await startNginx(folder, answer, processes)
  const parties = {
    shared: () => measure(shared, processes),
    nginx: () => measure(nginx, processes),
    alone: () => measure(alone, processes),
  }
  // The first turn warms up.
  await byTurns(parties, 1)
  return { processes, turns: await byTurns(parties, turns) }
}

/** Starts processes of the service that share a port. */
async function startShared(
  root: string,
  settings: Record<string, string>,
  processes: number,
): Promise<AskedServer & AsyncDisposable> {
  const options = ['--no-scheduler', '--share-port']
  const first = await startService(root, settings, options)
  const { port } = new URL(first.url)
  const others = Array.from({ length: processes - 1 }, () =>
    startService(root, { ...settings, PORT: port }, options),
  )
  const all = [first, ...(await Promise.all(others))]
  return {
    url: first.url,
    cpuSeconds: async () => {
      const used = await Promise.all(all.map((one) => one.cpuSeconds()))
      return used.reduce((sum, seconds) => sum + seconds, 0)
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(all.map((one) => one[Symbol.asyncDispose]()))
    },
  }
}
