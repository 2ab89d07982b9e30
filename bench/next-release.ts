// Measures a release after one outcome was corrected, beside the sort of the same rows and the same scores by
// Polars, by turns.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { CORRECTED_OUTCOME, putRows } from './inbox-rows.ts'
import { run } from './process.ts'
import { type Taken, polarsScores, ratios, sortAlone } from './release-peers.ts'
import type { ReleaseFigures } from './release.ts'
import { worldSize, worldStore } from './world.ts'

const { values } = parseArgs({
  options: {
    forecasts: { type: 'string', default: '10000000' },
    runs: { type: 'string', default: '3' },
  },
})
/** As many as a release has here. */
const THREADS = 2
const print = (line = '') => process.stdout.write(`${line}\n`)

const world = await worldStore(worldSize(Number(values.forecasts)))
const base = await copyOf(world)
const releases: Taken[] = []
const sorts: Taken[] = []
const polars: Taken[] = []
try {
  describe('the first release', await released(base))
  await putRows(base, 'resolutions', CORRECTED_OUTCOME)
  for (let round = 1; round <= Number(values.runs); round++) {
    releases.push(await releasedFromCopy())
    sorts.push(await sortAlone(base, THREADS))
    const scored = await polarsScores(base, THREADS)
    if (scored) polars.push(scored)
  }
} finally {
  await rm(base, { recursive: true, force: true })
}
toPeer("DuckDB's sort of the same rows alone", sorts)
toPeer('the same scores by Polars', polars)

function toPeer(peer: string, taken: readonly Taken[]): void {
  if (taken.length === 0) return
  const [wall, cpu] = [ratios(releases, taken, 'seconds'), ratios(releases, taken, 'cpuSeconds')]
  print(`the next release to ${peer}: ${wall} of the wall time, ${cpu} of the CPU`)
}

/** Files are only ever replaced, so that links keep the original as it is. */
async function copyOf(root: string): Promise<string> {
  const copy = await mkdtemp(join(dirname(world), 'next-release-'))
  await promisify(execFile)('cp', ['-al', `${root}/.`, copy])
  return copy
}

async function released(root: string): Promise<ReleaseFigures> {
  return JSON.parse(await run('release.ts', root)) as ReleaseFigures
}

async function releasedFromCopy(): Promise<Taken> {
  const copy = await copyOf(base)
  try {
    const figures = await released(copy)
    describe('the next release', figures)
    return { ...figures, cpuSeconds: cpuOf(figures) }
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

function cpuOf({ phases }: ReleaseFigures): number {
  return phases.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
}

function describe(what: string, figures: ReleaseFigures): void {
  print(
    `${what}: ${figures.seconds.toFixed(1)} s, ${cpuOf(figures).toFixed(1)} CPU s, at most ${Math.round(figures.peakBytes / 2 ** 20)} MiB`,
  )
  for (const { name, seconds, cpuSeconds } of figures.phases) {
    print(
      `  ${name.padEnd(40)} ${seconds.toFixed(2).padStart(7)} s ${cpuSeconds.toFixed(2).padStart(7)} CPU s`,
    )
  }
}
