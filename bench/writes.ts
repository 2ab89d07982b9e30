// Measures submissions, each acknowledged once it is durable: by turns beside a bare handler that does one INSERT and COMMIT for
// each in PostgreSQL, on the same disk, with and without receipts; and a hundred in one call beside a hundred calls.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256Hex } from '../pipeline/proof/canonical.ts'
import { signingKeyText } from '../pipeline/proof/note-keys.ts'
import { MOST_FORECASTS } from '../schemas/requests.ts'
import { type SyncFigures, measureSyncs } from './disk-syncs.ts'
import { type Volume, load, warmUp } from './load.ts'
import { type Postgres, hasPostgres, startPostgres } from './postgres.ts'
import type { PeerWorld } from './postgres-server.ts'
import { cpuSeconds, startServer } from './process.ts'
import { type Submissions, startSubmissions } from './submissions.ts'
import { byTurns } from './turns.ts'

const LOG_SIGNING_KEY = signingKeyText('bench.example/forecasts', 'log', new Uint8Array(32).fill(1))
const CONNECTIONS = [32, 256]
export const WORKERS = 2
/** Headers that an HTTP server sets by itself, or that differ from answer to answer. */
const OWN_HEADERS = ['connection', 'content-length', 'date', 'keep-alive', 'x-request-id']

export interface WriteFigures {
  rowsPerSecond: number
  /** Of every process of the party, for one row. */
  cpuUs: number
  p50Ms: number
  p99Ms: number
}

export type WriteParty = 'service' | 'receipts' | 'workers' | 'postgres' | 'batch'

export interface Writes {
  connections: number
  /** Of singles, or of a call of a hundred beside the singles. */
  turns: Partial<Record<WriteParty, WriteFigures>>[]
}

interface Server {
  url: string
  cpuSeconds: () => Promise<number>
  request: (nth: number) => string
}

export interface AllWrites {
  singles: Writes[]
  batches: Writes[]
  syncs: Record<'object' | 'append', SyncFigures>[]
}

/** Each load has `requests` rows; the parties have as many turns as given. */
export async function measureWrites(requests: number, turns: number): Promise<AllWrites> {
  const folder = await mkdtemp(join(tmpdir(), 'fvs-bench-writes-'))
  try {
    await using service = await begin(join(folder, 'plain'))
    await using signed = await begin(join(folder, 'signed'), { LOG_SIGNING_KEY })
    await using both = await begin(join(folder, 'workers'), {}, ['--workers', String(WORKERS)])
    await using postgres = hasPostgres() ? await startPostgres(join(folder, 'postgres')) : undefined
    await using peer = postgres && (await startPeer(folder, postgres, service))
    const servers = {
      service: serverOf(service, service.request),
      receipts: serverOf(signed, signed.request),
      workers: serverOf(both, both.request),
      ...(peer && { postgres: peer }),
    }
    const singles: Writes[] = []
    for (const connections of CONNECTIONS) {
      const volume = { connections, requests, limitMs: 30_000 }
      const parties = mapped(servers, (server) => () => measured(server, volume))
      for (const server of Object.values(servers)) await load(server.url, warmUp(volume), server.request)
      singles.push({ connections, turns: await byTurns(parties, turns) })
    }
    const batches: Writes[] = []
    for (const [connections, single, inAll] of [
      [1, requests / 10, requests / MOST_FORECASTS],
      [32, requests, requests / 10],
    ] as const) {
      const calls = { connections, requests: inAll, limitMs: 30_000 }
      const inBatches = serverOf(service, service.batch)
      await load(inBatches.url, calls, inBatches.request)
      const parties = {
        service: () => measured(servers.service, { ...calls, requests: single }),
        batch: () => measured(inBatches, calls, MOST_FORECASTS),
      }
      batches.push({ connections, turns: await byTurns(parties, turns) })
    }
    return { singles, batches, syncs: await measureSyncs(join(folder, 'syncs'), turns) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function begin(
  folder: string,
  settings: Record<string, string> = {},
  options: readonly string[] = [],
): Promise<Submissions> {
  await mkdir(folder)
  return startSubmissions(folder, settings, options)
}

function serverOf(service: Submissions, request: (nth: number) => string): Server {
  return { url: service.url, cpuSeconds: () => cpuSeconds(service), request }
}

/** The peer has the same agents and questions as a service, and its answers have the same headers. */
async function startPeer(
  folder: string,
  { host, cpuSeconds: ofPostgres }: Postgres,
  { url, agents, questions, request }: Submissions,
): Promise<Server & AsyncDisposable> {
  const [{ agent_id, api_key } = { agent_id: '', api_key: '' }] = agents
  const answer = await fetch(`${url}/agents/${agent_id}/forecast`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${api_key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ question_id: questions[0], probability: 0.5 }),
  })
  const world: PeerWorld = {
    host,
    agents: agents.map((agent) => [sha256Hex(agent.api_key), agent.agent_id]),
    questions: [...questions],
    headers: Object.fromEntries([...answer.headers].filter(([name]) => !OWN_HEADERS.includes(name))),
  }
  const file = join(folder, 'peer.json')
  await writeFile(file, JSON.stringify(world))
  const handler = await startServer('postgres-server.ts', [file])
  return {
    ...handler,
    request,
    cpuSeconds: async () => (await cpuSeconds(handler)) + (await ofPostgres()),
  }
}

async function measured(
  { url, cpuSeconds: used, request }: Server,
  volume: Volume,
  rowsPerRequest = 1,
): Promise<WriteFigures> {
  const before = await used()
  const { requests, perSecond, p50Ms, p99Ms } = await load(url, volume, request)
  const rows = requests * rowsPerRequest
  const cpuUs = (((await used()) - before) / rows) * 1e6
  return { rowsPerSecond: perSecond * rowsPerRequest, cpuUs, p50Ms, p99Ms }
}

function mapped<Name extends string, A, B>(
  all: Partial<Record<Name, A>>,
  change: (one: A) => B,
): Record<Name, B> {
  const entries = Object.entries<A | undefined>(all).filter(
    (entry): entry is [Name, A] => entry[1] !== undefined,
  )
  return Object.fromEntries(entries.map(([name, one]) => [name, change(one)])) as Record<Name, B>
}
