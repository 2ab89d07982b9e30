// `fvs sandbox seed`: once, with options that are kept, and only in the sandbox.
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { runSeed } from '../../../jobs/sandbox/sandbox.ts'
import { type SeedOptions, seedSandbox } from '../../../jobs/sandbox/seed.ts'
import { takeStep } from '../../../jobs/sandbox/step.ts'
import { FileStore } from '../../../pipeline/store/file.ts'
import { type ReleaseResult, makeRelease } from '../../../pipeline/release/make.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { TableName } from '../../../schemas/tables.ts'
import { FAULTS, FaultStore } from '../../support/faults/fault-store.ts'
import { suiteFolder, testFolder } from '../../support/folder.ts'
import { fvs } from '../../support/process.ts'
import {
  ASKED_AT_ONCE,
  NOTHING,
  OPTIONS,
  RECORD,
  SEEDED,
  START,
  after,
  rowsOf,
  sandboxOver,
  seededStore,
} from '../../support/worlds/sandbox.ts'
import { Clock, testComponents } from '../../support/http/service.ts'
import { contentOf, copyOf } from '../../support/store-content.ts'

const folder = await suiteFolder()
let seeded: MemoryStore
beforeAll(async () => {
  seeded = await seededStore(folder)
})

describe('seeding', () => {
  test('from the command line has defaults, goes to the sandbox, and reports its result', async () => {
    const home = await testFolder()
    const seed = (...args: string[]) =>
      fvs(['sandbox', 'seed', ...args], { folder: home, env: { STORE_URL: join(home, 'store') } })
    const first = await seed('--json')
    expect(first.stderr).toMatch(/^\{.*"msg":"began a new store, since there was none"\}\n$/)
    const defaults = { seed: 1, round_ms: 300_000, questions_per_round: 10 }
    expect(JSON.parse(first.stdout)).toMatchObject({ seeded: true, ...defaults, asked: 120, resolved: 0 })
    const kept = Object.keys(await contentOf(await FileStore.begin(join(home, 'store'))))
    expect(kept).toContain('sandbox/simulation.json')
    expect(kept.filter((key) => !key.startsWith('sandbox/'))).toEqual([])

    const other = await seed('--seed', '1', '--round-minutes', '5', '--questions', '3')
    expect([other.code, other.stdout]).toEqual([1, ''])
    expect(other.stderr).toMatch(
      /with seed 1, rounds of 5 min and 10 questions a round, not with seed 1, rounds of 5 min and 3 questions a round/,
    )
  })

  test('a second time with the same options says that it is done already', async () => {
    const clock = new Clock(START)
    const components = await sandboxOver(copyOf(seeded), folder, clock)
    clock.set(after(0.1))
    const { ok, json, text } = await runSeed(components, OPTIONS)
    expect(ok).toBe(true)
    expect(json).toMatchObject({ seeded: false, ...RECORD, ...NOTHING })
    expect(text).toMatch(/has been seeded already, at 2026-03-01T12:00:00\.000Z, with seed 7/)
  })

  test.for<[string, Partial<SeedOptions>]>([
    ['seed 8', { seed: 8 }],
    ['rounds of 6 min', { roundMinutes: 6 }],
    ['5 questions a round', { questionsPerRound: 5 }],
    ['after 3 weeks', { weeks: 3 }],
  ])('a second time with %s is refused, and nothing changes', async ([named, other]) => {
    const store = copyOf(seeded)
    const content = await contentOf(store)
    const again = seedSandbox(await sandboxOver(store, folder), { ...OPTIONS, ...other })
    await expect(again).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringMatching(new RegExp(`at ${START} with seed 7.*not with .*${named}`)) as string,
    })
    expect(await contentOf(store)).toEqual(content)
  })

  test('with weeks adds people, agents, forecasts and outcomes of the time before, and a second time nothing', async () => {
    const clock = new Clock(START)
    const components = await sandboxOver(new MemoryStore(), folder, clock)
    const added = await seedSandbox(components, { ...OPTIONS, weeks: 2 })
    const ids = async (table: TableName, id: string) =>
      new Set((await rowsOf(components, table)).map((row) => row[id])).size
    const known = async () => {
      const { entities, pairs } = (await makeRelease(components)) as Extract<ReleaseResult, { made: true }>
      return {
        entities,
        pairs,
        agents: await ids('agents', 'agent_id'),
        people: await ids('forecasters', 'user_id'),
        questions: await ids('questions', 'question_id'),
        outcomes: await ids('resolutions', 'question_id'),
        forecasts: await ids('forecasts', 'forecast_id'),
      }
    }
    const first = await known()
    const questions = 3 * OPTIONS.questionsPerRound + ASKED_AT_ONCE
    expect(first).toMatchObject({ entities: 37, agents: 13, people: 24, questions, outcomes: 8 })
    expect(added).toMatchObject({ weeks: 2, asked: questions, forecasts: first.forecasts, resolved: 8 })
    clock.set(after(1))
    await seedSandbox(components, { ...OPTIONS, weeks: 2 })
    expect(await known()).toEqual(first)
  })

  test.for(FAULTS)('whose first write %s is completed by the next', async (fault) => {
    const inner = new MemoryStore()
    const broken = await sandboxOver(new FaultStore(inner, { at: 1, fault, crash: true }), folder)
    await expect(seedSandbox(broken, OPTIONS)).rejects.toMatchObject({ kind: 'unavailable' })
    const report = await runSeed(await sandboxOver(inner, folder), OPTIONS)
    expect(report.json).toMatchObject({ ...RECORD, ...SEEDED })
  })

  test('again after its record was deleted asks other questions', async () => {
    const store = copyOf(seeded)
    await store.delete('simulation.json')
    const clock = new Clock(after(2))
    const components = await sandboxOver(store, folder, clock)
    expect(await takeStep(components)).toEqual(NOTHING)
    expect((await runSeed(components, OPTIONS)).json).toMatchObject({ seeded: true, ...SEEDED })
    expect(await rowsOf(components, 'questions')).toHaveLength(2 * ASKED_AT_ONCE)
  })

  test.for<[string, Partial<SeedOptions>]>([
    ['--seed is 0; it must be a whole number from 1 to 99999999', { seed: 0 }],
    ['--round-minutes is 1441; it must be a whole number from 1 to 1440', { roundMinutes: 1441 }],
    ['--questions is 2.5; it must be a whole number from 1 to 100', { questionsPerRound: 2.5 }],
  ])('refuses options out of bounds: %s', async ([message, wrong]) => {
    const store = new MemoryStore()
    const refused = seedSandbox(await sandboxOver(store, folder), { ...OPTIONS, ...wrong })
    await expect(refused).rejects.toMatchObject({ kind: 'invalid', message })
    expect(await contentOf(store)).toEqual({})
  })

  test('refuses production, and so does a step', async () => {
    const store = copyOf(seeded)
    const content = await contentOf(store)
    const components = await testComponents({ store, folder, clock: new Clock(after(2)) })
    const message = expect.stringContaining('is of the environment production') as string
    await expect(seedSandbox(components, OPTIONS)).rejects.toMatchObject({ kind: 'invalid', message })
    await expect(takeStep(components)).rejects.toMatchObject({ kind: 'invalid', message })
    expect(await contentOf(store)).toEqual(content)
  })
})
