// Measures credentials beside the release that they are issued after. Everyone in it is certified, first for
// the first time and then again.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { issueCredentials } from '../pipeline/credentials/issue.ts'
import { credentialKeyText, parseCredentialKey } from '../pipeline/credentials/keys.ts'
import { readManifest } from '../pipeline/release/read.ts'
import { FileStore } from '../pipeline/store/file.ts'
import { MemoryStore } from '../pipeline/store/memory.ts'
import { manifestPath } from '../pipeline/store/paths.ts'
import { putBoards } from '../test/support/worlds/boards.ts'
import { run } from './process.ts'
import type { ReleaseFigures } from './release.ts'
import { worldStore } from './world.ts'

const { values } = parseArgs({
  options: { entities: { type: 'string', default: '100000' }, questions: { type: 'string', default: '50' } },
})
const entities = Number(values.entities)
const print = (line: string) => process.stdout.write(`${line}\n`)
const whole = (number: number) => Math.round(number).toLocaleString('en')

// As in the worlds of the other benchmarks, everyone forecasts five times on a question.
const forecastsPerPair = 5
const forecasts = entities * Number(values.questions) * forecastsPerPair
const world = await worldStore({
  forecasts,
  questions: Math.round(forecasts / 500),
  entities,
  forecastsPerPair,
})
const folder = await mkdtemp(join(dirname(world), 'credentials-'))
try {
  // Files are only ever replaced, so that links keep the world as it is.
  const copy = join(folder, 'world')
  await promisify(execFile)('cp', ['-al', world, copy])
  const { phases } = JSON.parse(await run('release.ts', copy)) as ReleaseFigures
  const cpu = phases.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
  const released = await FileStore.begin(copy)
  const { files, counts } = (await readManifest(released, 1))!
  const bytes = files.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  const members = counts.agents + counts.forecasters
  print(
    `a release of ${whole(members)} entities and ${whole(forecasts)} forecasts: ${cpu.toFixed(1)} s of CPU, ${whole(bytes / 1e6)} MB`,
  )
  const boards = new MemoryStore()
  boards.objects.set(manifestPath(1), (await released.get(manifestPath(1)))!)
  const store = await FileStore.begin(join(folder, 'store'))
  const key = parseCredentialKey(credentialKeyText(new Uint8Array(32).fill(1)))
  const credentialIssuer = { url: 'https://forecasts.example.org', keys: [key] }
  const everyone = Object.fromEntries(Array.from({ length: members }, (_, n) => [n, 'certified']))
  for (const release of [1, 2]) {
    putBoards(boards, release, { agents: everyone })
    for (const [path, content] of boards.objects) await store.put(path, content)
    const before = process.cpuUsage()
    await issueCredentials({ store, credentialIssuer, log: () => undefined }, release)
    const { user, system } = process.cpuUsage(before)
    const own = (user + system) / 1e6
    let size = 0
    for await (const { sizeBytes } of store.list(`credentials/0000000${release}`)) size += sizeBytes
    print(
      `issue ${release}: ${own.toFixed(1)} s of CPU (${((100 * own) / cpu).toFixed(1)} %), ${whole(size / 1e6)} MB (${((100 * size) / bytes).toFixed(1)} %)`,
    )
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
