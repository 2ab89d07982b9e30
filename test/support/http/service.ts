// The real service for a test: the test's own components, a free port, and a client that shows everything of
// HTTP.
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { pino } from 'pino'
import { v7 as uuidv7 } from 'uuid'
import { onTestFinished } from 'vitest'
import { type Components, SERVICE_VERSION, secretsOf } from '../../../jobs/components/components.ts'
import { storeUrlOf } from '../../../jobs/components/own-store.ts'
import { runImport } from '../../../jobs/import/import.ts'
import { credentialIssuersOf } from '../../../jobs/components/credential-issuer.ts'
import { signersOf } from '../../../jobs/components/log-signers.ts'
import { witnessesOf } from '../../../jobs/components/log-witnesses.ts'
import { type ServiceOptions, startService } from '../../../jobs/serve/service.ts'
import { METHODOLOGY } from '../../../pipeline/scoring/methodology.ts'
import { Registry } from '../../../pipeline/access/registry.ts'
import { type ReleaseRequest, type ReleaseResult, makeRelease } from '../../../pipeline/release/make.ts'
import type { ImportKind } from '../../../pipeline/import/columns.ts'
import { type GivenOptions, parseOptions } from '../../../pipeline/import/options.ts'
import { FileStore } from '../../../pipeline/store/file.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { LocalFiles } from '../../../pipeline/store/local-files.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { parseSettings, settingsOf } from '../../../schemas/config.ts'
import type { Environment } from '../../../schemas/values.ts'
import { openSharedDatabase } from '../databases.ts'
import { testFolder } from '../folder.ts'

/** A clock that changes only when it is set. */
export class Clock {
  #at: Date

  constructor(at: string) {
    this.#at = new Date(at)
  }

  readonly now = (): Date => this.#at

  set(at: string): void {
    this.#at = new Date(at)
  }
}

export interface TestOptions {
  /** By default a store in the files of `folder`. */
  store?: Store
  /** Environment variables in addition to those that every test sets. */
  settings?: Record<string, string>
  clock?: Clock
  environment?: Environment
  /** For the store and temporary files; by default a folder that is removed after the test. */
  folder?: string
}

export const SECRET = 'the secret of the tests, of no use elsewhere'
/** Another secret that is long enough. */
export const OTHER_SECRET = 'another secret of the tests, no less long'
export const SANDBOX_SECRET = 'the secret of the sandbox of the tests'

/**
 * Limits beyond the needs of any test that is not about limits, since all calls of a test come from one
 * address.
 */
export const NO_LIMITS = {
  ANONYMOUS_PER_MINUTE: '1000000',
  ANONYMOUS_PER_MONTH: '1000000',
  READS_PER_MINUTE: '1000000',
  PAGES_PER_MINUTE: '1000000',
  ATTEMPTS_PER_MINUTE: '1000000',
  OTHER_CALLS_PER_MINUTE: '1000000',
  FORECASTS_PER_MINUTE: '1000000',
  ADDRESS_FORECASTS_PER_MINUTE: '1000000',
  OPERATOR_CALLS_PER_MINUTE: '1000000',
  REGISTRATIONS_PER_HOUR: '1000000',
  FREE_MONTHLY_CALLS: '1000000',
}

/**
 * The components of jobs/components, with the clock, store and settings of a test. Only the folder needs
 * removing.
 */
