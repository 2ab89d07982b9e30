// A table of forecasts that an earlier version created has a probability in every row: the first withdrawal
// widens its schema, for readers of the log and of a checkpoint.
import { expect, test } from 'vitest'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { deltaLogPath } from '../../pipeline/store/paths.ts'
import { writeCheckpoint } from '../../pipeline/tables/checkpoint.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import { creationCommit } from '../../pipeline/tables/delta.ts'
import { TableLog } from '../../pipeline/tables/delta-log.ts'
import type { Row } from '../../schemas/tables.ts'
import { sealed } from '../support/commits.ts'
import { testFolder } from '../support/folder.ts'
import { openWorker, send } from '../support/tables.ts'
import { uuidOf } from '../support/worlds/world.ts'

const AT = new Date('2026-03-01T12:00:00.000Z')

const forecast = (number: number, probability: number | null): Row => ({
  forecast_id: uuidOf(4, number),
  entity_type: 'forecaster',
  entity_id: uuidOf(2, 1),
  question_id: uuidOf(1, 1),
  probability,
  forecast_at: AT,
  recorded_at: AT,
  source: 'import',
})

/** The commit of a version, an action a line. */
function actionsOf(store: MemoryStore, version: number): Record<string, { schemaString?: string }>[] {
  const text = new TextDecoder().decode(store.objects.get(deltaLogPath('forecasts', version)))
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, { schemaString?: string }>)
}

const nullableIn = ({ schemaString }: { schemaString?: string }): boolean => {
  const { fields } = JSON.parse(schemaString!) as { fields: { name: string; nullable: boolean }[] }
  return fields.find(({ name }) => name === 'probability')!.nullable
}

test('a table that takes withdrawals from the beginning keeps its metadata', async () => {
  const store = new MemoryStore()
  using worker = await openWorker(store, await testFolder())
  await send(store, 'forecasts', 'a', [forecast(1, 0.5), forecast(2, null)])
  await compact(worker, 'forecasts')
  expect([0, 1].map((version) => actionsOf(store, version).some((action) => 'metaData' in action))).toEqual([
    true,
    false,
  ])
})

test('the first withdrawal brings the schema, and no other commit does', async () => {
  const store = new MemoryStore()
  using worker = await openWorker(store, await testFolder())
  const creation = new TextDecoder().decode(creationCommit('forecasts', 'an id', AT.getTime()))
  const strict = creation.replace(
    String.raw`\"name\":\"probability\",\"type\":\"double\",\"nullable\":true`,
    String.raw`\"name\":\"probability\",\"type\":\"double\",\"nullable\":false`,
  )
  expect(strict).not.toBe(creation)
  const first = deltaLogPath('forecasts', 0)
  await store.put(first, sealed(first, strict))
  await send(store, 'forecasts', 'a', [forecast(1, 0.5)])
  await compact(worker, 'forecasts')
  await send(store, 'forecasts', 'b', [forecast(2, null)])
  await compact(worker, 'forecasts')
  const metaData = [0, 1, 2].map(
    (version) => actionsOf(store, version).find((action) => 'metaData' in action)?.['metaData'],
  )
  expect(metaData.map((found) => found && nullableIn(found))).toEqual([false, undefined, true])
  expect({ ...metaData[2], schemaString: '' }).toEqual({ ...metaData[0], schemaString: '' })
  const log = new TableLog(store, 'forecasts')
  await log.refresh()
  await writeCheckpoint(worker, log.current)
  const read = await new TableLog(store, 'forecasts').readTo()
  expect(read.files.map(({ version }) => version)).toEqual([1, 2])
})
