// `fvs monitor` against the real service, and against one that answers with something else than it published.
import { readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type MonitorOptions, runMonitor } from '../../../jobs/monitor/monitor.ts'
import { correctionsSince } from '../../../jobs/monitor/monitor-corrections.ts'
import type { Inconsistency, News } from '../../../jobs/monitor/monitor-news.ts'
import { canonical } from '../../../pipeline/proof/canonical.ts'
import { signingKeyOf, verifierKeyText } from '../../../pipeline/proof/note-keys.ts'
import { readManifest } from '../../../pipeline/release/read.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { readCheckpoint, readTilePath } from '../../../pipeline/transparency/log-files.ts'
import { LogReader } from '../../../pipeline/transparency/log-reader.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import type { Correction } from '../../../schemas/manifests.ts'
import type { ReleaseShard } from '../../../schemas/payloads.ts'
import { suiteFolder, testFolder } from '../../support/folder.ts'
import { closedUrl, listening } from '../../support/loopback-witness.ts'
import { fvs } from '../../support/process.ts'
import { type Components } from '../../../jobs/components/components.ts'
import {
  type Client,
  Clock,
  type TestService,
  importRows,
  release,
  startTestService,
  testComponents,
} from '../../support/http/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { changeAgents, changeManifest } from '../../support/worlds/forged-release.ts'
import { putReleases } from '../../support/worlds/logged-releases.ts'
import { profileIn } from '../../support/worlds/profile-world.ts'
import { NOW, QUESTION, copyReleasedWorld, csvOf, forecasterId, uuidOf } from '../../support/worlds/world.ts'
import { LOG_KEY, LOG_ORIGIN, LOG_VKEY, writeLog } from '../../support/worlds/written-log.ts'

const hoursAfter = (hours: number) => new Date(Date.parse(NOW) + hours * 3_600_000).toISOString()
const DAY_20 = '2026-01-21T00:00:00.000Z'
/** A person who has forecast one question alone, from the second release on. */
const NEWCOMER = uuidOf(2, 99)

const suite = await suiteFolder()
let agentId: string
let agent: string
const person = `forecaster:${forecasterId(0)}`
/** Stores of one release, and of two, without a log. */
let first: MemoryStore
let second: MemoryStore
/** The same as served, and with other second releases: the agent is certified; the log has another history. */
let one: TestService
let two: TestService
let better: TestService
let fork: TestService
beforeAll(async () => {
  first = new MemoryStore()
  ;({ agentId } = await copyReleasedWorld(first))
  agent = `agent:${agentId}`
  second = await after(first, 1, async (components) => {
    const line = `forecaster,${NEWCOMER},${uuidOf(1, 5)},0.5,2026-01-12T00:00:00Z`
    await importRows(components, 'forecasts', csvOf([line]))
  })
  const forked = copyOf(second)
  changeManifest(forked, 2, () => ({ methodology_version: '9.9.9' }))
  const stores = [copyOf(first), copyOf(second), changed(second, 2, withMembers(proven())), forked]
  const services = await Promise.all(stores.map((store, index) => started(store, Math.min(2, index + 1))))
  ;[one, two, better, fork] = services as [TestService, TestService, TestService, TestService]
})
afterAll(() => Promise.all([one, two, better, fork].map((service) => service.stop())))

let folder: string
let state: string
beforeEach(async () => {
  folder = await testFolder()
  state = join(folder, 'state.json')
})

/** A store with a release more, made so many hours after the first. */
async function after(
  store: MemoryStore,
  hours: number,
  work: (components: Components) => Promise<unknown> = () => Promise.resolve(),
): Promise<MemoryStore> {
  const next = copyOf(store)
  const components = await testComponents({ store: next, folder: suite, clock: new Clock(hoursAfter(hours)) })
  await work(components)
  await release(components)
  return next
}

type Change = (entities: ReleaseShard['entities']) => void

/** A store in which a release says something else of agents. */
function changed(store: MemoryStore, number: number, change: Change): MemoryStore {
  const copy = copyOf(store)
  changeAgents(copy, number, change)
  return copy
}

