// What a node holds of current forecasts: the same as a plain reading of all that was written, whatever was
// read when.
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { QuestionBook } from '../../../api/questions/book.ts'
import { CurrentForecasts } from '../../../api/current-forecasts/current-forecasts.ts'
import type { Components } from '../../../jobs/components/components.ts'
import { withDatabase } from '../../../pipeline/duckdb.ts'
import { LocalFiles } from '../../../pipeline/store/local-files.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { inboxPathAt } from '../../../pipeline/store/paths.ts'
import type { Store, StoredObject } from '../../../pipeline/store/store.ts'
import { compact } from '../../../pipeline/tables/compact.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import type { ForecastRow } from '../../../schemas/tables.ts'
import { FaultStore } from '../../support/faults/fault-store.ts'
import { Clock, importRows, testComponents } from '../../support/http/service.ts'
import { send, sendBroken } from '../../support/tables.ts'
import { uuidOf } from '../../support/worlds/world.ts'
import { runs } from '../../support/runs.ts'

const START = '2026-03-01T00:00:00.000Z'
const agentId = (number: number) => uuidOf(6, number)
const questionId = (number: number) => uuidOf(5, number)

let store: FaultStore
let clock: Clock
let components: Components
beforeEach(async () => {
  store = new FaultStore(new MemoryStore())
  clock = new Clock(START)
  components = await testComponents({ store, clock })
})

const nowMs = () => clock.now().getTime()
const pass = (ms: number) => {
  clock.set(new Date(nowMs() + ms).toISOString())
}

/** A node with a cache of its own. */
function newNode() {
  const local = new LocalFiles(store, join(components.directory, components.newId()))
  const source = { ...components, local, now: clock.now }
  const questions = new QuestionBook(source)
  return { questions, forecasts: new CurrentForecasts({ ...source, questions }) }
}
type Node = ReturnType<typeof newNode>

async function follow({ questions, forecasts }: Node): Promise<void> {
  await questions.refresh()
  await forecasts.refresh()
}

const pageOf = ({ forecasts }: Node, agent: number) =>
  forecasts.page({ agentId: agentId(agent), questionId: undefined, limit: 1000, cursor: undefined })

