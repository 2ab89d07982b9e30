import { join } from 'node:path'
import { v7 as uuidv7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Database } from '../../pipeline/duckdb.ts'
import { FileStore } from '../../pipeline/store/file.ts'
import { inboxPrefix, tablePath } from '../../pipeline/store/paths.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { LocalFiles } from '../../pipeline/store/local-files.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import type { CompactionContext } from '../../pipeline/tables/data-files.ts'
import {
  type UsageContext,
  type UsageEntry,
  UsageLog,
  readMonthlyUsage,
} from '../../pipeline/access/usage.ts'
import { FAULTS, FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder, testFolder } from '../support/folder.ts'
import { currentVersion, pathsOf, readRows, workerOn } from '../support/tables.ts'
import { statisticsOf } from '../../pipeline/tables/delta.ts'
import { localPath } from '../../pipeline/tables/delta-log.ts'
import { sendBroken } from '../support/tables.ts'

const NOW = '2026-03-15T12:00:00.000Z'
const MARCH = '2026-03'

/** Of the compactions of every test: they leave nothing in it that the next would find. */
let database: Database
const spill = await suiteFolder()
beforeAll(async () => {
  database = await openDatabaseIn(spill)()
})
afterAll(() => {
  database[Symbol.dispose]()
})

type NewStore = (folder: string) => Store | Promise<Store>
const stores: Record<string, NewStore> = {
  'a store in memory': () => new MemoryStore(),
  'a store in a directory': (folder) => FileStore.begin(join(folder, 'store')),
}

describe.for(Object.entries(stores))('calls counted over %s', ([, createStore]) => {
  test('are one row for each key, account, tier and day, and are read back by account', async () => {
    const { worker, context, log, store } = await setUp(createStore)
    count(log, 3, { keyId: 'key-1', accountId: 'ada', tier: 'free' })
    count(log, 2, { keyId: 'key-1', accountId: 'ada', tier: 'pro' })
    count(log, 4, { keyId: 'key-2', accountId: 'ada', tier: 'pro' })
    count(log, 1, { keyId: 'key-2', accountId: 'ada', tier: 'pro', day: '2026-03-14' })
    count(log, 5, { keyId: 'key-3', accountId: 'bob', tier: 'enterprise' })
    expect(log.pending).toBe(15)
    await log.flush()
    expect(log.pending).toBe(0)
    const used = { ada: 10, bob: 5 }
    expect(await pathsOf(store, inboxPrefix('usage'))).toHaveLength(1)
    expect(await usedIn(context, MARCH), 'in the inbox').toEqual(used)

    await compact(worker, 'usage')
    expect(await pathsOf(store, inboxPrefix('usage'))).toEqual([])
    expect(await usedIn(context, MARCH), 'in the table').toEqual(used)
    const row = (key_id: string, account_id: string, tier: string, day: string, calls: number) => {
      return {
        usage_id: expect.any(String),
        key_id,
        account_id,
        tier,
        day,
        calls,
        recorded_at: new Date(NOW),
      }
    }
    const rows = await readRows(worker, 'usage')
    expect(rows.filter((found) => found['key_id'] === 'key-1')).toHaveLength(2)
    expect(rows).toHaveLength(5)
    expect(rows).toEqual(
      expect.arrayContaining([
        row('key-1', 'ada', 'free', '2026-03-15', 3),
        row('key-1', 'ada', 'pro', '2026-03-15', 2),
        row('key-2', 'ada', 'pro', '2026-03-14', 1),
        row('key-2', 'ada', 'pro', '2026-03-15', 4),
        row('key-3', 'bob', 'enterprise', '2026-03-15', 5),
      ]),
    )
    expect(new Set(rows.map(({ usage_id }) => usage_id)).size).toBe(5)

    count(log, 7, { accountId: 'ada' })
    await log.flush()
    expect(await usedIn(context, MARCH), 'in both').toEqual({ ada: 17, bob: 5 })
  })

  test('have the types that analysts expect: a date and an integer', async () => {
    const { worker, log, store } = await setUp(createStore)
    count(log, 1)
    await log.flush()
    await compact(worker, 'usage')
    const { files } = await currentVersion(store, 'usage')
    const path = await localPath(worker.local, 'usage', files[0]!)
    expect(
      await worker.database.rows(`SELECT typeof(day) AS day, typeof(calls) AS calls FROM '${path}'`),
    ).toEqual([{ day: 'DATE', calls: 'BIGINT' }])
    expect(statisticsOf(files[0]!).maxValues).toMatchObject({
      key_id: 'key',
      tier: 'free',
      day: '2026-03-15',
      calls: 1,
    })
  })

  test(
    'are all read, at whichever call of the reader a compaction takes them in',
    { tags: ['slow'] },
    async () => {
      for (let at = 1; ; at++) {
        const { worker, context, log, store } = await setUp(createStore)
        count(log, 3)
        await log.flush()
        await compact(worker, 'usage')
        for (const calls of [5, 7]) {
          count(log, calls)
          await log.flush()
        }
        let asked = 0
        const held = new FaultStore(store, {
          before: async () => {
            asked += 1
            if (asked === at) await compact(worker, 'usage')
          },
        })
        const local = new LocalFiles(held, join(worker.directory, 'reader'))
        expect(await usedIn({ ...context, store: held, local }, MARCH), `at ${at}`).toEqual({ ada: 15 })
        if (asked < at) break
      }
    },
  )

  test('are all read even if a compaction removes them before they can be opened', async () => {
    const { worker, context, log } = await setUp(createStore)
    count(log, 3)
    await log.flush()
    let opened = 0
    const openDatabase = async () => {
      opened += 1
      // It shares its cache with the reader, and deletes the copies of objects that it has taken in.
      if (opened === 1) await compact(worker, 'usage')
      return context.openDatabase()
    }
    expect(await usedIn({ ...context, openDatabase }, MARCH)).toEqual({ ada: 3 })
    expect(opened).toBe(2)
  })
})

