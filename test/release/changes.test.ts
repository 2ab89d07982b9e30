// `--if-changed` where nothing has: what it costs, and everything that a run must not take for nothing.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import {
  intakePath,
  deltaLogPath,
  manifestPath,
  planPath,
  snapshotManifestPath,
} from '../../pipeline/store/paths.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { SCORED_TABLES, type Row, type ScoredTable } from '../../schemas/tables.ts'
import { type Call, FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, release, testComponents } from '../support/http/service.ts'
import { copyOf } from '../support/store-content.ts'
import { NOW, copyReleasedWorld, uuidOf } from '../support/worlds/world.ts'
import { recordBytes } from '../../pipeline/store/records.ts'
import { send } from '../support/tables.ts'

const folder = await suiteFolder()
const released = new MemoryStore()
let versions: Record<string, number>
let agentId: string

const componentsOver = (store: Store, at = NOW): Promise<Components> =>
  testComponents({ store, folder, clock: new Clock(at) })

beforeAll(async () => {
  ;({ agentId } = await copyReleasedWorld(released))
  const manifest = JSON.parse(new TextDecoder().decode(await released.get(manifestPath(1)))) as {
    tables: Record<string, number>
  }
  versions = manifest.tables
})

/**
 * A row of each table that changes nothing of the world but its tables' versions, except that the agent, which
 * has made forecasts, gets another name.
 */
const rowOf = (table: ScoredTable): Row =>
  table === 'agents' ? { ...ROWS.agents, agent_id: agentId } : ROWS[table]
const ROWS: Record<ScoredTable, Row> = {
  questions: row({
    question_id: uuidOf(5, 1),
    title: 't',
    resolution_criteria: null,
    background: null,
    category: null,
    url: null,
    event_id: null,
    source: null,
    source_id: null,
  }),
  events: row({ event_id: 'e', title: 't', kind: 'exclusive' }),
  prices: row({ question_id: uuidOf(5, 1), priced_at: new Date(NOW), probability: 0.5, source: 'a market' }),
  resolutions: row({ question_id: uuidOf(5, 1), outcome: 'annulled', resolved_at: new Date(NOW) }),
  agents: row({
    agent_id: uuidOf(5, 2),
    name: 'a',
    model_type: 'm',
    organization_name: null,
    owner_id: null,
    retired_at: null,
  }),
  forecasters: row({ user_id: uuidOf(5, 3) }),
  forecasts: row({
    forecast_id: uuidOf(5, 4),
    entity_type: 'forecaster',
    entity_id: uuidOf(5, 3),
    question_id: uuidOf(5, 1),
    probability: 0.5,
    forecast_at: new Date(NOW),
    source: 'api',
  }),
}

function row(fields: Row): Row {
  const at = new Date(NOW)
  return { opened_at: at, closes_at: at, registered_at: at, recorded_at: at, ...fields }
}

