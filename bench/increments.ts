// What a release costs that builds on the pairs of the one before, beside one of the same world that sweeps
// every question, and that one beside its peers, by turns.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { canonical, sha256Hex } from '../pipeline/proof/canonical.ts'
import { readManifest } from '../pipeline/release/read.ts'
import { FileStore } from '../pipeline/store/file.ts'
import { pairsPrefix } from '../pipeline/store/paths.ts'
import { run } from './process.ts'
import { type Taken, polarsScores, ratios as ratiosTo, sortAlone } from './release-peers.ts'
import { repeatForecasts } from './repeated-forecasts.ts'
import type { ReleaseFigures } from './release.ts'
import { worldSize, worldStore } from './world.ts'

const { values } = parseArgs({
  options: {
    forecasts: { type: 'string', default: '10000000' },
    /** One question in this many is touched. */
    'one-in': { type: 'string', default: '100' },
    runs: { type: 'string', default: '3' },
  },
})
/** As many as a release has here. */
const THREADS = 2
const print = (line = '') => process.stdout.write(`${line}\n`)

const world = await worldStore(worldSize(Number(values.forecasts)))
const base = await copyOf(world)
const ratios: number[] = []
const fullOnes: Taken[] = []
const sorts: Taken[] = []
const polars: Taken[] = []
try {
  describe('the first release', await released(base))
  // Every forecast on some of the questions.
  await repeatForecasts(base, `WHERE hash(question_id) % ${Number(values['one-in'])} = 0`)
  for (let round = 1; round <= Number(values.runs); round++) {
    const [built, full] = [await releasedFrom(base, false), await releasedFrom(base, true)]
    if (built.published !== full.published) throw new Error('the two have published different bytes')
    const [own, all] = [cpuOf(built.figures), cpuOf(full.figures)]
    describe('full', full.figures)
    describe('incremental', built.figures)
    ratios.push(own / all)
    print(`round ${round}: ${(own / all).toFixed(2)} of the CPU seconds`)
    fullOnes.push({ ...full.figures, cpuSeconds: all })
    sorts.push(await sortAlone(base, THREADS))
    const scored = await polarsScores(base, THREADS)
    if (scored) polars.push(scored)
  }
} finally {
  await rm(base, { recursive: true, force: true })
}
print(`ratios: ${ratios.map((ratio) => ratio.toFixed(2)).join(' ')}`)
toPeer("DuckDB's sort of the same rows alone", sorts)
toPeer('the same scores by Polars', polars)

function toPeer(peer: string, taken: readonly Taken[]): void {
  if (taken.length === 0) return
  const [wall, cpu] = [ratiosTo(fullOnes, taken, 'seconds'), ratiosTo(fullOnes, taken, 'cpuSeconds')]
  print(`full to ${peer}: ${wall} of the wall time, ${cpu} of the CPU`)
}

/** Files are only ever replaced, so that links keep the original as it is. */
async function copyOf(root: string): Promise<string> {
  const copy = await mkdtemp(join(dirname(world), 'increments-'))
  await promisify(execFile)('cp', ['-al', `${root}/.`, copy])
  return copy
}

async function released(root: string): Promise<ReleaseFigures> {
  return JSON.parse(await run('release.ts', root)) as ReleaseFigures
}

/** Makes the second release over a copy, with the pairs of the first or without. */
async function releasedFrom(root: string, full: boolean) {
  const copy = await copyOf(root)
  try {
    if (full) await rm(join(copy, pairsPrefix(1)), { recursive: true })
    const figures = await released(copy)
    const { files, counts, trees } = (await readManifest(await FileStore.begin(copy), 2))!
    return { figures, published: sha256Hex(canonical({ files, counts, trees })) }
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
