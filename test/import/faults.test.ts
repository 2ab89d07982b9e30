// Imports and statements of an operator, cut off at any write in either way: the next one completes them.
// @module-tag slow
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listAgents } from '../../jobs/agents/agents.ts'
import { runImport } from '../../jobs/import/import.ts'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { assignOwner } from '../../pipeline/import/agents.ts'
import type { ImportKind } from '../../pipeline/import/columns.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { TableName } from '../../schemas/tables.ts'
import { FAULTS, FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, testComponents } from '../support/http/service.ts'
import { contentOf, copyOf } from '../support/store-content.ts'
import { readRows, send } from '../support/tables.ts'
import { NOW, uuidOf } from '../support/worlds/world.ts'

const folder = await suiteFolder()
const clock = new Clock(NOW)
const QUESTION = uuidOf(1, 1)
const AGENT = uuidOf(7, 1)

const componentsOf = (store: Store) => testComponents({ store, clock, folder })

async function importText(store: Store, kind: ImportKind, text: string): Promise<unknown> {
  const components = await componentsOf(store)
  const path = join(components.directory, `${kind}.csv`)
  await writeFile(path, text)
  return (await runImport(components, kind, path)).json
}

async function rowsOf(store: Store, table: TableName) {
  const components = await componentsOf(store)
  return withDatabase(components.openDatabase, (database) => readRows({ ...components, database }, table))
}

/** Does `work` on copies of a store, cut off at each write in either way, and then calls `check`. */
async function cutOffAnywhere(
  prepared: MemoryStore,
  work: (store: Store) => Promise<unknown>,
  check: (store: MemoryStore, where: string) => Promise<void>,
): Promise<void> {
  const whole = new FaultStore(copyOf(prepared))
  await work(whole)
  expect(whole.writes).toBeGreaterThan(5)
  for (const fault of FAULTS) {
    for (let at = 1; at <= whole.writes; at++) {
      const store = copyOf(prepared)
      const where = `${fault} at ${at}`
      await expect(work(new FaultStore(store, { at, fault, crash: true })), where).rejects.toMatchObject({
        kind: 'unavailable',
      })
      await check(store, where)
    }
  }
}

test('an import', async () => {
  const prepared = new MemoryStore()
  const question = `${QUESTION},First?,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z`
  await importText(prepared, 'questions', `question_id,title,opened_at,closes_at\n${question}\n`)
  const forecast = (probability: string, at: string) =>
    `forecaster,${uuidOf(2, 1)},${QUESTION},${probability},${at}\n`
  const lines = forecast('0.5', '2026-01-05T00:00:00Z') + forecast('0.6', '2026-01-06T00:00:00Z')
  const text = `entity_type,entity_id,question_id,probability,forecast_at\n${lines}`
  const importForecasts = (store: Store) => importText(store, 'forecasts', text)
  await cutOffAnywhere(prepared, importForecasts, async (store, where) => {
    expect(await importForecasts(store), where).toMatchObject({ rows: 2 })
    const ids = (await rowsOf(store, 'forecasts')).map((row) => row['forecast_id'])
    expect([ids.length, new Set(ids).size], where).toEqual([2, 2])
    // The forecaster that the first attempt may have created is not created again.
    expect(Object.keys(await contentOf(store, 'tables/forecasters/_delta_log/')), where).toHaveLength(2)
    expect(Object.keys(await contentOf(store, 'inbox/')), where).toEqual([])
    // The next command deletes an offer that a cut has left.
    await importForecasts(store)
    expect(Object.keys(await contentOf(store, 'offers/')), where).toEqual([])
  })
})

test('an owner of an agent', async () => {
  const prepared = new MemoryStore()
  const registered = {
    agent_id: AGENT,
    name: 'an agent',
    model_type: 'm',
    organization_name: null,
    owner_id: null,
    registered_at: new Date(NOW),
    retired_at: null,
    recorded_at: new Date(NOW),
  }
  await send(prepared, 'agents', uuidOf(8, 1), [registered])
  const say = async (store: Store) => {
    const components = await componentsOf(store)
    return withDatabase(components.openDatabase, (database) =>
      assignOwner({ ...components, database }, [AGENT], 'Ada'),
    )
  }
  await cutOffAnywhere(prepared, say, async (store, where) => {
    await say(store)
    const { json } = await listAgents(await componentsOf(store), {})
    expect(json, where).toMatchObject({ agents: [{ agent_id: AGENT, owner_id: 'Ada' }] })
    expect(await rowsOf(store, 'agents'), where).toHaveLength(2)
  })
})
