// Measures how many verifications a second one process serves: by turns beside a bare node:http server with
// the same bytes and headers and, for information, nginx; and many ids in one call beside as many calls.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { IncomingMessage } from 'node:http'
import { Registry } from '../pipeline/access/registry.ts'
import { readManifest, readReleaseShard } from '../pipeline/release/read.ts'
import { FileStore } from '../pipeline/store/file.ts'
import { shardStart } from '../pipeline/store/paths.ts'
import type { Store } from '../pipeline/store/store.ts'
import { BULK_IDS } from '../schemas/tiers.ts'
import { startServer, startService } from './process.ts'
import { type AllCores, measureOnAllCores } from './reads/all-cores.ts'
import { type Asked, type AskedServer, ask, isInstalled } from './ask.ts'
import type { BareAnswer } from './reads/bare-server.ts'
import { startNginx } from './reads/nginx.ts'

export interface ReadsVolume {
  connections: number
  /** How long each server is asked in a turn. */
  seconds: number
  turns: number
}

/** One turn of a kind of read: each server was asked for as long as the others. */
export interface ReadsTurn {
  service: Asked
  bare: Asked
  nginx?: Asked
}

export interface ReadsFigures {
  /** By the kind of read. */
  singles: Record<string, ReadsTurn[]>
  /** With a key, because no address may call so often; missing where there is no nginx. */
  allCores?: AllCores
  /** One by one, and `BULK_IDS.enterprise` to a call, both with a key; in calls. */
  bulk: { single: Asked; bulk: Asked }[]
  agents: number
  /** Programs that are not installed. */
  missing: string[]
}

/** On a store with one release; asks for every agent in turn. */
export async function measureReads(root: string, volume: ReadsVolume): Promise<ReadsFigures> {
  const store = await FileStore.begin(root)
  const agents = await releasedAgents(store)
  const registry = new Registry({ store, environment: 'production', randomBytes })
  const key = await registry.createClientKey('bench', new Date(), {
    tier: 'enterprise',
    monthly_calls: 1_000_000_000,
  })
  const settings = { VERIFICATION_SIGNING_SECRET: 'a secret for measurements, of no other use' }
  await using service = await startService(root, settings)
  const folder = await mkdtemp(join(tmpdir(), 'fvs-bench-reads-'))
  try {
    const [withWrk, withNginx] = [await isInstalled('wrk', '-v'), await isInstalled('nginx', '-v')]
    const missing = [...(withWrk ? [] : ['wrk']), ...(withNginx ? [] : ['nginx'])]
    const measure = async (
      server: AskedServer,
      requests: readonly string[],
      connections = volume.connections,
    ) => ask(server, { requests, ...volume, connections }, { folder, withWrk })

    const singles: ReadsFigures['singles'] = {}
    for (const [kind, headersOf] of Object.entries(kindsOf(service.url, key))) {
      const requests = await Promise.all(
        agents.map(async (id) => requestOf(`/agents/${id}/verification`, await headersOf(id))),
      )
      const answer = await answerOf(
        `${service.url}/agents/${agents[0]}/verification`,
        await headersOf(agents[0]!),
      )
      const path = join(folder, 'answer')
      await writeFile(path, JSON.stringify(answer))
      await using bare = await startServer('reads/bare-server.ts', [path])
      await using nginx = withNginx && answer.status === 200 ? await startNginx(folder, answer) : undefined
      const turns: ReadsTurn[] = []
      // The first turn warms up.
      for (let turn = 0; turn <= volume.turns; turn++) {
        turns.push({
          service: await measure(service, requests),
          bare: await measure(bare, requests),
          ...(nginx && { nginx: await measure(nginx, requests) }),
        })
      }
      singles[kind] = turns.slice(1)
    }

    const keyed = { 'X-API-Key': key }
    const single = agents.map((id) => requestOf(`/agents/${id}/verification`, keyed))
    const answer = await answerOf(`${service.url}/agents/${agents[0]}/verification`, keyed)
    const parties = { root, settings, alone: service, folder, answer }
    const allCores = withNginx
      ? await measureOnAllCores(parties, volume.turns, (server, processes) =>
          measure(server, single, processes * volume.connections),
        )
      : undefined

    const ids = agents.slice(0, BULK_IDS.enterprise)
    const bulk = [bulkRequest(ids, key)]
    const both: ReadsFigures['bulk'] = []
    for (let turn = 0; turn <= volume.turns; turn++) {
      both.push({ single: await measure(service, single), bulk: await measure(service, bulk) })
    }
    return { singles, bulk: both.slice(1), agents: agents.length, missing, ...(allCores && { allCores }) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

type Headers = Record<string, string>

/** The headers of each kind of read. */
function kindsOf(url: string, key: string): Record<string, (id: string) => Promise<Headers>> {
  const nothing: Headers = {}
  return {
    'no key': () => Promise.resolve(nothing),
    'with a key': () => Promise.resolve({ 'X-API-Key': key }),
    'not modified, no key': async (id) => {
      const { headers } = await fetch(`${url}/agents/${id}/verification`)
      return { 'If-None-Match': headers.get('ETag')! }
    },
  }
}

function requestOf(path: string, headers: Headers): string {
  const lines = Object.entries({ Host: 'bench', ...headers }).map(([name, value]) => `${name}: ${value}`)
  return [`GET ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n')
}

function bulkRequest(ids: readonly string[], key: string): string {
  const body = JSON.stringify({ entity_type: 'agent', ids })
  const head = ['POST /verification/bulk HTTP/1.1', 'Host: bench', 'Content-Type: application/json']
  return [...head, `X-API-Key: ${key}`, `Content-Length: ${body.length}`, '', body].join('\r\n')
}

/** What the service answers, without what any server of Node adds. */
async function answerOf(url: string, headers: Headers): Promise<BareAnswer> {
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { headers }, resolve).on('error', reject).end()
  })
  const own: string[] = []
  for (let index = 0; index < incoming.rawHeaders.length; index += 2) {
    const [name, value] = incoming.rawHeaders.slice(index, index + 2) as [string, string]
    if (!['Date', 'Connection', 'Keep-Alive'].includes(name)) own.push(name, value)
  }
  return { status: incoming.statusCode!, headers: own, body: await text(incoming) }
}

/** The agents of the first release of a store. */
export async function releasedAgents(store: Store): Promise<string[]> {
  const manifest = await readManifest(store, 1)
  const shards = (manifest?.files ?? []).filter(({ path }) => shardStart(path, 'agent') !== undefined)
  const read = await Promise.all(shards.map((file) => readReleaseShard(store, 1, file)))
  return read.flatMap(({ entities }) => Object.keys(entities))
}
