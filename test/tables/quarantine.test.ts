// What the record of an object that was moved aside says of the forecasts in it, however it is damaged.
import { describe, expect, test } from 'vitest'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { inboxPath } from '../../pipeline/store/paths.ts'
import { encodeRows } from '../../pipeline/tables/inbox.ts'
import { recordAside } from '../../pipeline/tables/quarantine.ts'
import { uuidOf } from '../support/worlds/world.ts'

const BATCH = '019ca944-1fa0-7c01-9d5e-1f2a3b4c5d6e'
const idOf = (number: number) => `019ca944-1fa0-7a90-8b3e-6a7d5c4f3e2${number}`
const AT = new Date('2026-03-01T12:00:00.000Z')

const rowOf = (forecast_id: string) => ({
  forecast_id,
  entity_type: 'agent',
  entity_id: uuidOf(4, 1),
  question_id: uuidOf(1, 1),
  probability: 0.5,
  forecast_at: AT,
  recorded_at: AT,
  source: 'api',
})
// The last is of an import.
const bytes = encodeRows('forecasts', [idOf(1), idOf(2), uuidOf(3, 1)].map(rowOf))
const key = inboxPath('forecasts', BATCH, bytes)

async function recorded(found: Uint8Array, path = key) {
  const store = new MemoryStore()
  store.objects.set(path, found)
  return recordAside(store, { key: path, at: AT.toISOString(), reason: 'damaged', version: null }, true)
}

describe('the record of a damaged inbox object', () => {
  test('names its batch, and the forecasts of the API in it', async () => {
    const { key: named, forecast_ids } = await recorded(bytes)
    expect(named).toContain(BATCH)
    expect(forecast_ids).toEqual([idOf(1), idOf(2)])
  })

  test('names them wherever another column is damaged', async () => {
    let named = 0
    for (let at = 0; at < bytes.length; at += 5) {
      const { forecast_ids } = await recorded(bytes.with(at, bytes[at]! ^ 0xff))
      if (String(forecast_ids) === String([idOf(1), idOf(2)])) named += 1
    }
    expect(named).toBeGreaterThan(bytes.length / 5 / 4)
  })

  test('says nothing of them where nothing can be read, and of other tables', async () => {
    expect(await recorded(bytes.subarray(0, 100))).not.toHaveProperty('forecast_ids')
    expect(await recorded(bytes, inboxPath('agents', BATCH, bytes))).not.toHaveProperty('forecast_ids')
  })
})
