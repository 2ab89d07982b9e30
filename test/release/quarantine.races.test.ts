// The quarantine beside other runs, what it refuses, and what never needs it: objects that only seemed to be
// gone.
// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../pipeline/duckdb.ts'
import { quarantine } from '../../pipeline/release/quarantine.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import {
  QUARANTINE_PREFIX,
  deltaLogPath,
  inboxPath,
  inboxPrefix,
  intakePath,
  quarantinePath,
  quarantineRecordPath,
  snapshotManifestPath,
  tablePath,
} from '../../pipeline/store/paths.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import { readIntake } from '../../pipeline/tables/intake.ts'
import { listQuarantined } from '../../pipeline/tables/quarantine.ts'
import { FaultStore } from '../support/faults/fault-store.ts'
import { openSharedDatabase } from '../support/databases.ts'
import { testFolder } from '../support/folder.ts'
import { contentOf, flip, recordIn, setRecord } from '../support/store-content.ts'
import { sampleRows } from '../support/worlds/table-rows.ts'
import {
  type TroubledTable,
  cutOff,
  expectRowsOnce,
  rowsOf,
  threeObjects,
  workerOver,
} from '../support/worlds/troubled-table.ts'
import { currentVersion, pathsOf, readRows, send, workerOn } from '../support/tables.ts'
import type { Row } from '../../schemas/tables.ts'

const TABLE = 'forecasts'
const REASON = 'a disk of the store is failing'
let database: Database
let rivalDatabase: Database
beforeAll(async () => {
  const open = () => openSharedDatabase({ threads: 1, memoryLimit: '512MB' })
  ;[database, rivalDatabase] = await Promise.all([open(), open()])
})
afterAll(() => {
  for (const opened of [database, rivalDatabase]) opened[Symbol.dispose]()
})

/** Three objects wait, and an intake that names them all is written. */
async function decided(): Promise<TroubledTable> {
  const filled = await threeObjects(TABLE)
  await cutOff(database, filled, TABLE, 3)
  expect(await readIntake(filled.store, TABLE, 1)).toEqual(filled.objects)
  return filled
}

describe('an object of an intake that only seems to be gone', () => {
  test('is looked for again, and taken in', async () => {
    const { store, objects } = await decided()
    const bytes = store.objects.get(objects[1]!)!
    store.objects.delete(objects[1]!)
    const waits: number[] = []
    const wait = async (ms: number) => {
      if (waits.push(ms) === 3) store.objects.set(objects[1]!, bytes)
    }
    await compact({ ...(await workerOver(database, store)), wait }, TABLE)
    expect(waits).toEqual([200, 400, 800])
    await expectRowsOnce(database, store, TABLE, rowsOf(TABLE, 0, 1, 2))
  })

  test('is looked for again by the quarantine, which then leaves it alone', async () => {
    const { store, objects } = await decided()
    const bytes = store.objects.get(objects[1]!)!
    store.objects.delete(objects[1]!)
    const wait = async () => {
      store.objects.set(objects[1]!, bytes)
    }
    const worker = { ...(await workerOver(database, store)), wait }
    await expect(quarantine(worker, objects[1]!, REASON)).rejects.toMatchObject({ kind: 'conflict' })
    expect(await pathsOf(store, QUARANTINE_PREFIX)).toEqual([])
  })
})

describe('two objects of one intake, one damaged and one gone,', () => {
  test.for([0, 1])('are both recorded, whichever is moved aside first: %i', async (first) => {
    const { store, objects } = await decided()
    flip(store, objects[1]!)
    store.objects.delete(objects[2]!)
    const [one, other] = first === 0 ? [objects[1]!, objects[2]!] : [objects[2]!, objects[1]!]
    const worker = await workerOver(database, store)
    await quarantine(worker, one, REASON)
    // The gone one is known by then, but the damaged one is met again.
    if (first === 1) {
      await expect(compact(worker, TABLE)).rejects.toMatchObject({ kind: 'corrupt' })
      await quarantine(worker, other, REASON)
    }
    const listed = (await listQuarantined(store)).map(({ key, sha256 }) => [key, sha256 === null])
    expect(listed).toEqual([
      [objects[1], false],
      [objects[2], true],
    ])
    await compact(worker, TABLE)
    await expectRowsOnce(database, store, TABLE, rowsOf(TABLE, 0))
  })
})

