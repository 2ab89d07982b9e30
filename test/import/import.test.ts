// Imports that no case of `cases/` holds: under clocks that move, beside releases and services, and the ids of
// forecasts.
import { v5 as uuidv5 } from 'uuid'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { reportTemplate } from '../../jobs/import/import.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { IMPORTS, type ImportKind } from '../../pipeline/import/columns.ts'
import { FORECAST_IDS } from '../../pipeline/import/values.ts'
import { readManifest, readReleaseShard, shardFile } from '../../pipeline/release/read.ts'
import { attachAll } from '../../pipeline/tables/views.ts'
import { currentVersions } from '../../pipeline/tables/delta-log.ts'
import { suiteFolder } from '../support/folder.ts'
import {
  Clock,
  importRows,
  registerAgent,
  release,
  startTestService,
  testComponents,
} from '../support/http/service.ts'
import { contentOf, copyOf } from '../support/store-content.ts'
import { send } from '../support/tables.ts'
import { NOW, uuidOf } from '../support/worlds/world.ts'

const QUESTION = uuidOf(1, 1)
const PERSON = uuidOf(2, 1)
const AGENT = uuidOf(3, 1)
const COLUMNS: Record<ImportKind, string> = {
  questions: 'question_id,title,opened_at,closes_at',
  events: 'event_id,title,kind',
  prices: 'question_id,priced_at,probability,source',
  resolutions: 'question_id,outcome,resolved_at',
  forecasters: 'user_id,display_name',
  forecasts: 'entity_type,entity_id,question_id,probability,forecast_at',
}

const folder = await suiteFolder()
const clock = new Clock(NOW)
const componentsOn = (store: MemoryStore) => testComponents({ store, clock, folder })
let components: Components
let prepared: MemoryStore

/** A store with a question, and a copy of it for each test. */
beforeAll(async () => {
  prepared = new MemoryStore()
  components = await componentsOn(prepared)
  await importLines('questions', [`${QUESTION},First?,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z`])
})
beforeEach(async () => {
  components = await componentsOn(copyOf(prepared))
})

interface Imported {
  clock_behind_ms: number
  changed: number
}

const importLines = (kind: ImportKind, lines: readonly string[]) =>
  importRows(components, kind, [COLUMNS[kind], ...lines, ''].join('\n')) as Promise<Imported>

async function rowsOf(table: string): Promise<Record<string, unknown>[]> {
  using database = await components.openDatabase()
  await attachAll(database, components.local, await currentVersions(components.store))
  return await database.rows(`FROM ${table} ORDER BY ALL`)
}

const forecast = (probability: string, at = '2026-01-05T00:00:00Z') =>
  `forecaster,${PERSON},${QUESTION},${probability},${at}`

test('a bad file leaves an empty store empty, and so does an empty table', async () => {
  components = await componentsOn(new MemoryStore())
  const bad = importLines('questions', ['x,t,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z'])
  await expect(bad).rejects.toMatchObject({ kind: 'invalid' })
  expect(await importLines('forecasters', [])).toMatchObject({ rows: 0, added: 0 })
  expect(await contentOf(components.store)).toEqual({})
})

test(
  'resolutions said later count later, although the first were imported under a clock ten minutes ahead',
  { tags: ['slow'] },
  async () => {
    const line = (outcome: string) => [`${QUESTION},${outcome},2026-01-20T00:00:00Z`]
    const startMs = clock.now().getTime()
    const at = (minutes: number) => new Date(startMs + minutes * 60_000).toISOString()
    clock.set(at(10))
    expect(await importLines('resolutions', line('yes'))).toMatchObject({ clock_behind_ms: 0 })
    for (const [minutes, outcome] of [
      [0, 'no'],
      [1, 'yes'],
      [2, 'annulled'],
      [3, 'no'],
    ] as const) {
      clock.set(at(minutes))
      const { changed, clock_behind_ms } = await importLines('resolutions', line(outcome))
      expect(changed).toBe(1)
      expect(clock_behind_ms).toBeGreaterThanOrEqual((10 - minutes) * 60_000)
      expect(await rowsOf('current_resolutions'), at(minutes)).toMatchObject([{ outcome }])
      expect(await importLines('resolutions', line(outcome))).toMatchObject({
        added: 0,
        changed: 0,
        unchanged: 1,
      })
    }
    const recorded = (await rowsOf('resolutions')).map(({ recorded_at }) => (recorded_at as Date).getTime())
    expect(recorded.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4].map((ms) => startMs + 600_000 + ms))
    clock.set(at(0))
  },
)

