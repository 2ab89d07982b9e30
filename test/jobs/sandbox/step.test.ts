// The sandbox's simulation over a real store and the real API, on a clock set by hand.
import pMap from 'p-map'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Components } from '../../../jobs/components/components.ts'
import { runRelease } from '../../../jobs/release/release.ts'
import { startService } from '../../../jobs/serve/service.ts'
import type { Added } from '../../../jobs/sandbox/rows.ts'
import { seedSandbox } from '../../../jobs/sandbox/seed.ts'
import { takeStep } from '../../../jobs/sandbox/step.ts'
import { FORECASTERS, type SimulatedForecast, forecastsOn, questionsOf } from '../../../jobs/sandbox/world.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { Row } from '../../../schemas/tables.ts'
import { FAULTS, FaultStore } from '../../support/faults/fault-store.ts'
import { suiteFolder } from '../../support/folder.ts'
import {
  ASKED_AT_ONCE,
  NOTHING,
  OPTIONS,
  RECORD,
  START,
  after,
  roundsOver,
  rowsOf,
  sandboxOver,
  seededStore,
} from '../../support/worlds/sandbox.ts'
import {
  Client,
  Clock,
  bearer,
  importRows,
  registerAgent,
  release,
  testComponents,
} from '../../support/http/service.ts'
import { contentOf, copyOf, setRecord } from '../../support/store-content.ts'
import { namesOf } from '../../support/people.ts'
import { rowTexts } from '../../support/worlds/table-rows.ts'
import { readRows } from '../../support/tables.ts'
import { uuidOf } from '../../support/worlds/world.ts'

/** The minute at which so few of the first rounds are left that a step asks more. */
const ASKS_AGAIN = 50
const FILLED = ['questions', 'resolutions', 'forecasters', 'forecasts'] as const

const folder = await suiteFolder()

/** Seeded at `START`, for each test to copy. */
let seeded: MemoryStore
beforeAll(async () => {
  seeded = await seededStore(folder)
})

/** The rows of each table but for the time at which they were recorded. */
async function textsOf(components: Components): Promise<Record<string, string[]>> {
  using database = await components.openDatabase()
  const texts: Record<string, string[]> = {}
  for (const table of FILLED) {
    const rows = await readRows({ ...components, database }, table)
    texts[table] = rowTexts(
      table,
      rows.map((row) => ({ ...row, recorded_at: null })),
    )
  }
  return texts
}

const nameOf = ({ entity_id, question_id, probability, forecast_at }: Row) =>
  `${String(entity_id)} ${String(question_id)} ${String(probability)} ${(forecast_at as Date).toISOString()}`
const plannedName = ({ userId, questionId, probability, forecastAt }: SimulatedForecast) =>
  `${userId} ${questionId} ${probability} ${forecastAt.toISOString()}`

interface ListedQuestion {
  question_id: string
  title: string
  closes_at: string
  status: string
  outcome: string | null
  resolved_at: string | null
}

async function listed(client: Client, status: string): Promise<ListedQuestion[]> {
  const answer = await client.get(`/questions?status=${status}&limit=100`)
  return answer.json<{ questions: ListedQuestion[] }>().questions
}

