// Measures submissions, each acknowledged once it is durable: by turns beside a bare handler that does one
// INSERT and COMMIT for each in PostgreSQL, on the same disk, with and without receipts; and a hundred in one
// call beside a hundred calls.
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256Hex } from '../pipeline/proof/canonical.ts'
import { signingKeyText } from '../pipeline/proof/note-keys.ts'
import { MOST_FORECASTS } from '../schemas/requests.ts'
import { type AskedServer, ask, isInstalled } from './ask.ts'
import { type SyncFigures, measureSyncs } from './disk-syncs.ts'
import { type Postgres, hasPostgres, startPostgres } from './postgres.ts'
import type { PeerWorld } from './postgres-server.ts'
import { startServer } from './process.ts'
import { type Submissions, startSubmissions } from './submissions.ts'
import { byTurns } from './turns.ts'

const LOG_SIGNING_KEY = signingKeyText('bench.example/forecasts', 'log', new Uint8Array(32).fill(1))
const CONNECTIONS = [32, 256]
/** A file system that syncs nothing: what the service does for a forecast without what the disk does. */
const MEMORY = '/dev/shm'
const BATCH_CONNECTIONS = [1, 32]
/**
 * Some ten seconds of load for each: until then V8 still compiles, and a forecast of the service takes up to
 * a third more.
 */
const WARM_TURNS = 3
/** Headers that an HTTP server sets by itself, or that differ from answer to answer. */
const OWN_HEADERS = ['connection', 'content-length', 'date', 'keep-alive', 'x-request-id']

export interface WriteFigures {
  rowsPerSecond: number
  /** Of every process of the party, for one row. */
  cpuUs: number
  p50Ms: number
  p99Ms: number
}

export type WriteParty = 'service' | 'receipts' | 'unsynced' | 'postgres' | 'batch'

export interface Writes {
  connections: number
  /** Of singles, or of a call of a hundred beside the singles. */
  turns: Partial<Record<WriteParty, WriteFigures>>[]
}

export interface AllWrites {
  singles: Writes[]
  batches: Writes[]
  syncs: Record<'object' | 'append', SyncFigures>[]
  /** Programs that are not installed. */
  missing: string[]
}

/** Each server is asked for as many seconds in each turn. */
export async function measureWrites(seconds: number, turns: number): Promise<AllWrites> {
  const folder = await mkdtemp(join(tmpdir(), 'fvs-bench-writes-'))
  const memory = existsSync(MEMORY) ? await mkdtemp(join(MEMORY, 'fvs-bench-writes-')) : undefined
  try {
    const withWrk = await isInstalled('wrk', '-v')
    await using service = await begin(join(folder, 'plain'))
    await using signed = await begin(join(folder, 'signed'), { LOG_SIGNING_KEY })
    await using unsynced = memory === undefined ? undefined : await begin(join(memory, 'store'))
    await using postgres = hasPostgres() ? await startPostgres(join(folder, 'postgres')) : undefined
    await using peer = postgres && (await startPeer(folder, postgres, service))
    const measure = async (
      server: AskedServer,
      requests: readonly string[],
      connections: number,
      rowsPerCall = 1,
    ): Promise<WriteFigures> => {
      const asked = await ask(server, { requests, connections, seconds }, { folder, withWrk })
      const { perSecond, cpuUs, p50Ms, p99Ms } = asked
      return { rowsPerSecond: perSecond * rowsPerCall, cpuUs: cpuUs! / rowsPerCall, p50Ms, p99Ms }
    }
    const singles: Writes[] = []
    for (const connections of CONNECTIONS) {
      const parties = {
        service: () => measure(service, service.singles, connections),
        receipts: () => measure(signed, signed.singles, connections),
        ...(unsynced && { unsynced: () => measure(unsynced, unsynced.singles, connections) }),
        ...(peer && { postgres: () => measure(peer, service.singles, connections) }),
      }
      singles.push({ connections, turns: await warmTurns(parties, turns) })
    }
    const batches: Writes[] = []
    for (const connections of BATCH_CONNECTIONS) {
      const parties = {
        service: () => measure(service, service.singles, connections),
        batch: () => measure(service, service.batches, connections, MOST_FORECASTS),
      }
      batches.push({ connections, turns: await warmTurns(parties, turns) })
    }
    const syncs = await measureSyncs(join(folder, 'syncs'), turns)
    return {
      singles,
      batches,
      syncs,
      missing: [...(withWrk ? [] : ['wrk']), ...(postgres ? [] : ['postgresql-15'])],
    }
  } finally {
    for (const made of [folder, memory])
      if (made !== undefined) await rm(made, { recursive: true, force: true })
  }
}

/** The first turns warm up. */
async function warmTurns(
  parties: Partial<Record<WriteParty, () => Promise<WriteFigures>>>,
  turns: number,
): Promise<Writes['turns']> {
  return (await byTurns(parties as Required<typeof parties>, WARM_TURNS + turns)).slice(WARM_TURNS)
}

async function begin(folder: string, settings: Record<string, string> = {}): Promise<Submissions> {
  await mkdir(folder)
  return startSubmissions(folder, settings)
}

/** The peer has the same agents and questions as a service, and its answers have the same headers. */
async function startPeer(
  folder: string,
  { host, cpuSeconds: ofPostgres }: Postgres,
  { url, agents, questions }: Submissions,
): Promise<AskedServer & AsyncDisposable> {
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
    cpuSeconds: async () => (await handler.cpuSeconds()) + (await ofPostgres()),
  }
}