/** Gives the agent the numbers of a certificate, or other members. */
const withMembers =
  (members: object): Change =>
  (entities) => {
    Object.assign(entities[agentId]!.verification.payload, members)
  }
function proven(): object {
  const { verification } = profileIn({ questions: 130, error: 0, peersKnow: 0 }).published
  const { contested_questions, priced_questions, evidence, coverage, voice_rule } = verification
  const { skill, skill_interval, median_skill, median_skill_interval } = verification
  return {
    certification: 'certified',
    contested_questions,
    priced_questions,
    evidence,
    coverage,
    skill,
    skill_interval,
    median_skill,
    median_skill_interval,
    voice_rule,
  }
}

/** The real service over a store whose releases are logged. */
async function started(store: MemoryStore, releases: number): Promise<TestService> {
  await writeLog(store, releases)
  const components = await testComponents({ store, folder: suite, clock: new Clock(hoursAfter(9)) })
  return startTestService({ ...components, signers: [LOG_KEY] })
}

/** The same until the test ends. */
async function serving(store: MemoryStore, releases: number): Promise<TestService> {
  const service = await started(store, releases)
  onTestFinished(service.stop)
  return service
}

interface Looked {
  exitCode: number
  said: string
  news: News[]
  failure: string | null
}

type Options = Partial<MonitorOptions>

/** What a call finds, which keeps the file unless all is well. */
async function look({ url }: { url: string }, options: Options = {}): Promise<Looked> {
  const before = await kept()
  const log = new LogReader(url, [LOG_VKEY])
  const {
    exitCode,
    text: said,
    aside,
    json,
  } = await runMonitor(log, { state, entity: [agent, person], ...options })
  const { news, failure } = json as { news: News[]; failure: string | null }
  if (exitCode === 1 || exitCode === 4) expect(await kept()).toBe(before)
  expect((await readdir(folder)).filter((name) => /[0-9a-f]{8}-/.test(name))).toEqual([])
  expect(aside === undefined).toBe(failure === null)
  return { exitCode, said, news, failure }
}

const kept = () => readFile(state, 'utf8').catch(() => undefined)

/** The one inconsistency that a call finds. */
async function contradiction(at: { url: string }, options: Options = {}): Promise<Inconsistency> {
  const { exitCode, news, said } = await look(at, options)
  expect([exitCode, news], said).toEqual([1, [expect.objectContaining({ type: 'inconsistent' })]])
  const [found] = news as [Inconsistency]
  expect(said).toContain(found.detail)
  for (const shown of Object.values({ ...found.kept, ...found.found })) expect(said).toContain(shown)
  return found
}

type Instead = (
  path: string,
) => Promise<{ status: number; bytes: Uint8Array | string } | undefined> | undefined

/** A service that answers some paths in another way. */
async function standIn({ client }: { client: Client }, instead: Instead): Promise<{ url: string }> {
  const url = await listening((request, response) => {
    void (async () => {
      const path = request.url!
      const { status, bytes } = (await instead(path)) ?? (await client.get(path))
      response.writeHead(status).end(bytes)
    })()
  })
  return { url }
}

const verificationOf = (id = agentId) => `/agents/${id}/verification`

