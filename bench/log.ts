// What the public log costs: its part of a release that logs every forecast of the world, and of the next one, which logs those of the
// last minutes; and a year of its files.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { Database } from '../pipeline/duckdb.ts'
import { signingKeyOf } from '../pipeline/proof/note-keys.ts'
import { FileStore } from '../pipeline/store/file.ts'
import { LocalFiles } from '../pipeline/store/local-files.ts'
import { MemoryStore } from '../pipeline/store/memory.ts'
import { inboxPath } from '../pipeline/store/paths.ts'
import { parquetOf } from '../pipeline/tables/data-files.ts'
import { currentVersions } from '../pipeline/tables/delta-log.ts'
import { attachAll } from '../pipeline/tables/views.ts'
import { completeLog } from '../pipeline/transparency/publish.ts'
import { tableSpec } from '../schemas/tables.ts'
import { putReleases } from '../test/support/logged-releases.ts'
import { run } from './process.ts'
import type { ReleaseFigures } from './release.ts'
import { worldSize, worldStore } from './world.ts'

const { values } = parseArgs({
  options: {
    forecasts: { type: 'string', default: '10000000' },
    added: { type: 'string', default: '100000' },
    releases: { type: 'string', default: '35040' },
    runs: { type: 'string', default: '3' },
  },
})
const [forecasts, added, releases, runs] = [values.forecasts, values.added, values.releases, values.runs].map(
  Number,
) as [number, number, number, number]
const print = (line = '') => process.stdout.write(`${line}\n`)
const whole = (number: number) => Math.round(number).toLocaleString('en')

const world = await worldStore(worldSize(forecasts))
for (let round = 1; round <= runs; round++) {
  // Files are only ever replaced, so that links keep the world as it is.
  const copy = await mkdtemp(join(dirname(world), 'log-'))
  try {
    await promisify(execFile)('cp', ['-al', `${world}/.`, copy])
    print(`round ${round} of ${runs}`)
    describe('the first release', await released(copy))
    await addForecasts(copy)
    describe(`the next, ${whole(added)} forecasts later`, await released(copy))
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}
await year()

async function released(root: string): Promise<ReleaseFigures> {
  return JSON.parse(await run('release.ts', root)) as ReleaseFigures
}

function describe(what: string, { phases, peakBytes }: ReleaseFigures): void {
  const sum = (of: ReleaseFigures['phases'], unit: 'seconds' | 'cpuSeconds') =>
    of.reduce((total, phase) => total + phase[unit], 0)
  const isTree = ({ name }: { name: string }) => name === 'made the tree of forecasts'
  const [tree, others] = [phases.filter(isTree), phases.filter((phase) => !isTree(phase))]
  const part = (unit: 'seconds' | 'cpuSeconds') => {
    const [own, rest] = [sum(tree, unit), sum(others, unit)]
    return `${own.toFixed(2)} beside ${rest.toFixed(2)} (${((100 * own) / rest).toFixed(1)} %)`
  }
  print(
    `  ${what}: the tree of forecasts ${part('seconds')} s of wall time, ${part('cpuSeconds')} s of CPU; at most ${whole(peakBytes / 2 ** 20)} MiB`,
  )
}

/** The last forecasts of agents once more, a millisecond later and under ids of their own. */
async function addForecasts(root: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'fvs-bench-log-'))
  try {
    const store = await FileStore.begin(root)
    using database = await Database.open({ threads: 2, memoryLimit: '4GB', directory })
    await attachAll(database, new LocalFiles(store, directory), await currentVersions(store))
    const columns = tableSpec('forecasts').columns.map(({ name }) => {
      if (name === 'forecast_id') return `left(forecast_id, 24) || right(md5(forecast_id), 12) AS forecast_id`
      return name === 'forecast_at' ? `forecast_at + INTERVAL 1 MILLISECOND AS forecast_at` : name
    })
    const rows = `SELECT ${columns.join(', ')} FROM (
      FROM forecasts WHERE source = 'api' ORDER BY forecast_at DESC, forecast_id LIMIT ${added})`
    const bytes = await parquetOf({ database, directory }, 'added', rows, 122_880)
    await store.put(inboxPath('forecasts', '00000000-0000-8000-8000-00000000ffff', bytes), bytes)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** The files of a log of as many releases as a year has at 96 a day. */
async function year(): Promise<void> {
  const store = new MemoryStore()
  const signers = [signingKeyOf('log.example/forecasts', 'log', Buffer.alloc(32, 1))]
  await putReleases(store, releases)
  const started = performance.now()
  await completeLog({ store, signers, witnesses: [], log: () => undefined }, releases)
  const ms = (performance.now() - started) / releases
  const kinds = new Map<string, { objects: number; bytes: number }>()
  for await (const { path, sizeBytes } of store.list('log/')) {
    const kind = path.startsWith('log/tile/entries/') ? 'bundles' : path.split('/')[1]!
    const { objects, bytes } = kinds.get(kind) ?? { objects: 0, bytes: 0 }
    kinds.set(kind, { objects: objects + 1, bytes: bytes + sizeBytes })
  }
  const all = [...kinds.values()].reduce((sum, { bytes }) => sum + bytes, 0)
  print(`a log of ${whole(releases)} releases: ${(all / 1e6).toFixed(1)} MB, ${ms.toFixed(2)} ms to log one`)
  for (const [kind, { objects, bytes }] of kinds)
    print(`  ${kind}: ${whole(objects)} objects, ${(bytes / 1e6).toFixed(1)} MB`)
}