describe('an agent in the sandbox', () => {
  test('sees the questions that it forecast close, resolve and count, round by round', async () => {
    const clock = new Clock(START)
    const components = await testComponents({ clock, environment: 'sandbox' })
    await seedSandbox(components, OPTIONS)
    const environments = {
      production: await testComponents({ clock, store: new MemoryStore() }),
      sandbox: components,
    }
    const service = await startService(environments, { scheduler: false })
    onTestFinished(() => service.stop())
    const client = new Client(`${service.url}/sandbox`)
    const { agentId, key } = await registerAgent(client)
    const submit = (question_id: string, probability: number) =>
      client.post(`/agents/${agentId}/forecast`, { question_id, probability }, bearer(key))

    let open = await listed(client, 'open')
    for (const round of [0, 1]) {
      expect(open.map(({ closes_at }) => closes_at)).toEqual(open.map(() => after(5 * (round + 1))))
      expect(open).toHaveLength(OPTIONS.questionsPerRound)
      for (const { question_id, title } of open) {
        const probability = Number(/(\d+) times in 100/.exec(title)?.[1]) / 100
        expect((await submit(question_id, probability)).status).toBe(200)
      }
      clock.set(after(5 * round + 4.9))
      expect(await takeStep(components)).toEqual(NOTHING)

      clock.set(after(5 * (round + 1)))
      expect(await takeStep(components)).toEqual(roundsOver(1))
      const released = await release(components, { ifChanged: true })
      expect(released).toMatchObject({ made: true, release: round + 1 })
      const verified = async () => (await client.get(`/agents/${agentId}/verification`)).json()
      await expect.poll(async () => (await verified())['release']).toBe(round + 1)
      const counted = OPTIONS.questionsPerRound * (round + 1)
      expect(await verified()).toMatchObject({ environment: 'sandbox', resolved_questions: counted })
      const asked = async (questionId: string) =>
        (await client.get(`/questions/${questionId}`)).json<ListedQuestion>()
      await expect.poll(async () => (await asked(open[0]!.question_id)).status).toBe('resolved')
      for (const { questionId, outcome } of questionsOf(RECORD, round)) {
        const question = await asked(questionId)
        expect(question).toMatchObject({ status: 'resolved', outcome, resolved_at: after(5 * (round + 1)) })
      }
      expect((await submit(open[0]!.question_id, 0.5)).status).toBe(409)
      open = await listed(client, 'open')
    }
    const peer = await client.get(`/forecaster/${FORECASTERS[0]!.userId}/metrics`)
    const { resolved } = roundsOver(2)
    expect(peer.json()).toMatchObject({
      resolved_questions: resolved,
      forecasts: 2 * resolved,
      witnessed_share: 0,
    })
  })
})