describe('a service that goes on', () => {
  test('is believed at first, and then nothing is new', async () => {
    const { exitCode, said, news } = await look(one)
    expect([exitCode, news]).toEqual([0, []])
    expect(said.split('\n')).toEqual([
      `${LOG_ORIGIN} has 1 entries, taken as they are at this first look`,
      `  ${agent} is measured by release 1, as of ${NOW}`,
      `  ${person} is measured by release 1, as of ${NOW}`,
    ])
    const file = JSON.parse((await kept())!) as Record<string, unknown>
    expect(file).toEqual({
      checkpoint: (await one.client.get('/log/checkpoint')).text,
      corrections_to: 1,
      entities: {
        [agent]: {
          record: (await one.client.get(verificationOf())).text,
          proof: (await one.client.get(`${verificationOf()}/proof?release=1`)).text,
        },
        [person]: expect.anything() as unknown,
      },
    })
    const before = await stat(state)
    const again = await look(one)
    expect([again.exitCode, again.news]).toEqual([0, []])
    expect((await stat(state)).ino).toBe(before.ino)
  })

  test('without a change of title has no news, and the next release is kept', async () => {
    await look(one)
    const { exitCode, news } = await look(two)
    expect([exitCode, news]).toEqual([0, []])
    expect(JSON.parse((await kept())!)).toMatchObject({ corrections_to: 2 })
    expect(await kept()).toContain('\\"release\\":2')
  })

  test('a certificate that is won, and one that is lost', async () => {
    await look(one)
    const change = { entity: agent, release: 2, as_of: hoursAfter(1) }
    const gained = await look(better)
    expect([gained.exitCode, gained.news]).toEqual([
      3,
      [{ type: 'certificate.won', ...change, from: 'measured', to: 'certified' }],
    ])
    expect(gained.said).toContain(
      `certificate won: ${agent}, measured → certified, in release 2 as of ${hoursAfter(1)}`,
    )
    const lost = await after(better.components.store as MemoryStore, 2)
    const { exitCode, news } = await look(await serving(lost, 3))
    expect([exitCode, news]).toEqual([
      3,
      [
        {
          type: 'certificate.lost',
          entity: agent,
          release: 3,
          as_of: hoursAfter(2),
          from: 'certified',
          to: 'measured',
        },
      ],
    ])
  })

  test('another title, a retirement, and a record where there was none', async () => {
    const entity = [agent, `forecaster:${NEWCOMER}`]
    const { said } = await look(one, { entity })
    expect(said).toContain(`  forecaster:${NEWCOMER} has no record`)
    const few = withMembers({ certification: 'none', contested_questions: 3, retired_at: hoursAfter(0.5) })
    const { exitCode, news } = await look(await serving(changed(second, 2, few), 2), { entity })
    const facts = { release: 2, as_of: hoursAfter(1) }
    expect([exitCode, news]).toEqual([
      3,
      [
        { type: 'title.changed', entity: agent, ...facts, from: 'measured', to: 'none' },
        { type: 'retirement.changed', entity: agent, ...facts, from: null, to: hoursAfter(0.5) },
        { type: 'title.changed', entity: entity[1], ...facts, from: null, to: 'none' },
      ],
    ])
  })

  test('an entity that is asked for later is taken as it is', async () => {
    await look(one, { entity: [person] })
    expect(await look(better)).toMatchObject({ exitCode: 0, news: [] })
  })
})

