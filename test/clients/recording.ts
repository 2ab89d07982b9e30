// Records the exchange of test/cases/clients: the operations of a client against the real service, with
// failures of the way between them.
import type { Components } from '../../jobs/components/components.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { RunningCommand } from '../support/command.ts'
import {
  Client,
  Clock,
  importRows,
  release,
  startTestService,
  testComponents,
} from '../support/http/service.ts'
import { LOG_KEY, LOG_VKEY, writeLog } from '../support/worlds/written-log.ts'
import { NOW, QUESTION, copyReleasedWorld, uuidOf } from '../support/worlds/world.ts'
import { type Asked, type Exchange, type Given, exchangeServer, headersIn } from './exchange.ts'

const OTHER = uuidOf(1, 2000)
/** One more than a call takes. */
const UNKNOWN = Array.from({ length: 101 }, (_, number) => uuidOf(1, 3000 + number))

const refused = (status: number, type: string, headers: Record<string, string> = {}): Given => ({
  status,
  headers: { 'content-type': 'application/problem+json', ...headers },
  body: JSON.stringify({ type: `/problems/${type}`, title: type, status, detail: `recorded: ${type}\u202e` }),
})
const EVENT = {
  id: '1_0',
  type: 'question.opened',
  at: NOW,
  question_id: OTHER,
  title: 'Another?',
  category: null,
  closes_at: '2027-06-01T00:00:00.000Z',
}
const page = (body: object): Given => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

/** What happens to requests, by their numbers: null cuts the connection once the service has answered. */
const HAPPENS: Record<number, (given: Given) => Given> = {
  0: () => null,
  5: () => refused(429, 'quota-exceeded', { 'retry-after': '1' }),
  6: () => refused(503, 'unavailable', { 'retry-after': '2' }),
  15: () => refused(409, 'request-in-progress', { 'retry-after': '1' }),
  17: () => refused(429, 'quota-exceeded', { 'retry-after': '3600' }),
  29: (given) => ({
    ...given!,
    body: given!.body.replace('"contested_questions":52', '"contested_questions":53'),
  }),
  32: () => refused(404, 'not-found'),
  33: (given) => ({ ...given!, body: given!.body.replace('"probability":0.4', '"probability":0.9') }),
  34: () => page({ events: [], next: '1_0' }),
  35: () => page({ events: [], next: '1_0' }),
  36: () => page({ events: [EVENT], next: '2_0' }),
  39: () => null,
  40: () => null,
  41: () => null,
  42: () => null,
  43: () => null,
  44: () => ({ status: 302, headers: { location: 'http://192.0.2.1/' }, body: '' }),
}

/** Long lists are cut to their beginning. */
function shortened(given: Given): Given {
  if (given === null || !given.headers['content-type']?.includes('json')) return given
  const content = JSON.parse(given.body) as { results?: unknown[]; scores?: unknown[] }
  const { results, scores } = content
  if ((results?.length ?? 0) < 4 && (scores?.length ?? 0) < 4) return given
  if (results) content.results = results.slice(0, 2)
  if (scores) content.scores = scores.slice(0, 2)
  return { ...given, body: JSON.stringify(content) }
}

export interface Recording {
  /** The environment of the operations, without the address. */
  env: Record<string, string>
  exchanges: Exchange[]
}

export async function record(command: RunningOperations): Promise<Recording> {
  const components: Components = {
    ...(await testComponents({ store: new MemoryStore(), clock: new Clock(NOW) })),
    signers: [LOG_KEY],
  }
  const { agentId } = await copyReleasedWorld(components.store)
  const lines = `${OTHER},Another?,an event,2026-01-01T00:00:00Z,2027-06-01T00:00:00Z\n`
  await importRows(components, 'questions', `question_id,title,event_id,opened_at,closes_at\n${lines}`)
  await release(components)
  await writeLog(components.store, 2)
  const service = await startTestService(components)
  const client = new Client(service.url)
  const pass = async ({ method, path, headers, body }: Asked): Promise<Given> => {
    const sent = { headers, ...(body === null ? {} : { body: JSON.stringify(body) }) }
    const answer = await client.send(method, path, sent)
    return { status: answer.status, headers: headersIn(answer.headers), body: answer.text }
  }
  const { url, exchanges } = await exchangeServer(async (asked, number) => {
    const given = shortened(await pass(asked))
    return HAPPENS[number] ? HAPPENS[number](given) : given
  })
  const world = { agent: agentId, open: QUESTION.open, other: OTHER, unknown: UNKNOWN }
  const env = { CLIENT_VKEY: LOG_VKEY, CLIENT_WORLD: JSON.stringify(world) }
  await command({ ...env, CLIENT_URL: url })
  await service.stop()
  return { env, exchanges }
}

export type RunningOperations = (env: Record<string, string>) => Promise<unknown>

/** Runs the operations of a language and returns what they told. */
export async function toldBy(command: string, file: string, env: Record<string, string>): Promise<unknown> {
  const { code, stdout, stderr } = await new RunningCommand(command, [file], { env }).ended
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}
