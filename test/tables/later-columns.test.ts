// Data files and inbox objects of an earlier version of the service lack a column that has come since: they are
// read with nulls there, and the first value in it widens the schema of the table.
import { expect, test } from 'vitest'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { deltaLogPath, tablePath } from '../../pipeline/store/paths.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import { appendCommit, creationCommit } from '../../pipeline/tables/delta.ts'
import { TableLog } from '../../pipeline/tables/delta-log.ts'
import { putIntake } from '../../pipeline/tables/intake.ts'
import { plainParquet } from '../../pipeline/tables/plain-parquet.ts'
import { attachCurrent } from '../../pipeline/tables/views.ts'
import { type Row, tableSpec } from '../../schemas/tables.ts'
import { sealed } from '../support/commits.ts'
import { testFolder } from '../support/folder.ts'
import { openWorker, send, sendBytes } from '../support/tables.ts'
import { uuidOf } from '../support/worlds/world.ts'

const AT = new Date('2026-01-31T12:00:00.000Z')
const EARLIER = tableSpec('resolutions').columns.filter(({ name }) => name !== 'reason')
const row = (number: number, reason?: string): Row => ({
  question_id: uuidOf(1, number),
  outcome: 'yes',
  resolved_at: AT,
  ...(reason !== undefined && { reason }),
  recorded_at: AT,
})
const earlierRow = (number: number) => plainParquet(EARLIER, [row(number)])

test('rows of an earlier version have nulls in a later column, whose first value brings the schema', async () => {
  const store = new MemoryStore()
  using worker = await openWorker(store, await testFolder())
  const [first, second] = [0, 1].map((version) => deltaLogPath('resolutions', version)) as [string, string]
  const creation = new TextDecoder().decode(creationCommit('resolutions', 'an id', AT.getTime()))
  const field = /\{\\"name\\":\\"reason\\".*?\}\},/
  expect(creation).toMatch(field)
  await store.put(first, sealed(first, creation.replace(field, '')))
  const bytes = earlierRow(1)
  const path = 'recorded_date=2026-01-31/earlier.parquet'
  await store.put(tablePath('resolutions', path), bytes)
  const bounds = { recorded_at: AT.toISOString() }
  const stats = JSON.stringify({
    numRecords: 1,
    minValues: bounds,
    maxValues: bounds,
    nullCount: { outcome: 0 },
  })
  const file = {
    path,
    recordedDate: '2026-01-31',
    sizeBytes: bytes.byteLength,
    sha256: sha256Hex(bytes),
    stats,
  }
  await store.put(second, appendCommit('resolutions', 1, [file], AT.getTime()))
  await putIntake(store, 'resolutions', 1, ['inbox/resolutions/earlier.parquet'])
  await sendBytes(store, 'resolutions', 'waiting', earlierRow(2))
  await compact(worker, 'resolutions')
  await send(store, 'resolutions', 'later', [row(3, 'the source was wrong')])
  await compact(worker, 'resolutions')

  const log = new TableLog(store, 'resolutions')
  await log.refresh()
  await attachCurrent(worker.database, worker.local, { ...log.current, table: 'resolutions' })
  expect(
    await worker.database.rows(
      'SELECT question_id, outcome, reason FROM current_resolutions ORDER BY question_id',
    ),
  ).toEqual([
    { question_id: uuidOf(1, 1), outcome: 'yes', reason: null },
    { question_id: uuidOf(1, 2), outcome: 'yes', reason: null },
    { question_id: uuidOf(1, 3), outcome: 'yes', reason: 'the source was wrong' },
  ])
  const bringsSchema = [1, 2, 3].map((version) => {
    const commit = new TextDecoder().decode(store.objects.get(deltaLogPath('resolutions', version)))
    return field.test(commit)
  })
  expect(bringsSchema).toEqual([false, false, true])
})
