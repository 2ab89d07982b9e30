// Rows that are offered to one version of a table: taken in alone, or not at all.
import { expect, test } from 'vitest'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { offerPath, offersPrefix } from '../../pipeline/store/paths.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import { encodeRows } from '../../pipeline/tables/inbox.ts'
import { forgetVoid, offer } from '../../pipeline/tables/offer.ts'
import { testFolder } from '../support/folder.ts'
import { currentVersion, openWorker, pathsOf, readRows, send } from '../support/tables.ts'
import { sampleRows } from '../support/worlds/table-rows.ts'
import { uuidOf } from '../support/worlds/world.ts'

const ID = uuidOf(9, 1)

test('waits for nobody, and leaves what is in the inbox', async () => {
  const store = new MemoryStore()
  using worker = await openWorker(store, await testFolder())
  const waiting = await send(store, 'questions', 'waiting', sampleRows('questions', 1, 1))
  const seen = await currentVersion(store, 'questions')
  expect(await offer(worker, seen, ID, encodeRows('questions', sampleRows('questions', 1)))).toBe(1)
  expect(await readRows(worker, 'questions')).toHaveLength(1)
  expect(await pathsOf(store, 'inbox/')).toEqual([waiting])
  expect(await pathsOf(store, offersPrefix('questions'))).toEqual([])
})

test('is refused once the table has other rows, and what is void is deleted', async () => {
  const store = new MemoryStore()
  using worker = await openWorker(store, await testFolder())
  const seen = await currentVersion(store, 'questions')
  await send(store, 'questions', 'rival', sampleRows('questions', 1, 1))
  await compact(worker, 'questions')
  const bytes = encodeRows('questions', sampleRows('questions', 1))
  await store.putIfAbsent(offerPath('questions', 1, ID, bytes), bytes)
  expect(await offer(worker, seen, ID, bytes)).toBeUndefined()
  await forgetVoid(store, await currentVersion(store, 'questions'))
  expect(await readRows(worker, 'questions')).toHaveLength(1)
  expect(await pathsOf(store, offersPrefix('questions'))).toEqual([])
})

test('of forecasts is not refused for forecasts of agents, and is for those of people', async () => {
  const store = new MemoryStore()
  using worker = await openWorker(store, await testFolder())
  const rows = (entity_type: string, from: number, source = 'api') =>
    sampleRows('forecasts', 1, from).map((row) => ({ ...row, entity_type, source }))
  const seen = await currentVersion(store, 'forecasts')
  await send(store, 'forecasts', 'of-the-api', rows('agent', 1))
  await compact(worker, 'forecasts')
  expect(await offer(worker, seen, ID, encodeRows('forecasts', rows('forecaster', 0, 'import')))).toBe(2)
  expect(
    await offer(worker, seen, ID, encodeRows('forecasts', rows('forecaster', 2, 'import'))),
  ).toBeUndefined()
  const now = await currentVersion(store, 'forecasts')
  await send(store, 'forecasts', 'of-people', rows('forecaster', 3))
  await compact(worker, 'forecasts')
  expect(
    await offer(worker, now, ID, encodeRows('forecasts', rows('forecaster', 4, 'import'))),
  ).toBeUndefined()
  expect(await readRows(worker, 'forecasts')).toHaveLength(3)
})