export async function testComponents(options: TestOptions = {}): Promise<Components> {
  const folder = options.folder ?? (await testFolder())
  const settings = parseSettings({
    STORE_URL: join(folder, 'store'),
    PORT: '0',
    LOG_LEVEL: 'silent',
    VERIFICATION_SIGNING_SECRET: SECRET,
    SANDBOX_VERIFICATION_SIGNING_SECRET: SANDBOX_SECRET,
    REFRESH_MS: '50',
    // Beyond the end of any test that is not about it.
    PROBE_MS: '600000',
    // A test has too few rows to divide between threads.
    DUCKDB_THREADS: '1',
    ...NO_LIMITS,
    ...options.settings,
  })
  const environment = options.environment ?? 'production'
  const own = settingsOf(settings, environment)
  const store = options.store ?? (await FileStore.begin(storeUrlOf(settings.STORE_URL, environment)))
  const directory = join(folder, `work-${uuidv7()}`)
  await mkdir(directory, { recursive: true })
  return {
    settings,
    methodology: METHODOLOGY,
    environment,
    own,
    store,
    local: new LocalFiles(store, join(directory, 'cache')),
    registry: new Registry({ store, environment, randomBytes }),
    secrets: secretsOf(own),
    signers: signersOf(settings)[environment],
    credentialIssuer: credentialIssuersOf(settings)[environment],
    witnesses: witnessesOf(settings)[environment],
    logger: pino({ level: 'silent' }),
    log: () => undefined,
    service: SERVICE_VERSION,
    directory,
    openDatabase: () =>
      openSharedDatabase({
        threads: settings.DUCKDB_THREADS,
        memoryLimit: settings.DUCKDB_MEMORY_LIMIT,
      }),
    isStoreMissing: false,
    clockAheadMs: undefined,
    now: options.clock?.now ?? (() => new Date()),
    monotonicMs: () => performance.now(),
    wait: () => Promise.resolve(),
    newId: () => uuidv7({ random: randomBytes(16) }),
    newRequestId: () => randomUUID(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

/** Imports rows from a file, as an operator would. */
export async function importRows(
  components: Components,
  kind: ImportKind,
  csv: string,
  options: GivenOptions = {},
): Promise<object> {
  const path = join(components.directory, `${kind}.csv`)
  await writeFile(path, csv)
  const { json } = await runImport(components, kind, path, parseOptions(kind, options))
  return json
}

export async function release(components: Components, wanted: ReleaseRequest = {}): Promise<ReleaseResult> {
  return makeRelease(components, wanted)
}

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  /** Header names and values by turns, as received. */
  rawHeaders: string[]
  bytes: Buffer
  text: string
  /** The body, parsed; the caller states its shape. */
  json: <T = Record<string, unknown>>() => T
}

export interface Ask {
  headers?: Record<string, string>
  /** Sent as JSON; bytes and text are sent as they are. */
  body?: unknown
}

export class Client {
  readonly url: string
  readonly #agent: Agent

  constructor(url: string, sockets = 64) {
    this.url = url
    this.#agent = new Agent({ keepAlive: true, maxSockets: sockets })
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('GET', path, { headers })
  }

  /** Sends JSON, with a content type unless the headers name one. */
  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('POST', path, { body, headers: { 'Content-Type': 'application/json', ...headers } })
  }

  /** Sends the headers at once, and the JSON body when its promise resolves. */
  sendSlowly(
    method: string,
    path: string,
    { headers, body }: { headers: Record<string, string>; body: Promise<string> },
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const asked = request(
        this.url + path,
        { method, headers: { 'Content-Type': 'application/json', ...headers }, agent: this.#agent },
        (incoming) => void answerOf(incoming).then(resolve, reject),
      )
      asked.on('error', reject)
      asked.flushHeaders()
      void body.then((text) => asked.end(text))
    })
  }

  send(method: string, path: string, { headers = {}, body }: Ask = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const asked = request(
        this.url + path,
        { method, headers, agent: this.#agent },
        (incoming) => void answerOf(incoming).then(resolve, reject),
      )
      asked.on('error', reject)
      asked.end(
        body === undefined || typeof body === 'string' || body instanceof Uint8Array
          ? body
          : JSON.stringify(body),
      )
    })
  }
}

async function answerOf(incoming: IncomingMessage): Promise<Answer> {
  const bytes = Buffer.concat((await incoming.toArray()) as Buffer[])
  const text = bytes.toString()
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    rawHeaders: incoming.rawHeaders,
    bytes,
    text,
    json: <T>() => JSON.parse(text) as T,
  }
}

export interface TestService {
  url: string
  client: Client
  components: Components
  stop: () => Promise<void>
}

/** Call it inside a test: the service stops when the test ends. */
export async function testService(
  options: TestOptions | Components = {},
  serving: Partial<ServiceOptions> = {},
): Promise<TestService> {
  const service = await startTestService(options, serving)
  onTestFinished(service.stop)
  return service
}

/** The caller must stop the service. */
export async function startTestService(
  options: TestOptions | Components = {},
  serving: Partial<ServiceOptions> = {},
): Promise<TestService> {
  const components = 'registry' in options ? options : await testComponents(options)
  const service = await startService(withSandbox(components), {
    scheduler: false,
    firstCallsMs: 0,
    ...serving,
  })
  // Unless a test is about what a service answers that has just started.
  if (serving.firstCallsMs === undefined) await service.loaded
  const client = new Client(service.url)
  let stopping: Promise<void> | undefined
  return {
    url: service.url,
    client,
    components,
    stop: () => {
      stopping ??= service.stop()
      return stopping
    },
  }
}

/** Adds a sandbox to the components of production, with the same settings and clock and an empty store. */
export function withSandbox(production: Components): Record<Environment, Components> {
  const store = new MemoryStore()
  const own = settingsOf(production.settings, 'sandbox')
  const sandbox: Components = {
    ...production,
    environment: 'sandbox',
    own,
    store,
    local: new LocalFiles(store, join(production.directory, 'sandbox-cache')),
    registry: new Registry({ store, environment: 'sandbox', randomBytes }),
    secrets: secretsOf(own),
    signers: signersOf(production.settings).sandbox,
    credentialIssuer: credentialIssuersOf(production.settings).sandbox,
    witnesses: witnessesOf(production.settings).sandbox,
  }
  return { production, sandbox }
}

/** Registers an agent over HTTP. */
export async function registerAgent(
  client: Client,
  name = 'an agent',
): Promise<{ agentId: string; key: string }> {
  const answer = await client.post('/agents/register', { name, model_type: 'a model' })
  if (answer.status !== 201) throw new Error(`registering answered ${answer.status}: ${answer.text}`)
  const { agent_id, api_key } = answer.json<{ agent_id: string; api_key: string }>()
  return { agentId: agent_id, key: api_key }
}

export const bearer = (key: string) => ({ Authorization: `Bearer ${key}` })