describe('a flush', () => {
  test('without calls writes nothing', async () => {
    const { store, log } = await setUp()
    await log.flush()
    expect(await pathsOf(store)).toEqual([])
  })

  test('leaves calls that arrive meanwhile to the next flush, which waits for it', async () => {
    const inner = new MemoryStore()
    const started = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    let writing = 0
    const store = new FaultStore(inner, {
      before: async ({ operation }) => {
        if (operation !== 'putIfAbsent') return
        writing += 1
        started.resolve()
        await goOn.promise
      },
    })
    const { log, context } = await setUp(() => store)
    count(log, 2)
    const first = log.flush()
    await started.promise
    count(log, 3)
    const second = log.flush()
    expect(log.flush(), 'those that wait share one').toBe(second)
    count(log, 4)
    expect([writing, log.pending]).toEqual([1, 9])
    goOn.resolve()
    await first
    expect([...inner.objects.keys()].length).toBeLessThanOrEqual(2)
    await second
    expect([inner.objects.size, store.writes, log.pending]).toEqual([2, 2, 0])
    expect(await usedIn(context, MARCH)).toEqual({ ada: 9 })
  })

  test.for(FAULTS)('that %s is repeated at the same path before anything newer', async (fault) => {
    const inner = new MemoryStore()
    const store = new FaultStore(inner, { at: 1, fault })
    const { log, context } = await setUp(() => store)
    count(log, 2)
    await expect(log.flush()).rejects.toMatchObject({ kind: 'unavailable' })
    expect(log.pending).toBe(2)
    count(log, 3)
    await log.flush()
    const paths = store.calls.map(({ path }) => path)
    expect(paths).toEqual([paths[0], paths[0], paths[2]])
    expect(paths[2]).not.toBe(paths[0])
    expect(log.pending).toBe(0)
    expect(await usedIn(context, MARCH)).toEqual({ ada: 5 })
  })

  test('that failed but persisted is counted once, even after a compaction has taken it in', async () => {
    const inner = new MemoryStore()
    const { worker, context, log, store } = await setUp(
      () => new FaultStore(inner, { at: 1, fault: 'failed but persisted' }),
    )
    count(log, 2)
    await expect(log.flush()).rejects.toMatchObject({ kind: 'unavailable' })
    const [[path, bytes]] = [...inner.objects] as [[string, Uint8Array]]
    await compact(worker, 'usage')
    // Another node's calls make the next version, after which nothing shows that the object was taken in
    // before.
    const other = new UsageLog({ store, newId: () => uuidv7(), now: worker.now })
    count(other, 10, { accountId: 'bob' })
    await other.flush()
    await compact(worker, 'usage')
    expect(inner.objects.has(path)).toBe(false)
    await log.flush()
    expect(inner.objects.get(path), 'the same bytes').toEqual(bytes)
    expect(await usedIn(context, MARCH), 'in the table and in the inbox').toEqual({ ada: 2, bob: 10 })
    await compact(worker, 'usage')
    const rows = await readRows(worker, 'usage')
    const calls = rows.map(
      (row) => `${String(row['key_id'])} ${String(row['account_id'])} ${String(row['calls'])}`,
    )
    expect(calls.sort()).toEqual(['key ada 2', 'key ada 2', 'key bob 10'])
    expect(new Set(rows.map(({ usage_id }) => usage_id)).size).toBe(2)
    expect(await usedIn(context, MARCH), 'twice in the table').toEqual({ ada: 2, bob: 10 })
    expect(await pathsOf(store, inboxPrefix('usage'))).toEqual([])
  })

  test.for(FAULTS)(
    'or a compaction that is cut off at any write (%s) loses no call',
    { tags: ['slow'] },
    async (fault) => {
      for (let at = 1; ; at++) {
        const store = new FaultStore(new MemoryStore(), { at, fault })
        const { worker, context, log } = await setUp(() => store)
        for (const calls of [1, 10]) {
          count(log, calls)
          await log.flush().catch(() => undefined)
          await compact(worker, 'usage').catch(() => undefined)
        }
        await log.flush()
        expect(log.pending).toBe(0)
        expect(await usedIn(context, MARCH), `${fault} at ${at}, before a last compaction`).toEqual({
          ada: 11,
        })
        await compact(worker, 'usage')
        expect(await usedIn(context, MARCH), `${fault} at ${at}`).toEqual({ ada: 11 })
        if (!store.failed) break
      }
    },
  )
})

