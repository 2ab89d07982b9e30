// Runs the benchmarks and prints each figure beside that of a peer. Nothing fails for being slow.
import { mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Database } from '../pipeline/duckdb.ts'
import { BULK_IDS } from '../schemas/tiers.ts'
import { measurePublishing } from './growth/publishing.ts'
import { growthReport } from './growth/report.ts'
import { measureStart } from './growth/start.ts'
import { measureVolume } from './growth/volume.ts'
import { run } from './process.ts'
import { type ReadsTurn, measureReads } from './reads.ts'
import type { Asked } from './ask.ts'
import { median, spread } from './spread.ts'
import type { ReleaseFigures } from './release.ts'
import { POLARS, type PolarsTaken, type Taken, polarsScores, ratios, sortAlone } from './release-peers.ts'
import { compareScorers } from './sql-scorer.ts'
import { worldSize, worldStore } from './world.ts'
import { measureWrites } from './writes.ts'
import { measureSwitch } from './switch.ts'
import { switchReport } from './switch/report.ts'
import { writesReport } from './writes-report.ts'

const BENCHES = {
  release: benchRelease,
  scorer: benchScorer,
  writes: benchWrites,
  reads: benchReads,
  switch: benchSwitch,
  growth: benchGrowth,
}
type Bench = keyof typeof BENCHES

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: Object.keys(BENCHES) },
    forecasts: { type: 'string', default: '10000000' },
    questions: { type: 'string' },
    entities: { type: 'string' },
    'forecasts-per-pair': { type: 'string' },
    runs: { type: 'string', default: '1' },
    connections: { type: 'string' },
    seconds: { type: 'string', default: '3' },
    releases: { type: 'string', default: '1000' },
    json: { type: 'string' },
  },
})
const forecasts = Number(values.forecasts)
const runs = Number(values.runs)
const turnSeconds = Number(values.seconds)
/** A tenth of the world, on which the scorers are compared and verifications are read. */
const sample = worldSize(Math.max(100_000, Math.round(forecasts / 10)))

const print = (line = '') => process.stdout.write(`${line}\n`)
const whole = (number: number) => Math.round(number).toLocaleString('en')
const fixed = (number: number, width = 8) => number.toFixed(2).padStart(width)

print(
  `${availableParallelism()} cores, Node ${process.version}, DuckDB ${Database.version}${runs > 1 ? `, best of ${runs} runs` : ''}`,
)
for (const name of values.only) {
  if (!Object.hasOwn(BENCHES, name))
    throw new Error(`--only takes ${Object.keys(BENCHES).join(', ')}; not ${name}`)
  await BENCHES[name as Bench]()
}

async function benchRelease(): Promise<void> {
  const { questions, entities, 'forecasts-per-pair': perPair } = values
  const size = worldSize(forecasts, optional(questions), optional(entities), optional(perPair))
  const all: ReleaseFigures[] = []
  const peers: Record<string, Taken[]> = {}
  let agreement: PolarsTaken['agreement'] | undefined
  const beside = (what: string, taken: Taken | undefined) => {
    if (taken) (peers[what] ??= []).push(taken)
  }
  for (let turn = 0; turn < runs; turn++) {
    const store = await worldStore(size)
    all.push(await makeRelease(store, 2))
    beside("DuckDB's sort of the same rows alone", await sortAlone(store, 2))
    const polars = await polarsScores(store, 2)
    beside('the same scores by Polars', polars)
    agreement ??= polars?.agreement
  }
  const best = least(all, ({ seconds }) => seconds)
  print(
    `\nRelease: ${whole(best.forecasts)} forecasts, ${whole(size.questions)} questions, ${whole(size.entities)} entities, ${whole(best.pairs)} pairs; 2 threads, a process of its own`,
  )
  print('   wall s   CPU s')
  for (const { name, seconds, cpuSeconds } of best.phases) {
    print(` ${fixed(seconds)}${fixed(cpuSeconds)}  ${name}`)
  }
  const cpuSeconds = best.phases.reduce((sum, phase) => sum + phase.cpuSeconds, 0)
  print(
    ` ${fixed(best.seconds)}${fixed(cpuSeconds)}  in all; at most ${whole(best.peakBytes / 2 ** 20)} MiB of memory`,
  )
  if (runs > 1)
    print(`                   the runs: ${all.map(({ seconds }) => seconds.toFixed(2)).join(', ')} s`)
  const releases = all.map(({ seconds, phases, peakBytes }) => {
    return { seconds, cpuSeconds: phases.reduce((sum, phase) => sum + phase.cpuSeconds, 0), peakBytes }
  })
  for (const [what, taken] of Object.entries(peers)) {
    const { seconds, cpuSeconds: cpu, peakBytes } = least(taken, (one) => one.seconds)
    print(
      ` ${fixed(seconds)}${fixed(cpu)}  peer, ${what}; at most ${whole(peakBytes / 2 ** 20)} MiB. The release took ` +
        `${ratios(releases, taken, 'seconds')} times the wall time of its turn, ${ratios(releases, taken, 'cpuSeconds')} times the CPU`,
    )
  }
  for (const [what, { unmatched, differences, disagreeing }] of Object.entries(agreement ?? {})) {
    const columns = Object.entries(differences)
    const parts = columns
      .filter(([, difference]) => difference > 1e-12)
      .map(([name, difference]) => `${name} ${difference.toExponential(0)}`)
    const verdict =
      disagreeing.length === 0
        ? 'all agree but for roundings'
        : `THESE DO NOT AGREE: ${disagreeing.join(', ')}`
    print(`           ${what}, ${columns.length} columns: ${verdict}; ${unmatched} unmatched`)
    if (parts.length > 0) print(`           the greatest differences over 1e-12: ${parts.join(', ')}`)
  }
  if (!process.env[POLARS]) print(`           no Polars: set ${POLARS} to a Python that has it`)
}