describe('a run that has read everything before the damage', () => {
  /** Runs a compaction that does `meanwhile` before it calls the store for a path. */
  async function heldAt(store: MemoryStore, path: string, meanwhile: () => Promise<void>): Promise<void> {
    let held = false
    const slow = new FaultStore(store, {
      before: async (call) => {
        if (held || call.operation !== 'putIfAbsent' || call.path !== path) return
        held = true
        await meanwhile()
      },
    })
    await compact(await workerOver(rivalDatabase, slow), TABLE)
    expect(held).toBe(true)
  }

  test.for(['an object', 'the intake'])(
    'finds its version given up, and deletes its data files and no row, where %s was moved aside',
    async (what) => {
      const { store, objects } = await decided()
      const isIntake = what === 'the intake'
      const key = isIntake ? intakePath(TABLE, 1) : objects[1]!
      await heldAt(store, deltaLogPath(TABLE, 1), async () => {
        flip(store, key)
        await quarantine(await workerOver(database, store), key, REASON)
      })
      await expectRowsOnce(database, store, TABLE, rowsOf(TABLE, 0, ...(isIntake ? [1] : []), 2))
      expect(await currentVersion(store, TABLE)).toMatchObject({ version: 2 })
    },
  )

  test('commits before the quarantine gives up its version: the rows are in, and nothing is recorded', async () => {
    const { store, objects } = await decided()
    const rival = await workerOn(rivalDatabase, store, await testFolder())
    const whole = store.objects.get(objects[1]!)!
    flip(store, objects[1]!)
    const before = new FaultStore(store, {
      before: async ({ operation, path }) => {
        if (operation !== 'putIfAbsent' || path !== deltaLogPath(TABLE, 1)) return
        store.objects.set(objects[1]!, whole)
        await compact(rival, TABLE)
      },
    })
    await expect(quarantine(await workerOver(database, before), objects[1]!, REASON)).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('its rows are in the table') as string,
    })
    expect(await pathsOf(store, QUARANTINE_PREFIX)).toEqual([])
    await expectRowsOnce(database, store, TABLE, rowsOf(TABLE, 0, 1, 2))
  })

  test('commits before the version of a damaged intake is given up: its rows are in once, and the intake is recorded', async () => {
    const { store } = await decided()
    const key = intakePath(TABLE, 1)
    const rival = await workerOn(rivalDatabase, store, await testFolder())
    const whole = store.objects.get(key)!
    flip(store, key)
    const damaged = store.objects.get(key)!
    const before = new FaultStore(store, {
      before: async ({ operation, path }) => {
        if (operation !== 'putIfAbsent' || path !== deltaLogPath(TABLE, 1)) return
        store.objects.set(key, whole)
        await compact(rival, TABLE)
        store.objects.set(key, damaged)
      },
    })
    await quarantine(await workerOver(database, before), key, REASON)
    expect(await listQuarantined(store)).toMatchObject([{ key, version: null }])
    await compact(await workerOver(database, store), TABLE)
    await expectRowsOnce(database, store, TABLE, rowsOf(TABLE, 0, 1, 2))
  })
})

describe('a version whose intake was moved aside', () => {
  test('is known by its rows where a fast clock has recorded them later than they say', async () => {
    const store = new MemoryStore()
    const table = 'resolutions'
    const first = sampleRows(table, 10).map((row) => ({
      ...row,
      recorded_at: new Date('2026-05-01T00:00:00.000Z'),
    }))
    await send(store, table, 'fast', first)
    await compact(await workerOver(database, store), table)
    for (const part of [1, 2]) await send(store, table, `object-${part}`, sampleRows(table, 10, part * 10))
    // The intake, the data file and the commit are written; of the objects none is deleted.
    await cutOff(database, { store }, table, 4)
    await send(store, table, 'later', sampleRows(table, 10, 30))
    flip(store, intakePath(table, 2))
    await quarantine(await workerOver(database, store), intakePath(table, 2), REASON)
    await compact(await workerOver(database, store), table)
    const ids = (rows: readonly Row[]) => rows.map((row) => String(row['question_id'])).sort()
    const worker = await workerOver(database, store)
    expect(ids(await readRows(worker, table))).toEqual(ids(sampleRows(table, 40)))
    expect(await pathsOf(store, inboxPrefix(table))).toEqual([])
  })
})