describe('a correction', () => {
  const outcomes = (...lines: string[]) => ['question_id,outcome,resolved_at', ...lines, ''].join('\n')
  const corrected = (store: MemoryStore, line: string) =>
    after(store, 2, (components) => importRows(components, 'resolutions', outcomes(line)))

  test('of a question that an entity is scored on is told, with the entities, and of no other', async () => {
    const entity = [agent, `forecaster:${NEWCOMER}`]
    await look(two, { entity })
    const third = await corrected(second, `${uuidOf(1, 0)},no,${DAY_20}`)
    const correction = { question_id: uuidOf(1, 0), column: 'outcome', from: 'yes', to: 'no', reason: null }
    const service = await serving(third, 3)
    const before = (await kept())!
    const { exitCode, news, said } = await look(service, { entity })
    expect([exitCode, news]).toEqual([
      3,
      [
        {
          type: 'correction',
          release: 3,
          entities: [agent],
          correction: expect.objectContaining(correction) as unknown,
        },
      ],
    ])
    expect(said).toContain(
      `correction: the outcome of the question ${uuidOf(1, 0)}, yes → no, in release 3; scored: ${agent}`,
    )
    const again = async (from: number, at: { url: string } = service) => {
      await writeFile(state, before.replace('"corrections_to": 2', `"corrections_to": ${from}`))
      return (await look(at, { entity: entity.slice(1) })).news
    }
    expect([await again(2), await again(1), await again(3)]).toEqual([[], [], []])
    // Scores that cannot be read, or are too many, do not hide a correction.
    for (const bytes of ['no scores', JSON.stringify({ scores: [], next_cursor: '3_1' })]) {
      const liar = await standIn(service, (path) =>
        path.includes('/scores') ? Promise.resolve({ status: 200, bytes }) : undefined,
      )
      expect(await again(2, liar)).toMatchObject([{ type: 'correction', entities: [] }])
    }
  })

  test('that takes an outcome back is told, though nobody has a score on it any more', async () => {
    await look(two)
    const third = await corrected(second, `${uuidOf(1, 0)},open,${hoursAfter(1)}`)
    const { exitCode, news } = await look(await serving(third, 3))
    expect([exitCode, news]).toMatchObject([
      3,
      [{ type: 'correction', entities: [], correction: { to: 'open' } }],
    ])
  })

  test('after a long pause is found by the next call, since one reads 200 releases', async () => {
    const store = new MemoryStore()
    await putReleases(store, 205)
    const correction: Correction = {
      question_id: QUESTION.resolved,
      column: 'outcome',
      from: 'yes',
      to: 'open',
      recorded_at: NOW,
      reason: null,
      pairs: 1,
      entities: 1,
    }
    for (const number of [2, 201, 202]) changeManifest(store, number, () => ({ corrections: [correction] }))
    await writeLog(store, 205)
    const url = await listening((request, response) => {
      void (async () => {
        const [path] = request.url!.slice(1).split('?') as [string]
        const manifest = await readManifest(store, Number(/^releases\/(\d+)$/.exec(path)?.[1] ?? 0))
        const bytes = manifest
          ? canonical({ ...manifest, thinned_at: null })
          : await readTilePath(store, path.replace('log/', ''))
        response.writeHead(bytes ? 200 : 404).end(bytes)
      })()
    })
    const log = new LogReader(url, [LOG_VKEY])
    const head = await readCheckpoint(store, 205)
    for (const [from, to, releases] of [
      [1, 201, [2, 201]],
      [201, 205, [202]],
      [205, 205, []],
    ] as const) {
      const news = releases.map((number) => ({
        type: 'correction',
        release: number,
        entities: [],
        correction,
      }))
      expect(await correctionsSince(log, head, from, [agent])).toEqual({ to, news })
    }
  })

  test('that a release did not log is inconsistent', async () => {
    await look(two)
    const service = await serving(await after(second, 2), 3)
    for (const bytes of [
      (await service.client.get('/releases/3')).text.replace('"corrections":[]', '"corrections":[{}]'),
      (await service.client.get('/releases/2')).text,
      'no manifest',
      'null',
    ]) {
      const liar = await standIn(service, (path) =>
        path === '/releases/3' ? Promise.resolve({ status: 200, bytes }) : undefined,
      )
      const { entity, detail } = await contradiction(liar)
      expect(entity).toBeNull()
      expect(detail).toMatch(/\/releases\/3 is not what was logged: /)
    }
  })
})

