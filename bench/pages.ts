// Measures a profile beside a verification under the same load, and how long a page takes that nobody has
// asked for yet.
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { FileStore } from '../pipeline/store/file.ts'
import { type LoadFigures, type Volume, load, timed, warmUp } from './load.ts'
import { run, startService } from './process.ts'
import { releasedAgents } from './reads.ts'
import { worldSize, worldStore } from './world.ts'

const { values } = parseArgs({
  options: {
    forecasts: { type: 'string', default: '1000000' },
    connections: { type: 'string', default: '64' },
    requests: { type: 'string', default: '20000' },
    runs: { type: 'string', default: '3' },
  },
})
const volume: Volume = {
  connections: Number(values.connections),
  requests: Number(values.requests),
  limitMs: 20_000,
}
const print = (line = '') => process.stdout.write(`${line}\n`)

/** Pages that are asked for by turns: as many as people look at, so that each is rendered once. */
const POPULAR = 50

const size = worldSize(Number(values.forecasts))
const root = await worldStore(size)
await run('release.ts', root, '2')
const agents = await releasedAgents(await FileStore.begin(root))
const request = (path: (id: string) => string, among: number) => (nth: number) =>
  `GET ${path(agents[nth % Math.min(among, agents.length)]!)} HTTP/1.1\r\nHost: bench\r\n\r\n`
const verification = request((id) => `/agents/${id}/verification`, POPULAR)
const profile = request((id) => `/view/agents/${id}`, POPULAR)

await using service = await startService(root, {
  VERIFICATION_SIGNING_SECRET: 'a secret for measurements, of no other use',
})
const first = await timed({ ...volume, connections: 1, requests: agents.length - POPULAR }, async (nth) => {
  const answer = await fetch(`${service.url}/view/agents/${agents[POPULAR + nth]}`)
  await answer.arrayBuffer()
})
const runs: { verification: LoadFigures; profile: LoadFigures }[] = []
for (let nth = 0; nth < Number(values.runs); nth++) {
  const measure = async (get: (nth: number) => string) => {
    await load(service.url, warmUp(volume), get)
    return load(service.url, volume, get)
  }
  runs.push({ verification: await measure(verification), profile: await measure(profile) })
}
const best = (of: 'verification' | 'profile') =>
  runs.map((one) => one[of]).reduce((a, b) => (b.p99Ms < a.p99Ms ? b : a))
const [verified, shown] = [best('verification'), best('profile')]

print(
  `Pages: ${volume.requests} requests on ${volume.connections} connections, ${POPULAR} agents by turns; ${availableParallelism()} cores, best of ${runs.length} runs`,
)
print('     a second   p50 ms   p99 ms')
row(verified, 'a verification, signed')
row(shown, `a profile: p99 ${(shown.p99Ms / verified.p99Ms).toFixed(2)} times the verification’s`)
row(first, `a profile that nobody has asked for yet, one at a time (${first.requests} agents)`)

function row({ perSecond, p50Ms, p99Ms }: LoadFigures, what: string): void {
  print(
    `${Math.round(perSecond).toLocaleString('en').padStart(13)}${p50Ms.toFixed(2).padStart(9)}${p99Ms.toFixed(2).padStart(9)}  ${what}`,
  )
}
