// Measures what a receipt costs: the same forecasts acknowledged by a service with a signing key and by one without, by turns.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { signingKeyText } from '../pipeline/proof/note-keys.ts'
import { load, warmUp } from './load.ts'
import { cpuSeconds } from './process.ts'
import { type Submissions, startSubmissions } from './submissions.ts'
import { byTurns, spread } from './turns.ts'

const { values } = parseArgs({
  options: {
    turns: { type: 'string', default: '7' },
    connections: { type: 'string', default: '256' },
    requests: { type: 'string', default: '15000' },
  },
})
const turns = Number(values.turns)
const volume = {
  connections: Number(values.connections),
  requests: Number(values.requests),
  limitMs: 60_000,
}
const LOG_SIGNING_KEY = signingKeyText('bench.example/forecasts', 'log', new Uint8Array(32).fill(1))

interface Turn {
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** Of the service, for one forecast. */
  cpuUs: number
}

const folder = await mkdtemp(join(tmpdir(), 'fvs-bench-receipts-'))
try {
  const begin = async (name: string, settings: Record<string, string>) => {
    await mkdir(join(folder, name))
    return startSubmissions(join(folder, name), settings)
  }
  await using without = await begin('without', {})
  await using signed = await begin('with', { LOG_SIGNING_KEY })
  for (const service of [without, signed]) await load(service.url, warmUp(volume), service.request)
  const parties = { without: () => measured(without), signed: () => measured(signed) }
  const all = await byTurns(parties, turns)
  print(all)
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function measured(service: Submissions): Promise<Turn> {
  const before = await cpuSeconds(service)
  const { requests, perSecond, p50Ms, p99Ms } = await load(service.url, volume, service.request)
  return { perSecond, p50Ms, p99Ms, cpuUs: (((await cpuSeconds(service)) - before) / requests) * 1e6 }
}

function print(all: readonly Record<'without' | 'signed', Turn>[]): void {
  const line = (text: string) => process.stdout.write(`${text}\n`)
  const number = (value: number) => Math.round(value).toLocaleString('en')
  line(
    `Receipts: ${number(volume.requests)} forecasts on ${volume.connections} connections, ${all.length} turns each; ` +
      `${availableParallelism()} cores, Node ${process.version}, load ${loadavg()[0]!.toFixed(1)}`,
  )
  for (const [name, what] of [
    ['without', 'without a key'],
    ['signed', 'with a receipt'],
  ] as const) {
    const of = (member: keyof Turn) => spread(all.map((turn) => turn[name][member]))
    line(
      ` ${what.padEnd(15)} ${of('perSecond').middle.toFixed(0).padStart(6)}/s  p50 ${of('p50Ms').middle.toFixed(1)} ms  ` +
        `p99 ${of('p99Ms').middle.toFixed(1)} ms  ${of('cpuUs').middle.toFixed(0)} µs of CPU each (medians)`,
    )
  }
  for (const [what, member] of [
    ['rate', 'perSecond'],
    ['CPU', 'cpuUs'],
  ] as const) {
    const { least, middle, most } = spread(all.map(({ signed, without }) => signed[member] / without[member]))
    line(
      ` ${what}, with a receipt by without, of each turn: median ${middle.toFixed(3)}, ${least.toFixed(3)} to ${most.toFixed(3)}`,
    )
  }
}
