// The quarantine beside other runs, what it refuses, and what never needs it: objects that only seemed to be
// gone.
// @module-tag slow
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Database } from '../../pipeline/duckdb.ts'
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
import type { Store, StoredObject } from '../../pipeline/store/store.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import type { CompactionContext } from '../../pipeline/tables/data-files.ts'
import { readIntake } from '../../pipeline/tables/intake.ts'
import { listQuarantined } from '../../pipeline/tables/quarantine.ts'
import { FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder, testFolder } from '../support/folder.ts'
import { contentOf, recordIn, setRecord } from '../support/store-content.ts'
import { rowTexts, sampleRows } from '../support/worlds/table-rows.ts'
import { currentVersion, globRows, pathsOf, readRows, send, sendBroken, workerOn } from '../support/tables.ts'
import type { Row, TableName } from '../../schemas/tables.ts'

const TABLE = 'forecasts'
const REASON = 'a disk of the store is failing'
const spill = await suiteFolder()
let database: Database
let rivalDatabase: Database
beforeAll(async () => {
  const open = () => Database.open({ threads: 1, memoryLimit: '512MB', directory: spill })
  ;[database, rivalDatabase] = await Promise.all([open(), open()])
})
afterAll(() => {
  for (const opened of [database, rivalDatabase]) opened[Symbol.dispose]()
})

const workerOver = async (store: Store, on = database): Promise<CompactionContext> =>
  workerOn(on, store, await testFolder())

const rowsOf = (...parts: number[]) => parts.flatMap((part) => sampleRows(TABLE, 10, part * 10))

/** Three objects wait, and an intake that names them all is written. */
async function decided(): Promise<{ store: MemoryStore; objects: string[] }> {
  const store = new MemoryStore()
  const objects: string[] = []
  for (const part of [0, 1, 2]) objects.push(await send(store, TABLE, `object-${part}`, rowsOf(part)))
  const broken = new FaultStore(store, { at: 3, fault: 'failed', crash: true })
  await expect(compact(await workerOver(broken), TABLE)).rejects.toMatchObject({ kind: 'unavailable' })
  expect(await readIntake(store, TABLE, 1)).toEqual(objects)
  return { store, objects }
}

function flip({ objects }: MemoryStore, path: string): void {
  const bytes = objects.get(path)!
  objects.set(path, bytes.with(bytes.length >> 1, bytes[bytes.length >> 1]! ^ 1))
}

async function expectRowsOnce(
  store: Store,
  expected: readonly Row[],
  table: TableName = TABLE,
): Promise<void> {
  const worker = await workerOver(store)
  expect(rowTexts(table, await readRows(worker, table))).toEqual(rowTexts(table, expected))
  expect(rowTexts(table, await globRows(worker, table))).toEqual(rowTexts(table, expected))
  expect(await pathsOf(store, inboxPrefix(table))).toEqual([])
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
    await compact({ ...(await workerOver(store)), wait }, TABLE)
    expect(waits).toEqual([200, 400, 800])
    await expectRowsOnce(store, rowsOf(0, 1, 2))
  })

  test('is looked for again by the quarantine, which then leaves it alone', async () => {
    const { store, objects } = await decided()
    const bytes = store.objects.get(objects[1]!)!
    store.objects.delete(objects[1]!)
    const wait = async () => {
      store.objects.set(objects[1]!, bytes)
    }
    const worker = { ...(await workerOver(store)), wait }
    await expect(quarantine(worker, objects[1]!, REASON)).rejects.toMatchObject({ kind: 'conflict' })
    expect(await pathsOf(store, QUARANTINE_PREFIX)).toEqual([])
  })

  test('was not there when the intake was decided: a stale listing names it, and a copy of it is left on the machine', async () => {
    const store = new MemoryStore()
    const taken = await send(store, TABLE, 'taken', rowsOf(0))
    const folder = await testFolder()
    const late = await workerOn(database, store, join(folder, 'late'))
    const cutOff = new FaultStore(store, { at: 2, fault: 'failed', crash: true })
    await expect(compact({ ...late, store: cutOff }, TABLE)).rejects.toMatchObject({ kind: 'unavailable' })
    await compact(await workerOn(rivalDatabase, store, join(folder, 'rival')), TABLE)
    await send(store, TABLE, 'since', rowsOf(1))
    await compact(await workerOn(rivalDatabase, store, join(folder, 'rival')), TABLE)
    await send(store, TABLE, 'waiting', rowsOf(2))
    const stale = new FaultStore(store)
    stale.list = async function* (prefix: string, after?: string): AsyncIterable<StoredObject> {
      if (prefix === inboxPrefix(TABLE)) yield { path: taken, sizeBytes: 1, modifiedAt: new Date(0) }
      yield* store.list(prefix, after)
    }
    await compact({ ...late, store: stale }, TABLE)
    await expectRowsOnce(store, rowsOf(0, 1, 2))
  })
})