describe('a step of the simulation', () => {
  test('adds the forecasts and outcomes of completed rounds, to questions that are marked as simulated', async () => {
    const clock = new Clock(START)
    const components = await sandboxOver(copyOf(seeded), folder, clock)
    for (const [minute, over, due] of [
      [4.9, 0, 0],
      [5, 1, 1],
      [6, 1, 0],
      [15.5, 3, 2],
    ] as const) {
      clock.set(after(minute))
      expect(await takeStep(components)).toEqual(due === 0 ? NOTHING : roundsOver(due))
      const questions = Array.from({ length: over }, (_, round) => questionsOf(RECORD, round)).flat()
      const forecasts = await rowsOf(components, 'forecasts')
      expect(new Set(forecasts.map(nameOf))).toEqual(
        new Set(questions.flatMap((question) => forecastsOn(RECORD, question)).map(plannedName)),
      )
      expect(forecasts).toHaveLength(roundsOver(over).forecasts)
      const resolutions = await rowsOf(components, 'resolutions')
      expect(new Map(resolutions.map(({ question_id, outcome }) => [question_id, outcome]))).toEqual(
        new Map(questions.map(({ questionId, outcome }) => [questionId, outcome])),
      )
    }
    for (const { title, category, event_id, ...told } of await rowsOf(components, 'questions')) {
      expect(title).toMatch(/^Simulated /)
      expect(event_id).toMatch(/^simulated-coin-7-/)
      expect(category).toBe('simulated')
      expect(told['resolution_criteria']).toMatch(
        /^Yes, if simulated coin \d+ shows heads in toss [12] of 2\.\n\nNo, /,
      )
      expect(told['background']).toMatch(/^Simulated coin \d+ shows heads \d+ times in 100 tosses\. /)
      expect([told['source'], told['source_id']]).toEqual(['simulation', expect.stringMatching(/^7-.*-\d+$/)])
    }
    const ids = (await rowsOf(components, 'forecasters')).map(({ user_id }) => String(user_id))
    const names = await namesOf(components.store, ids)
    expect(new Set(names)).toEqual(new Set(FORECASTERS.map(({ name }) => name)))
  })

  test('taken a second time in a round reads two small objects and writes nothing, and no release is due', async () => {
    const clock = new Clock(START)
    const store = copyOf(seeded)
    const components = await sandboxOver(store, folder, clock)
    clock.set(after(6))
    expect(await takeStep(components)).toEqual(roundsOver(1))
    await release(components)
    const content = await contentOf(store)
    const watched = new FaultStore(store)
    clock.set(after(9.9))
    expect(await takeStep(await sandboxOver(watched, folder, clock))).toEqual(NOTHING)
    expect(watched.calls).toEqual([
      { operation: 'get', path: 'simulation.json' },
      { operation: 'get', path: 'simulation-round.json' },
    ])
    expect(await contentOf(store)).toEqual(content)
    expect(await release(components, { ifChanged: true })).toMatchObject({ reason: 'unchanged' })
  })

  test('does not need the record of its progress', async () => {
    const store = copyOf(seeded)
    const components = await sandboxOver(store, folder, new Clock(after(6)))
    await takeStep(components)
    const content = await contentOf(store)
    await store.delete('simulation-round.json')
    expect(await takeStep(components)).toEqual(NOTHING)
    expect(await contentOf(store)).toEqual(content)
  })

  test('resolves questions of a past round without outcomes, even if the record says that the round is done', async () => {
    const clock = new Clock(after(6))
    const store = copyOf(seeded)
    setRecord(store, 'simulation-round.json', { started_at: START, round: 1 })
    const components = await sandboxOver(store, folder, clock)
    expect(await takeStep(components)).toEqual(NOTHING)
    clock.set(after(10))
    expect(await takeStep(components)).toEqual(roundsOver(2))
  })

  test('taken twice at once has the same result as once', async () => {
    const clock = new Clock(START)
    const store = copyOf(seeded)
    const once = await sandboxOver(copyOf(seeded), folder, clock)
    const both = [await sandboxOver(store, folder, clock), await sandboxOver(store, folder, clock)]
    clock.set(after(ASKS_AGAIN))
    await takeStep(once)
    await Promise.all(both.map(takeStep))
    const expected = await textsOf(once)
    const found = await textsOf(both[0]!)
    for (const table of FILLED) expect([...new Set(found[table])], table).toEqual(expected[table])
    expect(await takeStep(both[1]!)).toEqual(NOTHING)
  })

  test('after a day without steps resolves the open questions and asks none about the past', async () => {
    const clock = new Clock(START)
    const components = await sandboxOver(copyOf(seeded), folder, clock)
    const before = await rowsOf(components, 'questions')
    clock.set(after(24 * 60))
    expect(await takeStep(components)).toEqual({ ...roundsOver(12), asked: ASKED_AT_ONCE })
    const questions = await rowsOf(components, 'questions')
    const now = new Date(after(24 * 60))
    const waiting = questions.filter(({ closes_at }) => (closes_at as Date) > now)
    expect(questions.length).toBe(before.length + waiting.length)
    expect(waiting.filter(({ opened_at }) => (opened_at as Date) <= now)).toHaveLength(
      OPTIONS.questionsPerRound,
    )
    const closes = new Map(before.map((row) => [row['question_id'], row['closes_at']]))
    for (const { question_id, resolved_at } of await rowsOf(components, 'resolutions')) {
      expect(resolved_at).toEqual(closes.get(question_id))
    }
    clock.set(after(24 * 60 + 5))
    expect(await takeStep(components)).toEqual(roundsOver(1))
  })

  test('leaves alone the questions and outcomes of an operator in the sandbox', async () => {
    const clock = new Clock(START)
    const components = await sandboxOver(copyOf(seeded), folder, clock)
    await importRows(
      components,
      'questions',
      `question_id,title,category,opened_at,closes_at\n${uuidOf(1, 1)},Mine?,simulated,${START},${after(5)}\n`,
    )
    const [early, moved] = questionsOf(RECORD, 0)
    clock.set(after(1))
    await importRows(
      components,
      'resolutions',
      `question_id,outcome,resolved_at\n${early!.questionId},annulled,${after(1)}\n`,
    )
    await importRows(
      components,
      'questions',
      `question_id,title,category,opened_at,closes_at\n${moved!.questionId},Moved?,simulated,${START},${after(4)}\n`,
    )
    clock.set(after(6))
    expect(await takeStep(components)).toEqual({ ...roundsOver(1), resolved: 2, forecasts: 24 })
    const resolutions = await rowsOf(components, 'resolutions')
    const outcomes = new Map(resolutions.map(({ question_id, outcome }) => [question_id, outcome]))
    expect([outcomes.has(uuidOf(1, 1)), outcomes.has(moved!.questionId)]).toEqual([false, false])
    expect(outcomes.get(early!.questionId)).toBe('annulled')
    expect(resolutions).toHaveLength(3)
    const withdrawn = resolutions.find(({ question_id }) => question_id !== early!.questionId)!
    await importRows(
      components,
      'resolutions',
      `question_id,outcome,resolved_at\n${String(withdrawn['question_id'])},open,${after(6)}\n`,
    )
    clock.set(after(11))
    expect(await takeStep(components)).toEqual(roundsOver(1))
  })

  test('does nothing in a store that was never seeded', async () => {
    const store = new MemoryStore()
    expect(await takeStep(await sandboxOver(store, folder))).toEqual(NOTHING)
    expect(await contentOf(store)).toEqual({})
  })
})

