// The service with a worker for each core, by turns beside nginx with as many and one process of the service
// alone.
import { availableParallelism } from 'node:os'
import { type Served, startService } from '../process.ts'
import { byTurns } from '../turns.ts'
import type { Asked, AskedServer } from '../ask.ts'
import type { BareAnswer } from './bare-server.ts'
import { startNginx } from './nginx.ts'

export interface AllCores {
  workers: number
  turns: Record<'workers' | 'nginx' | 'alone', Asked>[]
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
  measure: (server: AskedServer, workers: number) => Promise<Asked>,
): Promise<AllCores> {
  const workers = availableParallelism()
  await using all = await startService(root, settings, ['--no-scheduler', '--workers', String(workers)])
  await using nginx = await startNginx(folder, answer, workers)
  const parties = {
    workers: () => measure(all, workers),
    nginx: () => measure(nginx, workers),
    alone: () => measure(alone, workers),
  }
  // The first turn warms up.
  await byTurns(parties, 1)
  return { workers, turns: await byTurns(parties, turns) }
}