describe('two objects of one intake, one damaged and one gone,', () => {
  test.for([0, 1])('are both recorded, whichever is moved aside first: %i', async (first) => {
    const { store, objects } = await decided()
    flip(store, objects[1]!)
    store.objects.delete(objects[2]!)
    const [one, other] = first === 0 ? [objects[1]!, objects[2]!] : [objects[2]!, objects[1]!]
    const worker = await workerOver(store)
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
    await expectRowsOnce(store, rowsOf(0))
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
    await compact(await workerOver(slow, rivalDatabase), TABLE)
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
        await quarantine(await workerOver(store), key, REASON)
      })
      await expectRowsOnce(store, isIntake ? rowsOf(0, 1, 2) : rowsOf(0, 2))
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
    await expect(quarantine(await workerOver(before), objects[1]!, REASON)).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('its rows are in the table') as string,
    })
    expect(await pathsOf(store, QUARANTINE_PREFIX)).toEqual([])
    await expectRowsOnce(store, rowsOf(0, 1, 2))
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
    await quarantine(await workerOver(before), key, REASON)
    expect(await listQuarantined(store)).toMatchObject([{ key, version: null }])
    await compact(await workerOver(store), TABLE)
    await expectRowsOnce(store, rowsOf(0, 1, 2))
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
    await compact(await workerOver(store), table)
    for (const part of [1, 2]) await send(store, table, `object-${part}`, sampleRows(table, 10, part * 10))
    // The intake, the data file and the commit are written; of the objects none is deleted.
    const broken = new FaultStore(store, { at: 4, fault: 'failed', crash: true })
    await expect(compact(await workerOver(broken), table)).rejects.toMatchObject({ kind: 'unavailable' })
    await send(store, table, 'later', sampleRows(table, 10, 30))
    flip(store, intakePath(table, 2))
    await quarantine(await workerOver(store), intakePath(table, 2), REASON)
    await compact(await workerOver(store), table)
    const ids = (rows: readonly Row[]) => rows.map((row) => String(row['question_id'])).sort()
    const worker = await workerOver(store)
    expect(ids(await readRows(worker, table))).toEqual(ids(sampleRows(table, 40)))
    expect(await pathsOf(store, inboxPrefix(table))).toEqual([])
  })
})

describe('a version whose intake was moved aside, beside an object that is not Parquet,', () => {
  test('names that object, and is known by its rows without it', async () => {
    const { store } = await decided()
    const key = intakePath(TABLE, 1)
    // The data files and the commit are written; of the objects none is deleted.
    const broken = new FaultStore(store, { at: 5, fault: 'failed', crash: true })
    await expect(compact(await workerOver(broken), TABLE)).rejects.toMatchObject({ kind: 'unavailable' })
    flip(store, key)
    const stray = await sendBroken(store, TABLE)
    await quarantine(await workerOver(store), key, REASON)
    await expect(compact(await workerOver(store), TABLE)).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringContaining(`fvs quarantine ${stray} --reason TEXT`) as string,
    })
    await quarantine(await workerOver(store), stray, REASON)
    await compact(await workerOver(store), TABLE)
    await expectRowsOnce(store, rowsOf(0, 1, 2))
  })
})