describe('forecasts', () => {
  test('have ids that are version 5 UUIDs of their content', async () => {
    await importLines('forecasts', [
      forecast('0.1234567', '2026-01-05T02:00:00.1239+02:00'),
      forecast('1'),
      forecast('0', '2026-01-05T00:00:01Z'),
    ])
    const nameOf = (ppm: number, at: string) =>
      ['forecaster', PERSON, QUESTION, ppm, Date.parse(at)].join('|')
    const ids = (await rowsOf('forecasts')).map(({ forecast_id }) => String(forecast_id))
    expect(ids.toSorted()).toEqual(
      [
        uuidv5(nameOf(123_457, '2026-01-05T00:00:00.123Z'), FORECAST_IDS),
        uuidv5(nameOf(1_000_000, '2026-01-05T00:00:00Z'), FORECAST_IDS),
        uuidv5(nameOf(0, '2026-01-05T00:00:01Z'), FORECAST_IDS),
      ].toSorted(),
    )
  })

  test('imported twice change nothing in the store', { tags: ['slow'] }, async () => {
    const lines = [forecast('0.5'), forecast('0.6', '2026-01-06T00:00:00Z')]
    await importLines('forecasts', lines)
    const before = await contentOf(components.store)
    expect(await importLines('forecasts', lines.toReversed())).toMatchObject({ added: 0, unchanged: 2 })
    expect(await contentOf(components.store)).toEqual(before)
  })

  test.for(['production', 'sandbox'] as const)(
    'of an agent that is registered are refused: %s',
    { tags: ['slow'] },
    async (environment) => {
      components = await testComponents({ store: copyOf(prepared), clock, folder, environment })
      const service = await startTestService(components)
      const { agentId } = await registerAgent(service.client)
      await service.stop()
      // This takes in the registration.
      expect(await importLines('forecasts', [forecast('0.5')])).toMatchObject({ added: 1 })
      const before = await contentOf(components.store)
      const line = `agent,${agentId},${QUESTION},0.5,2026-01-05T00:00:00Z`
      await expect(importLines('forecasts', [line])).rejects.toMatchObject({
        kind: 'invalid',
        faults: [
          { pointer: 'line 2', detail: expect.stringContaining('come by its own API alone') as string },
        ],
      })
      expect(await contentOf(components.store)).toEqual(before)
    },
  )

  test('of an agent that an earlier version imported count for nothing', { tags: ['slow'] }, async () => {
    await send(components.store, 'agents', 'a', [
      {
        agent_id: AGENT,
        name: 'an agent',
        model_type: 'none',
        organization_name: null,
        owner_id: null,
        registered_at: clock.now(),
        retired_at: null,
        recorded_at: clock.now(),
      },
    ])
    await send(components.store, 'forecasts', 'a', [
      {
        forecast_id: uuidv5(`agent|${AGENT}|${QUESTION}|500000|0`, FORECAST_IDS),
        entity_type: 'agent',
        entity_id: AGENT,
        question_id: QUESTION,
        probability: 0.5,
        forecast_at: new Date('2026-01-05T00:00:00Z'),
        recorded_at: clock.now(),
        source: 'import',
      },
    ])
    await importLines('resolutions', [`${QUESTION},yes,2026-01-20T00:00:00Z`])
    await release(components)
    const { files } = (await readManifest(components.store, 1))!
    const shard = await readReleaseShard(components.store, 1, shardFile(files, 'agent', AGENT)!)
    expect(shard.entities[AGENT]!.metrics.payload).toMatchObject({
      resolved_questions: 0,
      forecasts: 0,
      witnessed_share: null,
    })
  })
})

test('an import beside a release is in it as a whole or waits for the next', { tags: ['slow'] }, async () => {
  const others = await componentsOn(components.store as MemoryStore)
  const lines = Array.from({ length: 200 }, (_, index) =>
    forecast('0.5', new Date(Date.UTC(2026, 0, 5) + index).toISOString()),
  )
  const [imported] = await Promise.all([importLines('forecasts', lines), release(others)])
  expect(imported).toMatchObject({ added: 200, forecasters_created: 1 })
  const ids = (await rowsOf('forecasts')).map(({ forecast_id }) => forecast_id)
  expect([ids.length, new Set(ids).size]).toEqual([200, 200])
})

test('the templates can be imported, one after the other', { tags: ['slow'] }, async () => {
  for (const kind of IMPORTS) {
    expect(await importRows(components, kind, reportTemplate(kind).text), kind).toMatchObject({ added: 1 })
  }
})
