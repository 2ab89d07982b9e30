// How the service grows: each thing that there can be more and more of, small and large, one at a time.
// Prints what booting, releasing and the slowest call cost then, and the ratio of large to small.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type World, at, build, release, uuid } from './growth/worlds.ts'
import { type Used, startService } from './process.ts'

const GROWTH: [what: string, key: keyof World, sizes: number[]][] = [
  ['commits', 'commits', [50, 1_000, 5_000]],
  ['inbox objects', 'waiting', [1_000, 100_000]],
  ['questions', 'questions', [1_000, 100_000, 1_000_000]],
  ['agents', 'agents', [1_000, 200_000]],
  ['releases', 'releases', [10, 2_000]],
  ['snapshots', 'snapshots', [1, 366]],
]

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true, default: GROWTH.map(([, key]) => key) } },
})
const print = (line: string) => process.stdout.write(`${line}\n`)

print(
  '| there are | release s | release CPU s | release MiB | boot s | boot CPU s | node MiB | slowest call ms |',
)
print('| --- | --- | --- | --- | --- | --- | --- | --- |')
for (const [what, key, sizes] of GROWTH) {
  if (!values.only.includes(key)) continue
  let first: number[] | undefined
  for (const size of sizes) {
    const figures = await measure({ [key]: size })
    first ??= figures.numbers
    const cells = figures.numbers.map((figure, index) => {
      const ratio = figure / first![index]!
      return `${figure.toFixed(figure < 10 ? 2 : 0)}${size === sizes[0] ? '' : ` (${ratio.toFixed(2)}×)`}`
    })
    print(`| ${size.toLocaleString('en')} ${what} | ${cells.join(' | ')} ${figures.slowest} |`)
  }
}

async function measure(world: World): Promise<{ numbers: number[]; slowest: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'fvs-growth-'))
  try {
    await build(folder, world)
    const store = join(folder, 'store')
    // The first one reads everything that there is; from then on a machine reads what is new.
    if (world.waiting === undefined) await release(store)
    const released = await release(store)
    const { boot, mib, slowest } = await serve(store)
    return {
      numbers: [released.seconds, released.cpuS, released.mib, boot.seconds, boot.cpuS, mib, slowest.ms],
      slowest: slowest.name,
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** What a process has used so far, as Linux counts it, in hundredths of a second. */
async function usedBy(pid: number): Promise<Omit<Used, 'seconds'>> {
  const [status, stat] = await Promise.all(
    ['status', 'stat'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8')),
  )
  const [user, system] = stat!.slice(stat!.lastIndexOf(')')).split(' ').slice(12, 14)
  const mib = Number(/VmHWM:\s+(\d+) kB/.exec(status!)![1]) / 1024
  return { cpuS: (Number(user) + Number(system)) / 100, mib }
}

async function serve(store: string) {
  const started = performance.now()
  const cache = join(store, '..', 'machine')
  await using service = await startService(store, {
    CACHE_DIR: cache,
    ANONYMOUS_PER_MONTH: '1000000',
    READS_PER_MINUTE: '1000000',
  })
  const seconds = (performance.now() - started) / 1000
  const boot = { seconds, ...(await usedBy(service.pid)) }
  const agent = uuid(3, 1)
  const calls = {
    'open questions': '/questions?status=open',
    'upcoming questions': '/questions?status=upcoming',
    'closed questions, 1,000': '/questions?status=closed&limit=1000',
    'questions by every filter': `/questions?status=closed&category=growth+3&q=will+it+be+so&closes_before=${at(-2).toISOString()}&opened_after=${at(-400).toISOString()}`,
    'a question': `/questions/${uuid(1, 3)}`,
    'a verification': `/agents/${agent}/verification`,
    history: `/snapshots/agent/${agent}`,
  }
  let slowest = { name: '', ms: 0 }
  for (const [name, path] of Object.entries(calls)) {
    const times: number[] = []
    for (let nth = 0; nth < 5; nth++) {
      const begun = performance.now()
      const answer = await fetch(service.url + path)
      await answer.arrayBuffer()
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`)
      times.push(performance.now() - begun)
    }
    // The first one fills the caches.
    const ms = Math.max(...times.slice(1))
    if (ms > slowest.ms) slowest = { name, ms }
  }
  return { boot, mib: (await usedBy(service.pid)).mib, slowest }
}