/** The id of an object that is named `ms` after the start. */
const named = (ms: number, number: number) => {
  const hex = (Date.parse(START) + ms).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${String(number).padStart(12, '0')}`
}

let written = 0
function forecast(agent: number, question: number, ppm: number | null): ForecastRow {
  written += 1
  return {
    forecast_id: uuidOf(7, written),
    entity_type: 'agent',
    entity_id: agentId(agent),
    question_id: questionId(question),
    probability: ppm === null ? null : ppm / 1e6,
    forecast_at: clock.now(),
    recorded_at: clock.now(),
    source: 'api',
  }
}

async function ask(number: number, closesMs: number): Promise<void> {
  const closes = new Date(Date.parse(START) + closesMs).toISOString()
  const line = `${questionId(number)},t,2026-01-01T00:00:00Z,${closes}`
  await importRows(components, 'questions', `question_id,title,opened_at,closes_at\n${line}\n`)
}

async function takeIn(): Promise<void> {
  await withDatabase(components.openDatabase, (database) => compact({ ...components, database }, 'forecasts'))
}

const HOUR_MS = 3_600_000

describe('a node that follows', () => {
  test('finds an object that turns up minutes late, and lists no more than it must', async () => {
    await ask(1, 100 * HOUR_MS)
    const node = newNode()
    for (let minute = 0; minute < 30; minute++) {
      pass(60_000)
      await send(store, 'forecasts', named(minute * 60_000, minute), [forecast(1, 1, 1000 + minute)])
    }
    await follow(node)
    expect(pageOf(node, 1).forecasts).toMatchObject([{ probability: 0.001029 }])
    pass(1000)
    await send(store, 'forecasts', named(26 * 60_000, 99), [forecast(1, 1, 999_999)])
    store.calls.length = 0
    await follow(node)
    expect(pageOf(node, 1).forecasts).toMatchObject([{ probability: 0.999999 }])
    // The late object alone is read.
    expect(
      store.calls.filter(({ operation, path }) => operation === 'get' && path.startsWith('inbox/')),
    ).toHaveLength(1)
  })

  test('reads no object that it wrote itself', async () => {
    await ask(1, HOUR_MS)
    const node = newNode()
    await follow(node)
    const rows = [forecast(1, 1, 5)]
    const path = await send(store, 'forecasts', components.newId(), rows)
    node.forecasts.wrote(path, rows)
    store.calls.length = 0
    await follow(node)
    expect(store.calls.filter(({ path: read }) => read === path)).toEqual([])
    expect(pageOf(node, 1).forecasts).toMatchObject([{ probability: 0.000005 }])
  })

  test('looks at no object that it wrote itself, and lists those of the last minutes', async () => {
    const listings: { after: string | undefined; found: string[] }[] = []
    class WatchedStore extends MemoryStore {
      override async *list(...asked: Parameters<Store['list']>): AsyncIterable<StoredObject> {
        if (asked[0] !== 'inbox/forecasts/') return yield* super.list(...asked)
        const objects = await Array.fromAsync(super.list(...asked))
        listings.push({ after: asked[1], found: objects.map(({ path }) => path) })
        yield* objects
      }
    }
    store = new FaultStore(new WatchedStore())
    components = await testComponents({ store, clock })
    await ask(1, HOUR_MS)
    const node = newNode()
    await follow(node)
    listings.length = 0
    for (let minute = 0; minute < 30; minute++) {
      pass(60_000)
      const rows = [forecast(1, 1, minute)]
      node.forecasts.wrote(await send(store, 'forecasts', named(minute * 60_000, minute), rows), rows)
      await follow(node)
    }
    expect(listings.map(({ found }) => found)).toEqual(Array.from({ length: 30 }, () => []))
    // Its own newest object before the last look but one was named in the 28th minute.
    expect(listings.at(-1)!.after).toBe(inboxPathAt('forecasts', Date.parse(START) + (28 - 4) * 60_000))
  })

  test('reads what another process wrote on a question that was not known yet', async () => {
    const node = newNode()
    await follow(node)
    await ask(1, HOUR_MS)
    const rows = [forecast(1, 1, 5)]
    node.forecasts.wrote(await send(store, 'forecasts', components.newId(), rows), rows)
    await follow(node)
    expect(pageOf(node, 1).forecasts).toMatchObject([{ probability: 0.000005 }])
  })

  test('takes in what is whole beside a damaged object, and says which one that is', async () => {
    await ask(1, HOUR_MS)
    const node = newNode()
    const damaged = await send(store, 'forecasts', named(0, 1), [forecast(1, 1, 1)])
    await store.put(damaged, new Uint8Array(10))
    await send(store, 'forecasts', named(0, 2), [forecast(2, 1, 2)])
    await expect(follow(node)).rejects.toThrow(damaged)
    await send(store, 'forecasts', named(1, 3), [forecast(1, 1, 3)])
    await expect(follow(node)).rejects.toThrow(damaged)
    await store.delete(damaged)
    await follow(node)
    expect(pageOf(node, 1).forecasts).toMatchObject([{ probability: 0.000003 }])
    expect(pageOf(node, 2).forecasts).toMatchObject([{ probability: 0.000002 }])
  })

  test('is not stopped for others by what is not Parquet', async () => {
    await ask(1, HOUR_MS)
    const node = newNode()
    await sendBroken(store, 'forecasts')
    await send(store, 'forecasts', named(0, 2), [forecast(2, 1, 2)])
    await expect(follow(node)).rejects.toThrow(/inbox\/forecasts\/broken/)
    await expect(follow(node)).rejects.toThrow(/inbox\/forecasts\/broken/)
  })
})

describe('a node whose store does not answer', () => {
  test('cannot tell what stands, and can again once it does', async () => {
    let isAway = false
    store = new FaultStore(new MemoryStore(), {
      before: () => {
        if (isAway) throw new ServiceError('unavailable', 'the store is away')
      },
    })
    components = await testComponents({ store, clock })
    await ask(1, HOUR_MS)
    const node = newNode()
    expect(() => pageOf(node, 1)).toThrow(/still reads/)
    await send(store, 'forecasts', named(0, 2), [forecast(1, 1, 2)])
    await follow(node)
    isAway = true
    await expect(node.forecasts.refresh()).rejects.toThrow(/is away/)
    expect(() => pageOf(node, 1)).toThrow(/its store does not answer/)
    isAway = false
    await follow(node)
    expect(pageOf(node, 1).forecasts).toMatchObject([{ probability: 0.000002 }])
  })
})

describe('a node whose store does not give an object', () => {
  test('reads it later, however old it is beside the others', async () => {
    let lost: string | undefined
    store = new FaultStore(new MemoryStore(), {
      before: ({ operation, path }) => {
        if (operation === 'get' && path === lost) throw new ServiceError('unavailable', 'no answer')
      },
    })
    components = await testComponents({ store, clock })
    await ask(1, HOUR_MS)
    pass(30 * 60_000)
    lost = await send(store, 'forecasts', named(0, 1), [forecast(1, 1, 1)])
    await send(store, 'forecasts', named(29 * 60_000, 2), [forecast(2, 1, 2)])
    const node = newNode()
    for (let look = 0; look < 2; look++) await expect(follow(node)).rejects.toThrow(/no answer/)
    lost = undefined
    await follow(node)
    expect(pageOf(node, 1).forecasts).toMatchObject([{ probability: 0.000001 }])
  })
})

describe('a node that starts', () => {
  test(
    'reads the data files since the first question was recorded that is not over, and no earlier ones',
    { tags: ['slow'] },
    async () => {
      const days = [0, 1, 2, 3, 4, 5]
      for (const day of days) {
        clock.set(new Date(Date.parse(START) + day * 24 * HOUR_MS).toISOString())
        // Each but that of the fourth day closes on the next one.
        await ask(day, (day === 3 ? 100 : day + 1) * 24 * HOUR_MS)
        await send(store, 'forecasts', named(day * 24 * HOUR_MS, day), [forecast(1, day, day)])
        await takeIn()
      }
      pass(48 * HOUR_MS)
      const node = newNode()
      // What compacting left in the cache of this machine is not that of the node.
      store.calls.length = 0
      await follow(node)
      const read = store.calls.flatMap(({ operation, path }) =>
        operation === 'range' && path.startsWith('tables/forecasts/')
          ? [/recorded_date=([^/]*)/.exec(path)![1]]
          : [],
      )
      expect([...new Set(read)]).toEqual(['2026-03-03', '2026-03-04', '2026-03-05', '2026-03-06'])
      expect(pageOf(node, 1).forecasts).toMatchObject([{ question_id: questionId(3) }])
      expect(node.forecasts.size).toBe(1)
    },
  )
})

/** What happens one after another. Each node is either of two. */
const event = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('forecast' as const),
      agent: fc.nat(2),
      question: fc.nat(3),
      ppm: fc.option(fc.nat(1e6), { freq: 3 }),
      node: fc.nat(1),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('follow' as const), node: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('take in' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('close' as const), question: fc.nat(3), hours: fc.nat(20) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('resolve' as const), question: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pass' as const), hours: fc.nat(4) }) },
)

test(
  'two nodes, and one that starts last, know what a plain reading of everything says',
  { tags: ['slow'] },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 5, maxLength: 25 }), async (events) => {
        store = new FaultStore(new MemoryStore())
        clock = new Clock(START)
        components = await testComponents({ store, clock })
        const all: ForecastRow[] = []
        const closes = new Map<number, number>()
        const resolved = new Set<number>()
        for (let number = 0; number < 4; number++) {
          closes.set(number, 10 * HOUR_MS)
          await ask(number, 10 * HOUR_MS)
        }
        const nodes = [newNode(), newNode()]
        for (const node of nodes) await follow(node)
        const sinceMs = () => nowMs() - Date.parse(START)
        for (const [index, each] of events.entries()) {
          pass(1000)
          switch (each.kind) {
            case 'forecast': {
              if (resolved.has(each.question) || sinceMs() >= closes.get(each.question)!) break
              const rows = [forecast(each.agent, each.question, each.ppm)]
              all.push(...rows)
              const path = await send(store, 'forecasts', named(sinceMs(), index), rows)
              const { questions, forecasts } = nodes[each.node]!
              // As it does for the call.
              await questions.refresh()
              forecasts.wrote(path, rows)
              break
            }
            case 'follow':
              await follow(nodes[each.node]!)
              break
            case 'take in':
              await takeIn()
              break
            case 'close':
              closes.set(each.question, sinceMs() + each.hours * HOUR_MS + 1)
              await ask(each.question, closes.get(each.question)!)
              break
            case 'resolve': {
              // Each second time its resolution is withdrawn.
              const isOpen = !resolved.delete(each.question)
              if (isOpen) resolved.add(each.question)
              const outcome = isOpen ? 'yes' : 'open'
              await importRows(
                components,
                'resolutions',
                `question_id,outcome,resolved_at\n${questionId(each.question)},${outcome},2026-02-01T00:00:00Z\n`,
              )
              break
            }
            case 'pass':
              pass(each.hours * HOUR_MS)
          }
        }
        pass(1000)
        const isOpen = (number: number) => !resolved.has(number) && sinceMs() < closes.get(number)!
        const late = newNode()
        for (const node of [...nodes, late]) {
          await follow(node)
          for (const question of [0, 1, 2, 3].filter(isOpen)) {
            const last = new Map(
              all
                .filter((row) => row.question_id === questionId(question))
                .map((row) => [row.entity_id, row.probability]),
            )
            const standing = [...last.values()].filter((probability) => probability !== null)
            expect(node.forecasts.agentsOn(questionId(question))).toBe(standing.length)
          }
          for (const agent of [0, 1, 2]) {
            const expected = [0, 1, 2, 3].flatMap((question) => {
              const last = all.findLast(
                (row) => row.entity_id === agentId(agent) && row.question_id === questionId(question),
              )
              return last && last.probability !== null && isOpen(question) ? [last.forecast_id] : []
            })
            const found = pageOf(node, agent).forecasts.map(({ forecast_id }) => forecast_id)
            expect(found.toSorted()).toEqual(expected.toSorted())
          }
        }
      }),
      { numRuns: runs(6), seed: 20260301 },
    )
  },
)