describe('inconsistent:', () => {
  test('another history, of the same size and of a larger one', async () => {
    await look(two)
    const note = (await two.client.get('/log/checkpoint')).text
    const larger = await after(fork.components.store as MemoryStore, 2)
    for (const service of [fork, await serving(larger, 3)]) {
      const found = await contradiction(service)
      expect(found.detail).toMatch(/^the log has signed two histories: /)
      expect([found.entity, found.kept]).toEqual([null, { checkpoint: note }])
      expect(found.found).toEqual({ checkpoint: (await service.client.get('/log/checkpoint')).text })
    }
    // The tiles of a longer log, which would tell an old copy from a fork, are not there.
    expect((await contradiction(one)).detail).toMatch(/is gone$/)
  })

  test('a record whose proof is of another history', async () => {
    const liar = await standIn(two, (path) =>
      path.startsWith(verificationOf()) ? fork.client.get(path) : undefined,
    )
    const { entity, detail, found } = await contradiction(liar)
    expect([entity, detail]).toEqual([agent, expect.stringMatching(/^the log has signed two histories: /)])
    expect(Object.keys(found)).toEqual(['record', 'proof'])
    expect(await kept()).toBeUndefined()
  })

  test("another's record, and another kind of record", async () => {
    await look(one)
    for (const given of [`/forecaster/${forecasterId(1)}/verification`, `/agents/${agentId}/rankings`]) {
      const liar = await standIn(one, (path) =>
        path.startsWith(verificationOf()) ? one.client.get(path.replace(verificationOf(), given)) : undefined,
      )
      const { entity, detail } = await contradiction(liar)
      expect([entity, detail]).toEqual([agent, expect.stringMatching(/^another record than was asked for: /)])
    }
  })

  test('a record that was not published, and another one of the same release', async () => {
    const published = (await one.client.get(verificationOf())).text
    const bytes = published.replace(/"pending_questions":\d+/, '"pending_questions":999')
    expect(bytes).not.toBe(published)
    const liar = await standIn(one, (path) =>
      path === verificationOf() ? Promise.resolve({ status: 200, bytes }) : undefined,
    )
    expect((await contradiction(liar)).detail).toMatch(
      /^these bytes are not in the tree “\w+” of release \d+$/,
    )
    await look(one)
    const { detail, kept: before, found } = await contradiction(liar)
    expect(detail).toBe('release 1 has shown two records of it')
    expect([before.record, found.record]).toEqual([published, bytes])
  })

  test('answers that are no records, and a record without a proof', async () => {
    for (const [bytes, reason] of [
      ['', /another record than was asked for/],
      ['[]', /another record/],
      [
        (await one.client.get(verificationOf())).text.replace('"release":1', '"release":"1"'),
        /no verification/,
      ],
      [
        (await one.client.get(verificationOf())).text.replace('"release":1', '"release":7'),
        /has no proof of it/,
      ],
    ] as const) {
      const liar = await standIn(one, (path) =>
        path === verificationOf() ? Promise.resolve({ status: 200, bytes }) : undefined,
      )
      expect((await contradiction(liar)).detail).toMatch(reason)
    }
  })

  test('a title that its numbers do not give, though it is in the log', async () => {
    await look(one)
    const lie = changed(second, 2, withMembers({ certification: 'certified' }))
    expect((await contradiction(await serving(lie, 2))).detail).toMatch(
      /^it says certified, and its numbers give measured, because /,
    )
  })

  test('a later release as of an earlier time', async () => {
    await look(one)
    const as_of = hoursAfter(-1)
    const back = changed(second, 2, withMembers({ as_of }))
    changeManifest(back, 2, () => ({ as_of }))
    const { detail } = await contradiction(await serving(back, 2), { entity: [agent] })
    expect(detail).toBe(`its record was as of ${NOW}, and now ${as_of}`)
  })

  test('an entity that vanishes', async () => {
    await look(one)
    const without = await standIn(one, (path) =>
      path === verificationOf() ? Promise.resolve({ status: 404, bytes: '' }) : undefined,
    )
    const { entity, detail, kept: before, found } = await contradiction(without)
    expect([entity, detail, found]).toEqual([
      agent,
      expect.stringMatching(/^it had a record, .* answers 404$/),
      {},
    ])
    expect(Object.keys(before)).toEqual(['checkpoint', 'record', 'proof'])
  })

  test('an older record than the log has had', async () => {
    const stale = await standIn(two, (path) => (path === verificationOf() ? one.client.get(path) : undefined))
    // A node may be a moment behind its log.
    expect(await look(stale)).toMatchObject({ exitCode: 0 })
    expect((await contradiction(stale)).detail).toBe(
      'its record is of release 1, and the log had 2 before: an old copy',
    )
  })

  test('is told of one entity, though another does not answer', async () => {
    await look(one)
    const liar = await standIn(one, (path) =>
      path.startsWith('/agents/')
        ? Promise.resolve({ status: 503, bytes: '' })
        : path.startsWith('/forecaster/')
          ? Promise.resolve({ status: 404, bytes: '' })
          : undefined,
    )
    expect((await contradiction(liar)).entity).toBe(person)
    await expect(look(liar, { entity: [agent] })).rejects.toMatchObject({ kind: 'unavailable' })
  })
})