describe('reading a month', () => {
  test('of a store without usage opens no database', async () => {
    const { context, worker } = await setUp()
    const openDatabase = () => Promise.reject(new Error('opened'))
    expect(await usedIn({ ...context, openDatabase }, MARCH)).toEqual({})
    await compact(worker, 'usage')
    expect(await usedIn({ ...context, openDatabase }, MARCH), 'with an empty table').toEqual({})
  })

  test('leaves out other months, and reads only data files that contain days of the month', async () => {
    const { worker, log, store, clock, local } = await setUp()
    // Calls of the last day of March are recorded in April.
    const days = ['2026-02-28', '2026-03-01', '2026-03-31', '2026-04-01', '2027-03-01']
    const recorded = ['2026-02-28', '2026-03-01', '2026-04-01', '2026-04-01', '2027-03-01']
    for (const [index, day] of days.entries()) {
      clock.at = new Date(`${recorded[index]!}T00:00:01.000Z`)
      count(log, 10 ** index, { day })
      await log.flush()
      if (index !== 1) await compact(worker, 'usage')
    }
    const reader = new FaultStore(store)
    const context = {
      store: reader,
      local: new LocalFiles(reader, join(worker.directory, 'reader')),
      openDatabase: openDatabaseIn(worker.directory),
    }
    expect(await usedIn(context, MARCH)).toEqual({ ada: 110 })
    const read = reader.calls.filter(({ operation }) => operation === 'range').map(({ path }) => path)
    const { files } = await currentVersion(store, 'usage')
    expect(files).toHaveLength(5)
    const holding = files.filter((file) => String(statisticsOf(file).minValues['day']).startsWith(MARCH))
    expect(read.sort()).toEqual(holding.map(({ path }) => tablePath('usage', path)).sort())
    const all = { store, local, openDatabase: context.openDatabase }
    expect(await usedIn(all, '2026-02')).toEqual({ ada: 1 })
    expect(await usedIn(all, '2026-04')).toEqual({ ada: 1000 })
    expect(await usedIn(all, '2026-05')).toEqual({})

    count(log, 3, { day: '2026-05-31' })
    await log.flush()
    expect(await usedIn(all, '2026-05'), 'from the inbox alone').toEqual({ ada: 3 })
    expect(await usedIn(all, MARCH)).toEqual({ ada: 110 })
  })

  test('fails at an object of the inbox that is not Parquet', async () => {
    const { context, store } = await setUp()
    await sendBroken(store, 'usage')
    await expect(readMonthlyUsage(context, MARCH)).rejects.toMatchObject({ kind: 'corrupt' })
  })

  test('ignores objects that do not belong to the inbox', async () => {
    const { context, log, store } = await setUp()
    await store.put(`${inboxPrefix('usage')}readme.txt`, new Uint8Array([1]))
    count(log, 2)
    await log.flush()
    expect(await usedIn(context, MARCH)).toEqual({ ada: 2 })
  })
})

function count(log: UsageLog, calls: number, changes: Partial<UsageEntry> = {}): void {
  const entry: UsageEntry = { keyId: 'key', accountId: 'ada', tier: 'free', day: '2026-03-15', ...changes }
  for (let call = 0; call < calls; call++) log.count(entry)
}

async function usedIn(context: UsageContext, month: string): Promise<Record<string, number>> {
  return Object.fromEntries(await readMonthlyUsage(context, month))
}

const openDatabaseIn = (directory: string) => () =>
  Database.open({ threads: 1, memoryLimit: '512MB', directory })

async function setUp(createStore: NewStore = () => new MemoryStore()): Promise<{
  store: Store
  worker: CompactionContext
  local: LocalFiles
  context: UsageContext
  log: UsageLog
  clock: { at: Date }
}> {
  const folder = await testFolder()
  const store = await createStore(folder)
  const clock = { at: new Date(NOW) }
  const now = () => clock.at
  const worker = await workerOn(database, store, join(folder, 'worker'), now)
  const { local, directory } = worker
  const context = { store, local, openDatabase: openDatabaseIn(directory) }
  return { store, worker, local, context, log: new UsageLog({ store, newId: () => uuidv7(), now }), clock }
}