describe('a quarantine', () => {
  test('done again changes nothing, and keeps what was recorded first', async () => {
    const { store, objects } = await decided()
    flip(store, objects[0]!)
    const worker = await workerOver(store)
    const first = await quarantine(worker, objects[0]!, REASON)
    const content = await contentOf(store)
    const second = await quarantine(worker, objects[0]!, 'another reason')
    expect(second).toEqual({ ...first, was_recorded: true })
    expect(await contentOf(store)).toEqual(content)
  })

  test('records how many rows a damaged object says it has', async () => {
    const { store, objects } = await decided()
    flip(store, objects[0]!)
    const { object } = await quarantine(await workerOver(store), objects[0]!, REASON)
    expect(object).toMatchObject({ rows: 10, version: 1 })
  })

  test('takes an object that was put back whole and is damaged again', async () => {
    const { store, objects } = await decided()
    const whole = store.objects.get(objects[0]!)!
    flip(store, objects[0]!)
    const damaged = store.objects.get(objects[0]!)!
    const worker = await workerOver(store)
    await quarantine(worker, objects[0]!, REASON)
    store.objects.set(objects[0]!, whole)
    const cutOff = new FaultStore(store, { at: 2, fault: 'failed', crash: true })
    await expect(compact({ ...worker, store: cutOff }, TABLE)).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await readIntake(store, TABLE, 2)).toEqual(objects)
    store.objects.set(objects[0]!, damaged)
    await expect(compact(await workerOver(store), TABLE)).rejects.toMatchObject({ kind: 'corrupt' })
    await quarantine(await workerOver(store), objects[0]!, REASON)
    await compact(await workerOver(store), TABLE)
    await expectRowsOnce(store, rowsOf(1, 2))
  })

  test('lets an object that was put back whole be taken in', async () => {
    const { store, objects } = await decided()
    const whole = store.objects.get(objects[0]!)!
    flip(store, objects[0]!)
    const worker = await workerOver(store)
    await quarantine(worker, objects[0]!, REASON)
    await compact(worker, TABLE)
    store.objects.set(objects[0]!, whole)
    await compact(await workerOver(store), TABLE)
    await expectRowsOnce(store, rowsOf(0, 1, 2))
  })

  test('writes a damaged record anew', async () => {
    const { store, objects } = await decided()
    flip(store, objects[0]!)
    const worker = await workerOver(store)
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
    const worker = await workerOver(store)
    await send(store, TABLE, 'waits', rowsOf(4))
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
    const cutOff = new FaultStore(store, { at: 5, fault: 'failed', crash: true })
    await expect(compact({ ...worker, store: cutOff }, TABLE)).rejects.toMatchObject({ kind: 'unavailable' })
    flip(store, objects[1]!)
    await refused(objects[1]!, 'conflict', /its rows are in the table/)
    await compact(await workerOver(store), TABLE)
    await expectRowsOnce(store, rowsOf(0, 1, 2, 4))
  })

  test('of an object that an intake is to be moved aside before says so', async () => {
    const { store, objects } = await decided()
    flip(store, objects[0]!)
    setRecord(store, intakePath(TABLE, 1), { ...recordIn(store, intakePath(TABLE, 1)), more: 1 })
    await expect(quarantine(await workerOver(store), objects[0]!, REASON)).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringContaining(`fvs quarantine ${intakePath(TABLE, 1)} --reason TEXT`) as string,
    })
    expect(await pathsOf(store, QUARANTINE_PREFIX)).toEqual([])
    for (const key of [intakePath(TABLE, 1), objects[0]!])
      await quarantine(await workerOver(store), key, REASON)
    await compact(await workerOver(store), TABLE)
    await expectRowsOnce(store, rowsOf(1, 2))
  })
})