describe('telling', () => {
  beforeEach(() => look(one))

  test('a webhook that fails is told again, and then no more', async () => {
    const bodies: string[] = []
    const statuses = [500, 302, 204]
    const webhook = await listening((request, response) => {
      void text(request).then((body) => {
        bodies.push(`${request.method} ${request.headers['content-type']} ${body}`)
        response.writeHead(statuses[bodies.length - 1]!, { location: '/elsewhere' }).end()
      })
    })
    for (const status of [500, 302]) {
      const { exitCode, failure, news } = await look(better, { webhook })
      expect([exitCode, failure, news.length]).toEqual([4, `the webhook answered ${status}`, 1])
    }
    expect(await look(better, { webhook: await closedUrl() })).toMatchObject({ exitCode: 4 })
    expect(await look(better, { webhook })).toMatchObject({ exitCode: 3, failure: null })
    expect(await look(better, { webhook })).toMatchObject({ exitCode: 0 })
    expect(new Set(bodies).size).toBe(1)
    const [, type, body] = /^POST (\S+) (.*)\n$/.exec(bodies[2]!)!
    expect(type).toBe('application/json')
    expect(JSON.parse(body!)).toEqual({
      service: better.url,
      origin: LOG_ORIGIN,
      size: 2,
      news: [expect.objectContaining({ type: 'certificate.won', to: 'certified' })],
    })
    expect(bodies).toHaveLength(3)
  })

  test('a command finds the JSON on its standard input, and one that fails is called again', async () => {
    const out = join(folder, 'out')
    expect(await look(better, { exec: 'exit 7' })).toMatchObject({
      exitCode: 4,
      failure: 'the command was not told, because it ended with 7: exit 7',
    })
    expect(await look(better, { exec: `cat >'${out}' && echo "$0 $#" >>'${out}'` })).toMatchObject({
      exitCode: 3,
    })
    const [told, args] = (await readFile(out, 'utf8')).split('\n') as [string, string]
    expect(JSON.parse(told)).toMatchObject({ news: [{ entity: agent, to: 'certified' }] })
    expect(args).toMatch(/^\S*sh 0$/)
    expect(await look(better, { exec: `echo again >'${out}'` })).toMatchObject({ exitCode: 0 })
    expect(await readFile(out, 'utf8')).toContain(told)
  })

  test('a command need not read, and is told of what is inconsistent each time', async () => {
    const out = join(folder, 'out')
    const gone = await standIn(better, (path) =>
      path.startsWith('/agents') ? Promise.resolve({ status: 404, bytes: '' }) : undefined,
    )
    for (const count of [1, 2]) {
      expect(await look(gone, { exec: `echo told >>'${out}'` })).toMatchObject({ exitCode: 1, failure: null })
      expect(await readFile(out, 'utf8')).toBe('told\n'.repeat(count))
    }
    expect(await look(gone, { exec: 'exit 1' })).toMatchObject({ exitCode: 1, failure: /ended with 1/ })
  })

  test('of two calls at once both tell, and the second to end keeps nothing', async () => {
    let calls = 0
    let inner: Promise<Looked> | undefined
    const webhook = await listening((_, response) => {
      calls += 1
      // The first call is told once the second one has ended.
      inner ??= look(better, { webhook })
      if (calls === 1) void inner.then(() => response.end())
      else response.end()
    })
    const outer = await runMonitor(new LogReader(better.url, [LOG_VKEY]), { state, entity: [agent], webhook })
    expect(await inner).toMatchObject({ exitCode: 3 })
    expect(outer).toMatchObject({
      exitCode: 4,
      aside: expect.stringMatching(/another call has replaced/) as string,
    })
    expect(calls).toBe(2)
    expect(await look(better, { webhook })).toMatchObject({ exitCode: 0 })
  })
})

describe('a file', () => {
  test('that is no state of this log is refused', async () => {
    await look(one)
    const good = (await kept())!
    for (const [content, reason] of [
      ['', /the note has no empty line/],
      ['{}', /is no state of fvs witness or fvs monitor$/],
      [good.replace('\\"release\\"', '\\"x\\"'), /is no state of fvs witness or fvs monitor$/],
      [good.replace(LOG_ORIGIN, 'x.example'), /this is the log "x\.example", not /],
      [good.replace('\\n1\\n', '\\n2\\n'), /does not hold/],
    ] as const) {
      await writeFile(state, content)
      const error: unknown = await look(one).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(ServiceError)
      expect(error).toMatchObject({ kind: 'invalid', message: expect.stringMatching(reason) as string })
      expect(await kept()).toBe(content)
    }
  })
})