describe('a quarantine', () => {
  test('takes an object that was put back whole and is damaged again', async () => {
    const { store, objects } = await decided()
    const whole = store.objects.get(objects[0]!)!
    flip(store, objects[0]!)
    const damaged = store.objects.get(objects[0]!)!
    const worker = await workerOver(database, store)
    await quarantine(worker, objects[0]!, REASON)
    store.objects.set(objects[0]!, whole)
    await cutOff(database, { store }, TABLE, 2)
    expect(await readIntake(store, TABLE, 2)).toEqual(objects)
    store.objects.set(objects[0]!, damaged)
    await expect(compact(await workerOver(database, store), TABLE)).rejects.toMatchObject({ kind: 'corrupt' })
    await quarantine(await workerOver(database, store), objects[0]!, REASON)
    await compact(await workerOver(database, store), TABLE)
    await expectRowsOnce(database, store, TABLE, rowsOf(TABLE, 1, 2))
  })

  test('lets an object that was put back whole be taken in', async () => {
    const { store, objects } = await decided()
    const whole = store.objects.get(objects[0]!)!
    flip(store, objects[0]!)
    const worker = await workerOver(database, store)
    await quarantine(worker, objects[0]!, REASON)
    await compact(worker, TABLE)
    store.objects.set(objects[0]!, whole)
    await compact(await workerOver(database, store), TABLE)
    await expectRowsOnce(database, store, TABLE, rowsOf(TABLE, 0, 1, 2))
  })

  test('writes a damaged record anew', async () => {
    const { store, objects } = await decided()
    flip(store, objects[0]!)
    const worker = await workerOver(database, store)
    const { object } = await quarantine(worker, objects[0]!, REASON)
    flip(store, quarantineRecordPath(objects[0]!))
    await expect(listQuarantined(store)).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringContaining(`fvs quarantine ${objects[0]} --reason TEXT`) as string,
    })
    await quarantine(worker, objects[0]!, 'said again')
    expect(await listQuarantined(store)).toEqual([{ ...object, reason: 'said again', version: null }])
  })

  test('refuses what can be read, what was taken in, what is not there and what is of another kind', async () => {
    const { store, objects } = await decided()
    const worker = await workerOver(database, store)
    await send(store, TABLE, 'waits', rowsOf(TABLE, 4))
    const [waits] = (await pathsOf(store, inboxPrefix(TABLE))).filter((path) => !objects.includes(path))
    const refused = async (key: string, kind: string, message: RegExp) => {
      const before = await contentOf(store)
      await expect(quarantine(worker, key, REASON), key).rejects.toMatchObject({
        kind,
        message: expect.stringMatching(message) as string,
      })
      expect(await contentOf(store), key).toEqual(before)
    }
    for (const key of [objects[0]!, waits!, intakePath(TABLE, 1)]) {
      await refused(key, 'conflict', /can be read on this machine, .* what it holds would be lost/)
    }
    for (const key of [
      inboxPath(TABLE, 'nowhere', new Uint8Array()),
      intakePath(TABLE, 2),
      intakePath('agents', 1),
      snapshotManifestPath('2026-03-01'),
    ]) {
      await refused(key, 'notFound', /nothing waits for it/)
    }
    for (const key of [
      deltaLogPath(TABLE, 0),
      tablePath(TABLE, 'recorded_date=2026-01-31/forecasts-1-0-0.parquet'),
      'inbox/forecasts/readme.txt',
      'inbox/nothing/object.parquet',
      'snapshots/2026-03-01/agent/x.json',
      'releases/00000001/manifest.json',
      quarantinePath(objects[0]!),
      '../inbox/forecasts/x.parquet',
      'inbox/forecasts/../x.parquet',
      '',
    ]) {
      await refused(key, 'invalid', /only inbox objects .* can\. Restore anything else from a backup/)
    }
    // Committed, and cut off before the objects are deleted.
    await cutOff(database, { store }, TABLE, 5)
    flip(store, objects[1]!)
    await refused(objects[1]!, 'conflict', /its rows are in the table/)
    await compact(await workerOver(database, store), TABLE)
    await expectRowsOnce(database, store, TABLE, rowsOf(TABLE, 0, 1, 2, 4))
  })

  test('of an object that an intake is to be moved aside before says so', async () => {
    const { store, objects } = await decided()
    flip(store, objects[0]!)
    setRecord(store, intakePath(TABLE, 1), { ...recordIn(store, intakePath(TABLE, 1)), more: 1 })
    await expect(quarantine(await workerOver(database, store), objects[0]!, REASON)).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringContaining(`fvs quarantine ${intakePath(TABLE, 1)} --reason TEXT`) as string,
    })
    expect(await pathsOf(store, QUARANTINE_PREFIX)).toEqual([])
    for (const key of [intakePath(TABLE, 1), objects[0]!])
      await quarantine(await workerOver(database, store), key, REASON)
    await compact(await workerOver(database, store), TABLE)
    await expectRowsOnce(database, store, TABLE, rowsOf(TABLE, 1, 2))
  })
})