describe('a release that is to be made if something has changed', () => {
  test('reads no commit and lists no table where nothing has, and writes nothing', async () => {
    const store = new FaultStore(copyOf(released))
    const result = await release(await componentsOver(store), { ifChanged: true })
    expect(result).toEqual({ made: false, release: 1, reason: 'unchanged' })
    expect(store.writes).toBe(0)
    const commits = store.calls.map(({ path }) => path).filter((path) => path.includes('/_delta_log/'))
    // The next one of each table, which is not there.
    expect(commits.sort()).toEqual(
      SCORED_TABLES.map((name) => deltaLogPath(name, versions[name]! + 1)).sort(),
    )
    // Two a table; the greatest manifest, what it says, its day's snapshot, the next plan, the environment,
    // the quarantine, the undone imports, the erased people, the next checkpoint of the log.
    expect(store.calls).toHaveLength(3 * SCORED_TABLES.length + 3 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1)
  })

  test(
    'reads the release state and the log of each table once where one is made',
    { tags: ['slow'] },
    async () => {
      const store = new FaultStore(copyOf(released))
      expect(await release(await componentsOver(store, '2026-03-02T00:00:00.000Z'))).toMatchObject({
        made: true,
      })
      const asked = (path: string, ...operations: Call['operation'][]) =>
        store.calls.filter((call) => call.path === path && operations.includes(call.operation)).length
      expect(asked(manifestPath(1), 'get')).toBe(1)
      expect(asked(planPath(2), 'get', 'range')).toBe(1)
      expect(asked(snapshotManifestPath('2026-03-01'), 'get', 'range')).toBe(1)
      for (const table of SCORED_TABLES) {
        expect(asked(deltaLogPath(table, versions[table]!), 'get'), table).toBe(1)
      }
      expect(store.calls.length).toBeLessThanOrEqual(99)
    },
  )

  test.each(SCORED_TABLES)(
    'is made where a row of %s waits in the inbox',
    { tags: ['slow'] },
    async (table) => {
      const store = copyOf(released)
      await send(store, table, uuidOf(6, 1), [rowOf(table)])
      const result = await release(await componentsOver(store), { ifChanged: true })
      expect(result).toMatchObject({ made: true, release: 2 })
    },
  )

  test(
    'is made where a run has decided what a table takes in and got no further',
    { tags: ['slow'] },
    async () => {
      const store = copyOf(released)
      const taken = await send(store, 'agents', uuidOf(6, 1), [rowOf('agents')])
      const path = intakePath('agents', versions['agents']! + 1)
      await store.put(path, recordBytes(path, { inbox: [taken] }))
      const result = await release(await componentsOver(store), { ifChanged: true })
      expect(result).toMatchObject({ made: true, release: 2 })
    },
  )

  test('is made where a table has a commit that the last one has not read', { tags: ['slow'] }, async () => {
    const store = copyOf(released)
    await send(store, 'agents', uuidOf(6, 1), [rowOf('agents')])
    // Taken in by a run that is cut off before it plans.
    await expect(
      release(await componentsOver(new FaultStore(store, { at: 5, fault: 'failed', crash: true }))),
    ).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await store.get(deltaLogPath('agents', versions['agents']! + 1))).toBeDefined()
    const result = await release(await componentsOver(store), { ifChanged: true })
    expect(result).toMatchObject({ made: true, release: 2 })
  })

  test(
    'is not made for registrations alone, and has an agent from its first forecast on',
    { tags: ['slow'] },
    async () => {
      const store = copyOf(released)
      const components = await componentsOver(store)
      const registered = uuidOf(5, 2)
      await send(store, 'agents', uuidOf(6, 1), [ROWS.agents])
      for (let run = 0; run < 2; run++) {
        expect(await release(components, { ifChanged: true })).toEqual({
          made: false,
          release: 1,
          reason: 'unchanged',
        })
      }
      expect(await store.get(deltaLogPath('agents', versions['agents']! + 1))).toBeDefined()
      const agents = async (number: number) => (await readManifest(store, number))!.counts.agents
      // Another change makes a release, which does not have it.
      await send(store, 'questions', uuidOf(6, 2), [ROWS.questions])
      expect(await release(components, { ifChanged: true })).toMatchObject({ made: true, release: 2 })
      expect(await agents(2)).toBe(await agents(1))
      const forecast = { ...ROWS.forecasts, entity_type: 'agent', entity_id: registered, probability: null }
      await send(store, 'forecasts', uuidOf(6, 3), [forecast])
      expect(await release(components, { ifChanged: true })).toMatchObject({ made: true, release: 3 })
      expect(await agents(3)).toBe((await agents(2)) + 1)
    },
  )

  test('is finished where a run has planned it', { tags: ['slow'] }, async () => {
    const store = copyOf(released)
    await send(store, 'agents', uuidOf(6, 1), [rowOf('agents')])
    const whole = copyOf(store)
    await release(await componentsOver(whole), { ifChanged: true })
    await release(await componentsOver(store), { ifChanged: true })
    for (const key of store.objects.keys()) {
      if (key.startsWith('releases/00000002/') && key !== planPath(2)) await store.delete(key)
    }
    expect(await release(await componentsOver(store), { ifChanged: true })).toMatchObject({ release: 2 })
    expect(await store.get(manifestPath(2))).toEqual(await whole.get(manifestPath(2)))
  })

  test('completes the snapshot of the last one', async () => {
    const store = copyOf(released)
    const key = snapshotManifestPath(NOW.slice(0, 10))
    const before = await store.get(key)
    await store.delete(key)
    expect(await release(await componentsOver(store), { ifChanged: true })).toMatchObject({ made: false })
    expect(await store.get(key)).toEqual(before)
  })

  test('is made on another day', { tags: ['slow'] }, async () => {
    const store = copyOf(released)
    const components = await componentsOver(store, '2026-03-02T00:00:00.000Z')
    expect(await release(components, { ifChanged: true })).toMatchObject({ made: true, release: 2 })
  })
})