async function benchScorer(): Promise<void> {
  const store = await worldStore(sample)
  const all = await repeated(() => compareScorers(store))
  const { pairs, unmatched, differences, ...figures } = all[0]!
  print(
    `\nScorer: ${whole(figures.forecasts)} forecasts, ${whole(pairs)} pairs; from the tables to a Parquet file, 2 threads`,
  )
  const row = (name: 'serviceSeconds' | 'sqlSeconds', what: string) => {
    const seconds = Math.min(...all.map((one) => one[name]))
    print(` ${fixed(seconds)} s ${whole(figures.forecasts / seconds).padStart(11)} forecasts/s  ${what}`)
  }
  row('serviceSeconds', 'the service: every column of every pair, and every entity')
  row('sqlSeconds', 'peer, DuckDB window functions: brier, baseline_score and peer_score of every pair')
  const worst = Object.entries(differences).map(
    ([name, difference]) => `${name} ${difference.toExponential(1)}`,
  )
  const agree = unmatched === 0 && Object.values(differences).every((difference) => difference <= 1e-6)
  print(
    `           they ${agree ? 'agree' : 'DO NOT AGREE'} to 1e-6: ${worst.join(', ')}; ${unmatched} pairs unmatched`,
  )
  const one = await makeRelease(await worldStore(sample), 1)
  const two = await makeRelease(await worldStore(sample), 2)
  const same = one.manifestSha256 === two.manifestSha256
  print(`           a release made with 1 thread and with 2 has ${same ? 'the same' : 'DIFFERENT'} bytes`)
}

async function benchWrites(): Promise<void> {
  const figures = await measureWrites(turnSeconds, Math.max(runs, 5))
  if (figures.missing.length > 0) print(`\n  not installed: ${figures.missing.join(', ')}`)
  for (const line of writesReport(figures)) print(line)
  print(`\n${await kept('writes', figures)}`)
}

async function benchGrowth(): Promise<void> {
  const figures = {
    start: await measureStart(Math.max(runs, 5), Number(values.releases)),
    publishing: await measurePublishing(runs),
    volume: await measureVolume(forecasts, runs),
  }
  for (const line of growthReport(figures)) print(line)
  print(`\n${await kept('growth', figures)}`)
}

/** Writes figures down as JSON, and returns the path of the file. */
async function kept(name: Bench, figures: object): Promise<string> {
  const folder = join(tmpdir(), 'fvs-bench')
  await mkdir(folder, { recursive: true })
  return written(join(folder, `${name}.json`), figures)
}

async function written(path: string, figures: object): Promise<string> {
  await writeFile(path, `${JSON.stringify(figures, null, 2)}\n`)
  return path
}