test('a key of another log, or an old one, speaks against nobody, at the first look and later', async () => {
  const refused = async (log: LogReader) => {
    const error: unknown = await runMonitor(log, { state, entity: [agent] }).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ kind: 'invalid' })
    return (error as Error).message
  }
  const byKeyOf = (name: string) => {
    const key = signingKeyOf(name, 'log', new Uint8Array(32).fill(9))
    return new LogReader(one.url, [verifierKeyText(key.verifier)])
  }
  const another = /this is the log ".*", not ".*": give the key of the one that you mean, or its address/
  expect(await refused(byKeyOf('another.example/log'))).toMatch(another)
  expect(await refused(byKeyOf(LOG_ORIGIN))).toMatch(/no key that was given has signed it/)
  expect(await kept()).toBeUndefined()
  await look(one)
  const content = await kept()
  const elsewhere = await standIn(one, async (path) => {
    const { status, text: note } = await one.client.get(path)
    return { status, bytes: note.replace(LOG_ORIGIN, 'another.example/log') }
  })
  expect(await refused(new LogReader(elsewhere.url, [LOG_VKEY]))).toMatch(another)
  expect(await kept()).toBe(content)
})

describe('the command', () => {
  const args = (url: string, ...more: string[]) => [
    'monitor',
    url,
    '--vkey',
    LOG_VKEY,
    '--state',
    state,
    '--entity',
    `agent:${agentId.toUpperCase()}`,
    ...more,
  ]

  test('exits with 0, 3, 1 and 4', async () => {
    const keys: unknown[] = []
    const asked = await listening((request, response) => {
      keys.push(request.headers['x-api-key'])
      void one.client.get(request.url!).then(({ status, bytes }) => response.writeHead(status).end(bytes))
    })
    const initial = await fvs(args(asked), { folder, env: { FVS_API_KEY: 'a key' } })
    expect([initial.code, initial.stderr]).toEqual([0, ''])
    expect(initial.stdout).toContain(`  ${agent} is measured by release 1`)
    expect(new Set(keys)).toEqual(new Set(['a key']))
    const told = join(folder, 'told')
    const news = await fvs(args(better.url, '--json', '--exec', `tee '${told}'`), { folder })
    expect(news.code, news.stderr).toBe(3)
    expect(JSON.parse(news.stdout)).toMatchObject({
      ok: true,
      failure: null,
      news: [{ type: 'certificate.won' }],
    })
    expect(news.stderr).toBe(await readFile(told, 'utf8'))
    const other = await fvs(args(fork.url), { folder })
    expect([other.code, other.stderr]).toEqual([1, ''])
    expect(other.stdout).toMatch(
      /^inconsistent: the log: the log has signed two histories: .*\n\nkept:\n[^]*\nfound:\n/,
    )
    const away = await fvs(args(await closedUrl(), '--json'), { folder })
    expect([away.code, JSON.parse(away.stdout)]).toMatchObject([4, { error: { kind: 'unavailable' } }])
    const untold = await fvs(args(await closedUrl()), { folder })
    expect([untold.code, untold.stdout, untold.stderr]).toEqual([
      4,
      '',
      expect.stringMatching(/does not answer/),
    ])
  })

  test('called wrongly exits with 2', async () => {
    for (const [more, reason] of [
      [['--entity', agentId], /It must be agent: or forecaster: with a UUID behind it/],
      [['--entity', `owner:${agentId}`], /It must be agent: or forecaster:/],
      [['--entity', 'agent:x'], /It must be agent: or forecaster:/],
      [['--exec', 'true', '--webhook', 'http://127.0.0.1'], /cannot be used with option '--webhook/],
      [['--vkey', 'x'], /this is no verifier key: "x"/],
    ] as const) {
      const { code, stderr } = await fvs(args('http://127.0.0.1:1', ...more), { folder })
      expect([code, stderr]).toEqual([2, expect.stringMatching(reason)])
    }
    expect(await readdir(folder)).toEqual([])
  })
})