describe('a release of the sandbox', () => {
  test('takes no step, and is made even if no step can be taken', async () => {
    const store = copyOf(seeded)
    await store.put('simulation.json', Buffer.from('{}'))
    const components = await sandboxOver(store, folder, new Clock(after(6)))
    expect((await runRelease(components, {})).json).toMatchObject({ made: true, release: 1 })
    await expect(takeStep(components)).rejects.toThrow(
      'simulation.json is not a whole record of this service',
    )
    expect(await rowsOf(components, 'resolutions')).toEqual([])
  })
})

describe('a step that is cut off', () => {
  const WRITES = new Set(['put', 'putIfAbsent', 'delete'])
  /** The content of the store before each write of a step, and last after all of them. */
  const states: { next: string; store: MemoryStore }[] = []
  let clean: { step: Added; texts: Record<string, string[]> }

  beforeAll(async () => {
    const inner = copyOf(seeded)
    const store = new FaultStore(inner, {
      before: ({ operation, path }) => {
        if (WRITES.has(operation)) states.push({ next: path, store: copyOf(inner) })
      },
    })
    const components = await sandboxOver(store, folder, new Clock(after(ASKS_AGAIN)))
    const step = await takeStep(components)
    clean = { step, texts: await textsOf(components) }
    states.push({ next: 'the end', store: copyOf(inner) })
  })

  test('writes every table that it fills, the outcomes last, and then records its progress', () => {
    expect(clean.step).toEqual({ ...roundsOver(10), asked: ASKED_AT_ONCE })
    const keys = states.map(({ next }) => next)
    const offers = keys.filter((key) => key.startsWith('offers/')).map((key) => key.split('/')[1])
    expect([...new Set(offers)]).toEqual(['questions', 'forecasts', 'resolutions'])
    expect(keys.slice(-2)).toEqual(['simulation-round.json', 'the end'])
  })

  // A failed write leaves the state before it; one that failed but persisted leaves the state before the next
  // write.
  test('at any write, failed or failed but persisted, is completed by the next: no row is lost or doubled', async () => {
    expect(states.length).toBeGreaterThan(15)
    const recover = async ({ next, store }: (typeof states)[number]) => {
      const components = await sandboxOver(copyOf(store), folder, new Clock(after(ASKS_AGAIN)))
      await takeStep(components)
      expect(await textsOf(components), `before ${next}`).toEqual(clean.texts)
    }
    await pMap(states, recover, { concurrency: 2 })
  })

  test.for(FAULTS)('reports it, even if only the last write %s', async (fault) => {
    const inner = copyOf(states.at(-2)!.store)
    const clock = new Clock(after(ASKS_AGAIN))
    const broken = new FaultStore(inner, { at: 1, fault, crash: true })
    await expect(takeStep(await sandboxOver(broken, folder, clock))).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'injected: put of simulation-round.json failed',
    })
    const watched = new FaultStore(inner)
    expect(await takeStep(await sandboxOver(watched, folder, clock))).toEqual(NOTHING)
    expect(watched.writes).toBe(fault === 'failed' ? 1 : 0)
  })
})