async function benchReads(): Promise<void> {
  // As many agents as a bulk call may name.
  const store = await worldStore(worldSize(100_000, 200, 500))
  await makeRelease(store, 2)
  const figures = await measureReads(store, {
    connections: Number(values.connections ?? 32),
    seconds: turnSeconds,
    turns: Math.max(5, runs),
  })
  print(`\n${values.json === undefined ? await kept('reads', figures) : await written(values.json, figures)}`)
  print(
    `\nReads: verifications of ${figures.agents} agents by turns; medians, and ratios from least to largest`,
  )
  if (figures.missing.length > 0) print(`  not installed: ${figures.missing.join(', ')}`)
  for (const [kind, turns] of Object.entries(figures.singles)) {
    for (const name of ['service', 'bare', 'nginx'] as const) {
      const asked = turns.map((turn) => turn[name]).filter((one) => one !== undefined)
      if (asked.length === 0) continue
      print(` ${rateOf(asked)}  ${kind}: ${name === 'bare' ? 'bare node:http' : name}`)
    }
    const ratio = (of: (turn: ReadsTurn) => number) => spread(turns.map(of))
    print(`   a second, service to bare: ${ratio(({ service, bare }) => service.perSecond / bare.perSecond)}`)
    print(`   p99, service to bare:      ${ratio(({ service, bare }) => service.p99Ms / bare.p99Ms)}`)
    print(`   CPU, service to bare:      ${ratio(({ service, bare }) => service.cpuUs! / bare.cpuUs!)}`)
  }
  if (figures.allCores) {
    const { processes, turns } = figures.allCores
    const rates = (name: 'shared' | 'nginx' | 'alone') => rateOf(turns.map((turn) => turn[name]))
    const ratio = (to: 'nginx' | 'alone') =>
      spread(turns.map((turn) => turn.shared.perSecond / turn[to].perSecond))
    print(` ${rates('shared')}  with a key, ${processes} processes on one port`)
    print(` ${rates('nginx')}  nginx with ${processes} workers`)
    print(` ${rates('alone')}  one process, as many connections`)
    print(`   a second, these to nginx: ${ratio('nginx')}; to one process: ${ratio('alone')}`)
  }
  print(` ${rateOf(figures.bulk.map(({ single }) => single))}  one id to a call, with a key`)
  print(` ${rateOf(figures.bulk.map(({ bulk }) => bulk))}  ${BULK_IDS.enterprise} ids to a call, with a key`)
  const gains = figures.bulk.map(
    ({ single, bulk }) => (BULK_IDS.enterprise * bulk.perSecond) / single.perSecond,
  )
  print(`   entities a second, in bulk to one by one: ${spread(gains)}`)
}

async function benchSwitch(): Promise<void> {
  const figures = await measureSwitch(await worldStore(worldSize(500_000, 1_000, 3_000)), {
    connections: Number(values.connections ?? 32),
    perSecond: 1_000,
    switches: Math.max(5, runs),
  })
  for (const line of switchReport(figures)) print(line)
  print(`\n${await kept('switch', figures)}`)
}

function rateOf(all: readonly Asked[]): string {
  const middle = (of: (asked: Asked) => number) => median(all.map(of))
  const rate = whole(middle(({ perSecond }) => perSecond)).padStart(8)
  const cpuUs =
    all[0]!.cpuUs === undefined
      ? ''
      : `, ${fixed(
          middle((one) => one.cpuUs!),
          6,
        )} µs CPU each`
  return `${rate}/s  p50 ${fixed(
    middle((one) => one.p50Ms),
    6,
  )} ms  p99 ${fixed(
    middle((one) => one.p99Ms),
    6,
  )} ms${cpuUs}`
}

async function repeated<T>(measure: () => Promise<T>): Promise<T[]> {
  const all: T[] = []
  while (all.length < runs) all.push(await measure())
  return all
}

function least<T>(all: readonly T[], by: (one: T) => number): T {
  return all.toSorted((a, b) => by(a) - by(b))[0]!
}

async function makeRelease(store: string, threads: number): Promise<ReleaseFigures> {
  const output = await run('release.ts', store, String(threads))
  return JSON.parse(output) as ReleaseFigures
}

function optional(number: string | undefined): number | undefined {
  return number === undefined ? undefined : Number(number)
}
