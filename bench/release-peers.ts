// What a release is measured beside: DuckDB's sort of the same rows alone, and its scores by Polars.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { run } from './process.ts'
import { type Agreement, agreementOf } from './polars-agreement.ts'
import { spread } from './spread.ts'
import { WORLD_END } from './world.ts'

/** What a process took from its start to its end. */
export interface Taken {
  seconds: number
  cpuSeconds: number
  peakBytes: number
}

/** Of the Python that has Polars; without it there is no such peer. */
export const POLARS = 'DELTA_PYTHON'

export async function sortAlone(store: string, threads: number): Promise<Taken> {
  return JSON.parse(await run('sort.ts', store, String(threads))) as Taken
}

export interface PolarsTaken extends Taken {
  agreement: Record<'pairs' | 'entities', Agreement>
}

/** Undefined where the environment names no Python with Polars. The store must have its first release. */
export async function polarsScores(store: string, threads: number): Promise<PolarsTaken | undefined> {
  const python = process.env[POLARS]
  if (!python) return undefined
  const directory = await mkdtemp(join(tmpdir(), 'fvs-bench-polars-'))
  try {
    const script = fileURLToPath(new URL('polars_scorer', import.meta.url))
    const args = ['-B', script, join(store, 'tables'), directory, WORLD_END.toISOString()]
    const env = { ...process.env, POLARS_MAX_THREADS: String(threads) }
    const { stdout } = await promisify(execFile)(python, args, { env })
    return { ...(JSON.parse(stdout) as Taken), agreement: await agreementOf(store, directory) }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/**
 * How many times as much one took as the other in the same turn: the median, and the least and the most of
 * the turns.
 */
export function ratios(
  one: readonly Taken[],
  other: readonly Taken[],
  unit: 'seconds' | 'cpuSeconds',
): string {
  return spread(one.map((taken, turn) => taken[unit] / other[turn]![unit]))
}
