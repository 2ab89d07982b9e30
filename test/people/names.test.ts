// The names of people: what a store has of them, and what is left of one that was taken back.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { copyNames } from '../../pipeline/people/copied-names.ts'
import { type NameChange, PeopleNames, changeNames } from '../../pipeline/people/names.ts'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { deltaLogPath, inboxPath, intakePath, tablePath } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { appendCommit, creationCommit } from '../../pipeline/tables/delta.ts'
import { FAULTS, FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, importRows, testComponents } from '../support/http/service.ts'
import { namesOf } from '../support/people.ts'
import { contentOf, setRecord } from '../support/store-content.ts'
import { NOW, uuidOf } from '../support/worlds/world.ts'

const folder = await suiteFolder()
const ERASED: NameChange = { erased: { erased_at: NOW, reason: 'asked for it' } }
const change = (store: Store, userId: string, to: NameChange) => changeNames(store, new Map([[userId, to]]))
/** Two people of one shard, and one of another. */
const [ADA, EVE, BOB] = [uuidOf(1, 0x01ff), uuidOf(1, 0x02ff), uuidOf(1, 0x0100)]

const textIn = ({ objects }: MemoryStore) =>
  [...objects.values()].map((bytes) => Buffer.from(bytes).toString('latin1')).join('\n')

test('rivals lose no name of each other, and none brings back a name that was taken back', () => {
  const said = fc.record({ of: fc.constantFrom(ADA, EVE, BOB), as: fc.constantFrom('one', 'two', null) })
  return fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(said, { maxLength: 5 }), async (scheduler, changes) => {
      const store = new MemoryStore()
      const rival = () => new FaultStore(store, { before: () => scheduler.schedule(Promise.resolve()) })
      const work = [
        change(rival(), ADA, ERASED),
        ...changes.map(({ of, as }) => change(rival(), of, { name: as && `the name ${as}` })),
      ]
      await scheduler.waitFor(Promise.all(work))
      const [ada, ...others] = await namesOf(store, [ADA, EVE, BOB])
      expect(ada).toBeNull()
      for (const [index, of] of [EVE, BOB].entries()) {
        const names = changes.filter((one) => one.of === of).map(({ as }) => as && `the name ${as}`)
        expect(names.length === 0 ? [null] : names).toContain(others[index])
      }
      const left = others.filter((name) => name !== null)
      expect(textIn(store).match(/the name/g)?.length ?? 0).toBe(left.length)
    }),
    { numRuns: 60 },
  )
})

test('an erasure that fails at any write, in both ways, is complete once it is repeated', async () => {
  for (const fault of FAULTS) {
    for (let at = 1; ; at++) {
      const store = new MemoryStore()
      await change(store, ADA, { name: 'Ada' })
      await change(store, EVE, { name: 'Eve' })
      const faulty = new FaultStore(store, { at, fault, crash: true })
      await change(faulty, ADA, ERASED).catch(() => undefined)
      if (!faulty.failed) break
      await change(store, ADA, ERASED)
      expect(textIn(store)).not.toContain('Ada')
      expect(await namesOf(store, [ADA, EVE])).toEqual([null, 'Eve'])
    }
  }
})

test('a look that finds nothing new is one listing, and one that does reads what is new', async () => {
  const store = new MemoryStore()
  for (const [id, name] of [
    [ADA, 'Ada'],
    [BOB, 'Bob'],
  ] as const)
    await change(store, id, { name })
  const watched = new FaultStore(store)
  const names = new PeopleNames(watched)
  await names.refresh()
  const { version } = names
  watched.calls.length = 0
  await names.refresh()
  expect(watched.calls.map(({ operation }) => operation)).toEqual(['list'])
  expect(names.version).toBe(version)
  await change(store, ADA, ERASED)
  await names.refresh()
  expect(watched.count('get')).toBe(1)
  expect(names.version).not.toBe(version)
  expect([names.nameOf(ADA), names.nameOf(BOB)]).toEqual([null, 'Bob'])
})

/** Adds a version to the table of forecasters, with names, as versions before 3.0 did. */
async function addNamed(store: MemoryStore, version: number, rows: string): Promise<void> {
  const { openDatabase, directory } = await testComponents({ store, folder, clock: new Clock(NOW) })
  const file = join(directory, `named-${version}.parquet`)
  await withDatabase(openDatabase, (database) =>
    database.run(
      `COPY (SELECT user_id, display_name, recorded_at::TIMESTAMPTZ AS recorded_at
         FROM (VALUES ${rows}) AS said(user_id, display_name, recorded_at)) TO '${file}' (FORMAT parquet)`,
    ),
  )
  const bytes = await readFile(file)
  const path = `recorded_date=2026-01-01/forecasters-${version}-old-0.parquet`
  const stats = JSON.stringify({
    numRecords: 2,
    minValues: { display_name: 'A' },
    maxValues: { recorded_at: NOW },
    nullCount: {},
  })
  const added = { path, recordedDate: '2026-01-01', sizeBytes: bytes.length, sha256: sha256Hex(bytes), stats }
  const nowMs = Date.parse(NOW)
  setRecord(store, intakePath('forecasters', version), {
    inbox: [inboxPath('forecasters', uuidOf(9, version), bytes)],
  })
  store.objects.set(tablePath('forecasters', path), bytes)
  store.objects.set(deltaLogPath('forecasters', 0), creationCommit('forecasters', uuidOf(9, 1), nowMs))
  store.objects.set(
    deltaLogPath('forecasters', version),
    appendCommit('forecasters', version, [added], nowMs),
  )
}

test('the names of an older store are copied once, by whatever comes first, and the table goes on', async () => {
  const store = new MemoryStore()
  await addNamed(store, 1, `('${ADA}', 'Ada', '2026-01-01'), ('${EVE}', 'Eve', '2026-01-01')`)
  await addNamed(store, 2, `('${EVE}', NULL, '2026-01-02'), ('${BOB}', 'Bob', '2026-01-02')`)
  const components = await testComponents({ store, folder, clock: new Clock(NOW) })
  const copy = () => copyNames(components, (work) => withDatabase(components.openDatabase, work))
  await Promise.all([copy(), copy(), change(store, BOB, ERASED)])
  expect(await namesOf(store, [ADA, EVE, BOB])).toEqual(['Ada', null, null])
  const content = await contentOf(store)
  await copy()
  expect(await contentOf(store)).toEqual(content)
  const csv = `user_id,display_name\n${EVE},Eve\n${BOB},Bob\n${uuidOf(1, 1)},New\n`
  expect(await importRows(components, 'forecasters', csv)).toMatchObject({
    added: 1,
    changed: 1,
    unchanged: 1,
  })
  expect(await namesOf(store, [ADA, EVE, BOB])).toEqual(['Ada', 'Eve', null])
})
