// Commands at once, each with everything checked before another writes: the tables are as if one had come
// after another.
import { beforeAll, expect, test } from 'vitest'
import { addRows } from '../../jobs/sandbox/rows.ts'
import { questionsWanted } from '../../jobs/sandbox/world.ts'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { type Call, FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, importRows, testComponents } from '../support/http/service.ts'
import { copyOf } from '../support/store-content.ts'
import {
  type CommandName,
  csv,
  expectSerial,
  forecastsCsv,
  namesCsv,
  rowCounts,
  runAtOnce,
  storeAtOnce,
} from '../support/worlds/at-once.ts'
import { NOW } from '../support/worlds/world.ts'

const folder = await suiteFolder()
const clock = new Clock(NOW)

/** A store that does `work` once, when rows are about to be written. */
function beforeWriting(store: Store, work: () => Promise<void>): Store {
  let isDone = false
  const before = async ({ operation, path }: Call) => {
    if (isDone || operation !== 'putIfAbsent' || !/^(inbox|offers)\//.test(path)) return
    isDone = true
    await work()
  }
  return new FaultStore(store, { before })
}

let prepared: MemoryStore
beforeAll(async () => {
  prepared = await storeAtOnce(folder)
})

async function atOnce(...names: CommandName[]) {
  const ran = await runAtOnce(prepared, folder, names)
  await expectSerial(prepared, folder, names, ran)
  return ran
}

test(
  'of three imports at once of new questions with one source and source_id, one is in',
  { tags: ['slow'] },
  async () => {
    const { told } = await atOnce('import questions', 'import questions', 'import questions')
    expect(told.filter((said) => said?.questions === 1)).toHaveLength(1)
    expect(told.filter((said) => said === undefined)).toHaveLength(2)
  },
)

test(
  'a new question beside an old one that takes the same source and source_id: one is in',
  { tags: ['slow'] },
  async () => {
    const { told } = await atOnce('import questions', 'correct questions')
    expect(told.filter((said) => said === undefined)).toHaveLength(1)
  },
)

test('an import of forecasts beside one of forecasters loses no name', { tags: ['slow'] }, async () => {
  const { told } = await atOnce('import forecasts', 'import forecasters')
  expect(told).toMatchObject([{ forecasts: 3 }, {}])
})

test(
  'an import of forecasts loses no name that is imported when it is about to write',
  { tags: ['slow'] },
  async () => {
    const store = copyOf(prepared)
    const names = async () => {
      await importRows(await testComponents({ store, clock, folder }), 'forecasters', namesCsv(1))
    }
    const components = await testComponents({ store: beforeWriting(store, names), clock, folder })
    expect(await importRows(components, 'forecasts', forecastsCsv(1))).toMatchObject({
      added: 3,
      forecasters_created: 0,
    })
    expect((await rowCounts(store, folder)).names).toEqual([
      'Person 0 of 1',
      'Person 1 of 1',
      'Person 2 of 1',
    ])
  },
)

test(
  'a step of the simulation leaves a question as an operator has just imported it',
  { tags: ['slow'] },
  async () => {
    const store = new MemoryStore()
    const world = { seed: 1, started_at: NOW, round_ms: 60_000, questions_per_round: 1 }
    const [question] = questionsWanted(world, new Date(NOW))
    const { questionId, openedAt, closesAt } = question!
    const span = `${openedAt.toISOString()},${closesAt.toISOString()}`
    const own = csv('question_id,title,opened_at,closes_at', `${questionId},Mine?,${span}`)
    const operator = async () => {
      await importRows(await testComponents({ store, clock, folder }), 'questions', own)
    }
    const components = await testComponents({ store: beforeWriting(store, operator), clock, folder })
    const added = await withDatabase(components.openDatabase, (database) =>
      addRows(components, database, { questions: [question!] }, { onlyUnknown: true }),
    )
    expect(added).toMatchObject({ asked: 0 })
    expect((await rowCounts(store, folder)).counts.questions).toBe(1)
  },
)

test(
  'the same resolution and the same statement, made twice at once, are written once',
  { tags: ['slow'] },
  async () => {
    const both = await atOnce('retire an agent', 'retire an agent')
    expect(both.told).toHaveLength(2)
    expect((await rowCounts(both.store, folder)).counts.agents).toBe(2)
  },
)

test(
  'an import of forecasts does not wait for those of the API, nor they for it',
  { tags: ['slow'] },
  async () => {
    const { told } = await atOnce('import forecasts', 'take in forecasts', 'take in forecasts')
    expect(told).toEqual([{ forecasts: 3, forecasters: 3 }, { forecasts: 1 }, { forecasts: 1 }])
  },
)
