// What the public log costs: its part of a release that logs every forecast of the world, and of the next
// one, which logs those of the last minutes; and a year of its files.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { signingKeyOf } from '../pipeline/proof/note-keys.ts'
import { MemoryStore } from '../pipeline/store/memory.ts'
import { completeLog } from '../pipeline/transparency/publish.ts'
import { putReleases } from '../test/support/worlds/logged-releases.ts'
import { run } from './process.ts'
import { putRows, repeatedForecasts } from './inbox-rows.ts'
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
    await putRows(
      copy,
      'forecasts',
      repeatedForecasts(`WHERE source = 'api' ORDER BY forecast_at DESC, forecast_id LIMIT ${added}`),
    )
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
  const isTree = ({ name }: { name: string }) => name === 'made tree of forecasts'
  const [tree, others] = [phases.filter(isTree), phases.filter((phase) => !isTree(phase))]
  const part = (unit: 'seconds' | 'cpuSeconds') => {
    const [own, rest] = [sum(tree, unit), sum(others, unit)]
    return `${own.toFixed(2)} beside ${rest.toFixed(2)} (${((100 * own) / rest).toFixed(1)} %)`
  }
  print(
    `  ${what}: the tree of forecasts ${part('seconds')} s of wall time, ${part('cpuSeconds')} s of CPU; at most ${whole(peakBytes / 2 ** 20)} MiB`,
  )
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
