// The operator's calls, cut off at any write in either way: the same call again completes them, and every
// forecast is there once.
// @module-tag slow
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { OperatorCalls } from '../../api/operator/operator-calls.ts'
import { ForecastIds } from '../../pipeline/access/forecast-ids.ts'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { onKnown } from '../../pipeline/import/waiting.ts'
import { releasedVersions } from '../../pipeline/release/state.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { GroupCommit } from '../../pipeline/tables/group-commit.ts'
import { Receipts } from '../../pipeline/tables/receipts.ts'
import { FAULTS, FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, importRows, testComponents } from '../support/http/service.ts'
import { copyOf } from '../support/store-content.ts'
import { NOW, QUESTION, QUESTIONS_CSV, uuidOf } from '../support/worlds/world.ts'

const folder = await suiteFolder()
const clock = new Clock(NOW)
const componentsOf = (store: Store) => testComponents({ store, clock, folder })

const BY = {
  call: 'POST /operator/forecasts',
  caller: {
    kind: 'operator',
    key_id: 'Example1',
    sha256: '0'.repeat(64),
    account_id: 'Example1',
    owner: 'the operator',
    scopes: ['people'],
    tier: 'free',
    monthly_calls: null,
    created_at: NOW,
    expires_at: null,
    revoked_at: null,
    retired_at: null,
  },
} satisfies Parameters<OperatorCalls['forecasts']>[1]

async function operatorOver(store: Store): Promise<OperatorCalls> {
  const components = await componentsOf(store)
  const limits = { queueLimit: 10_000, timeoutMs: 10_000 }
  const { newId } = components
  const forecasts = new GroupCommit('forecasts', limits, {
    store,
    newId,
    monotonicMs: () => performance.now(),
  })
  return new OperatorCalls({
    ...components,
    forecastIds: new ForecastIds(store, randomBytes),
    releasedVersions: () => releasedVersions(components),
    submit: (...rows) => forecasts.submit(...rows),
    receipts: new Receipts([], newId),
    witnessMinutes: 10,
  })
}

/** Forecasts of twenty people; every second one comes late. */
const SENT = Array.from({ length: 40 }, (_, n) => ({
  user_id: uuidOf(44, n % 20),
  question_id: QUESTION.open,
  probability: (n + 1) / 100,
  forecast_at: new Date(Date.parse(NOW) - (n % 2 === 0 ? 60_000 : 3_600_000) - n).toISOString(),
}))

const send = async (store: Store) => (await operatorOver(store)).forecasts(SENT, BY)

/** Counts the forecasts and the ids of a store, with those that wait. */
async function countsOf(store: Store) {
  const components = await componentsOf(store)
  return withDatabase(components.openDatabase, async (database) => {
    const [counts] = await onKnown({ ...components, database }, () =>
      database.rows<object>(
        `SELECT count(*)::INTEGER AS rows, count(DISTINCT forecast_id)::INTEGER AS ids,
         count(DISTINCT (entity_id, forecast_at, probability))::INTEGER AS contents,
         count(*) FILTER (source = 'api')::INTEGER AS witnessed, count(DISTINCT entity_id)::INTEGER AS people
       FROM forecasts WHERE entity_type = 'forecaster'`,
      ),
    )
    return counts
  })
}

test('forecasts of people are in once, wherever the first try ended', async () => {
  const prepared = new MemoryStore()
  await importRows(await componentsOf(prepared), 'questions', QUESTIONS_CSV)
  const whole = new FaultStore(copyOf(prepared))
  const first = await send(whole)
  expect(first).toMatchObject({ added: 40, forecasters_created: 20 })
  const once = { rows: 40, ids: 40, contents: 40, witnessed: 20, people: 20 }
  expect(await countsOf(whole)).toEqual(once)
  expect(whole.writes).toBeGreaterThan(8)
  for (const fault of FAULTS) {
    for (let at = 1; at <= whole.writes; at++) {
      const store = copyOf(prepared)
      const where = `${fault} at ${at}`
      await send(new FaultStore(store, { at, fault, crash: true })).catch((error: unknown) => {
        expect(error, where).toMatchObject({ kind: 'unavailable' })
      })
      const { results } = await send(store)
      expect(
        results.map(({ forecast_at }) => forecast_at),
        where,
      ).toEqual(first.results.map(({ forecast_at }) => forecast_at))
      expect(await countsOf(store), where).toEqual(once)
    }
  }
})

test('two nodes that take the same call at once make each forecast one', async () => {
  const store = new MemoryStore()
  await importRows(await componentsOf(store), 'questions', QUESTIONS_CSV)
  const [one, other] = await Promise.all([send(store), send(store)])
  const idsOf = ({ results }: Awaited<ReturnType<typeof send>>) =>
    results.map(({ forecast_id }) => forecast_id)
  expect(idsOf(one)).toEqual(idsOf(other))
  expect(await countsOf(store)).toMatchObject({ ids: 40, contents: 40 })
})
