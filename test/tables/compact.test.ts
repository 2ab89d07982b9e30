// @module-tag slow
import { join } from 'node:path'
import pMap from 'p-map'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Database } from '../../pipeline/duckdb.ts'
import { FileStore } from '../../pipeline/store/file.ts'
import { inboxPath, inboxPrefix, intakePath, deltaLogPath, tablePath } from '../../pipeline/store/paths.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { LocalFiles } from '../../pipeline/store/local-files.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import type { CompactionContext } from '../../pipeline/tables/data-files.ts'
import { encodeRows } from '../../pipeline/tables/inbox.ts'
import { type Row, TABLE_NAMES, type TableName, tableSpec } from '../../schemas/tables.ts'
import { FAULTS, FaultStore, type Fault } from '../support/faults/fault-store.ts'
import { suiteFolder, testFolder } from '../support/folder.ts'
import { copyOf, contentOf } from '../support/store-content.ts'
import { rowTexts, sampleRows } from '../support/worlds/table-rows.ts'
import {
  currentVersion,
  globRows,
  pathsOf,
  openWorker,
  readRows,
  selectRows,
  send,
  workerOn,
} from '../support/tables.ts'
import { uuidOf } from '../support/worlds/world.ts'
import { statisticsOf } from '../../pipeline/tables/delta.ts'
import { localPath } from '../../pipeline/tables/delta-log.ts'
import { recordBytes } from '../../pipeline/store/records.ts'
import { sendBroken, sendBytes } from '../support/tables.ts'

/** Of the workers of every test: a compaction leaves nothing in it that the next would find. */
let workerDatabase: Database
/** Of those that compact at the same time. */
let rivalDatabase: Database
const spill = await suiteFolder()
beforeAll(async () => {
  const open = () => Database.open({ threads: 1, memoryLimit: '512MB', directory: spill })
  ;[workerDatabase, rivalDatabase] = await Promise.all([open(), open()])
})
afterAll(() => {
  for (const opened of [workerDatabase, rivalDatabase]) opened[Symbol.dispose]()
})

type NewStore = (folder: string) => Store | Promise<Store>
const stores: Record<string, NewStore> = {
  'a store in memory': () => new MemoryStore(),
  'a store in a directory': (folder) => FileStore.begin(join(folder, 'store')),
}

describe.for(Object.entries(stores))('compaction in %s', ([, createStore]) => {
  test('moves every row of the inbox into its table once', async () => {
    const { store, worker } = await setUp(createStore)
    for (const table of TABLE_NAMES) {
      await fillInbox(store, table)
      const done = await compact(worker, table)
      expect(done).toMatchObject({ table, version: 1, rows: ROWS.length, objects: 3 })
      await expectRowsOnce(worker, table, sampleRows(table, ROWS.length))
    }
  })

  test('takes in nothing from an empty inbox, and creates the table', async () => {
    const { worker } = await setUp(createStore)
    const nothing = { table: 'forecasts', version: 0, files: [], rows: 0, objects: 0 }
    expect(await compact(worker, 'forecasts')).toEqual(nothing)
    expect(await compact(worker, 'forecasts')).toEqual(nothing)
    expect(await currentVersion(worker.store, 'forecasts')).toMatchObject({ version: 0, files: [] })
  })

  test('makes a new version each time, and every version stays readable', async () => {
    const { store, worker } = await setUp(createStore)
    for (let version = 1; version <= 3; version++) {
      await send(store, 'forecasts', `object-${version}`, sampleRows('forecasts', 10, version * 10))
      expect(await compact(worker, 'forecasts')).toMatchObject({ version, rows: 10 })
    }
    for (let version = 1; version <= 3; version++) {
      const rows = await readRows(worker, 'forecasts', version)
      expect(rowTexts('forecasts', rows)).toEqual(
        rowTexts('forecasts', sampleRows('forecasts', version * 10, 10)),
      )
    }
    expect(await readRows(worker, 'forecasts', 0)).toEqual([])
    expect(await readRows(worker, 'forecasts', -1)).toEqual([])
  })

  test('keeps each day of recording in a file of its own', async () => {
    const { worker } = await setUpFilled(createStore)
    await compact(worker, 'forecasts')
    const { files } = await currentVersion(worker.store, 'forecasts')
    expect(files.map(({ recordedDate }) => recordedDate)).toEqual(['2026-01-30', '2026-01-31', '2026-02-01'])
    for (const file of files) {
      const { path, recordedDate } = file
      expect(path).toMatch(
        new RegExp(String.raw`^recorded_date=${recordedDate}/forecasts-1-[0-9a-f]{32}-0\.parquet$`),
      )
      const rows = await rowsOfFile(worker, 'forecasts', path)
      expect(rows).toHaveLength(statisticsOf(file).numRecords)
      expect(rows.map((row) => (row['recorded_at'] as Date).toISOString().slice(0, 10))).toEqual(
        rows.map(() => recordedDate),
      )
    }
  })

  test('sorts each file as its table specifies, and records its bounds', async () => {
    const { store, worker } = await setUp(createStore)
    for (const table of TABLE_NAMES) {
      await fillInbox(store, table)
      await compact(worker, table)
      const { sortedBy, columns } = tableSpec(table)
      for (const file of (await currentVersion(store, table)).files) {
        const rows = await rowsOfFile(worker, table, file.path)
        const { nullCount, minValues, maxValues } = statisticsOf(file)
        const order = rows.map((row) => sortedBy.map((name) => valueText(row[name])).join('\0'))
        expect(order).toEqual(order.toSorted())
        for (const { name, type } of columns) {
          const values = rows.map((row) => row[name]!).filter((value) => value !== null)
          expect(nullCount[name]).toBe(rows.length - values.length)
          const sorted = values
            .toSorted((a, b) => (a < b ? -1 : 1))
            .map((value) => (typeof value === 'number' ? value : valueText(value)))
          const bounds = [minValues[name], maxValues[name]]
          if (type === 'prose') {
            // Bounds, if not the tightest: what was cut off is in between.
            for (const value of sorted.map(String)) {
              expect(Buffer.compare(Buffer.from(String(bounds[0])), Buffer.from(value))).toBeLessThan(1)
              expect(Buffer.compare(Buffer.from(value), Buffer.from(String(bounds[1])))).toBeLessThan(1)
            }
            for (const bound of bounds) expect(Array.from(String(bound)).length).toBeLessThanOrEqual(33)
          } else {
            expect(bounds).toEqual([sorted[0], sorted.at(-1)])
          }
        }
        expect(file.sizeBytes).toBe((await store.get(tablePath(table, file.path)))!.byteLength)
      }
    }
  })

  test('leaves objects of other tables and foreign objects in the inbox where they are', async () => {
    const { store, worker } = await setUpFilled(createStore)
    const agents = await send(store, 'agents', 'one', sampleRows('agents', 2))
    await store.put('inbox/forecasts/readme.txt', new Uint8Array([1]))
    await compact(worker, 'forecasts')
    expect(await pathsOf(store, 'inbox/')).toEqual([agents, 'inbox/forecasts/readme.txt'])
    await expectRows(worker, 'forecasts', ROWS)
  })

  test.for([2, 4])('of %i rivals at once takes each row once', async (count) => {
    const { store, folder } = await setUp(createStore)
    const workers = await openRivals(store, folder, count)
    try {
      for (let round = 0; round < 5; round++) {
        await send(store, 'forecasts', `round-${round}-a`, sampleRows('forecasts', 20, round * 40))
        await send(store, 'forecasts', `round-${round}-b`, sampleRows('forecasts', 20, round * 40 + 20))
        const done = await Promise.all(workers.map((worker) => compact(worker, 'forecasts')))
        expect(done.reduce((sum, { rows }) => sum + rows, 0)).toBe(40)
        await expectRowsOnce(workers[0]!, 'forecasts', sampleRows('forecasts', (round + 1) * 40))
      }
    } finally {
      for (const worker of workers) worker[Symbol.dispose]()
    }
  })

  test('of rivals that share a cache takes each row once', async () => {
    const { store, folder } = await setUp(createStore)
    const shared = new LocalFiles(store, join(folder, 'shared-cache'))
    const workers = (await openRivals(store, folder, 3)).map((worker) => ({ ...worker, local: shared }))
    await fillInbox(store, 'forecasts')
    await Promise.all(workers.map((worker) => compact(worker, 'forecasts')))
    await expectRowsOnce(workers[0]!, 'forecasts', ROWS)
    for (const worker of workers) worker.database[Symbol.dispose]()
  })

  test('takes in many objects, while others arrive', async () => {
    const { store, worker } = await setUp(createStore)
    const objects = Array.from({ length: 400 }, (_, index) => index)
    const sendOne = (index: number) =>
      send(store, 'forecasts', `object-${String(index).padStart(4, '0')}`, sampleRows('forecasts', 1, index))
    await pMap(objects.slice(0, 200), sendOne, { concurrency: 16 })
    await Promise.all([compact(worker, 'forecasts'), pMap(objects.slice(200), sendOne, { concurrency: 4 })])
    await compact(worker, 'forecasts')
    await expectRowsOnce(worker, 'forecasts', sampleRows('forecasts', 400))
  })
})

describe('the data files of compaction', () => {
  test('are the same bytes for the same inbox, whatever the process, time and number of threads', async () => {
    // More rows on one day than a row group of the file holds.
    const recordedAt = new Date('2026-01-31T00:00:00.000Z')
    const objects = [0, 1].map((part) => {
      const rows = Array.from({ length: 70_000 }, (_, index) => {
        const forecastId = uuidOf(part, index)
        return { ...ROWS[index % ROWS.length], forecast_id: forecastId, recorded_at: recordedAt }
      })
      return encodeRows('forecasts', rows)
    })
    const [first, second] = await Promise.all(
      [
        { threads: 1, now: () => new Date('2026-02-02T00:00:00.000Z') },
        { threads: 4, now: () => new Date('2027-03-04T05:06:07.000Z') },
      ].map(async (settings) => {
        const store = new MemoryStore()
        for (const [part, object] of objects.entries())
          await sendBytes(store, 'forecasts', `object-${part}`, object)
        using worker = await openWorker(store, await testFolder(), settings)
        await compact(worker, 'forecasts')
        return new Map([...store.objects].filter(([path]) => path.endsWith('.parquet')))
      }),
    )
    expect(first!.size).toBe(1)
    expect([...first!.keys()]).toEqual([...second!.keys()])
    for (const [path, content] of first!) expect(Buffer.compare(content, second!.get(path)!), path).toBe(0)
  })

  test('are seen once by a reader that ignores the log: a glob over the folder', async () => {
    const { store, worker, folder } = await setUpFilled((root) => FileStore.begin(join(root, 'store')))
    await compact(worker, 'forecasts')
    await send(store, 'forecasts', 'later', sampleRows('forecasts', 7, 1_000))
    await compact(worker, 'forecasts')
    const [seen] = await worker.database.rows(
      `SELECT count(*) AS rows, count(DISTINCT forecast_id) AS ids,
         count(*) FILTER (strftime(recorded_at AT TIME ZONE 'UTC', '%Y-%m-%d') = recorded_date::VARCHAR) AS in_their_day
       FROM read_parquet('${join(folder, 'store')}/tables/forecasts/recorded_date=*/*.parquet', hive_partitioning = true)`,
    )
    const rows = BigInt(ROWS.length + 7)
    expect(seen).toEqual({ rows, ids: rows, in_their_day: rows })
  })
})

describe('a compaction that is cut off at a write', () => {
  const cuts = FAULTS.flatMap((fault) => [
    { fault, crash: false },
    { fault, crash: true },
  ])

  test.for(cuts)(
    'is finished by the next, at whichever write it $fault (crash: $crash)',
    async ({ fault, crash }) => {
      let cutOff = 0
      for (let at = 1; ; at++) {
        const { store, worker } = await setUpFilled()
        const reached = await compactCutOff(worker, { at, fault, crash })
        if (reached) cutOff += 1
        await compact(worker, 'forecasts')
        await expectRowsOnce(worker, 'forecasts', ROWS)
        const paths = await pathsOf(store)
        expect(await compact(worker, 'forecasts')).toMatchObject({ rows: 0, objects: 0 })
        expect(await pathsOf(store), 'a further run changes nothing').toEqual(paths)
        if (!reached) break
      }
      // The table's creation, the intake, three data files, the commit, and a delete for each object.
      expect(cutOff).toBe(1 + 1 + 3 + 1 + 3)
    },
  )

  test.for(FAULTS)('twice in a row is finished by the third: %s', async (fault) => {
    const cutOff = async (store: Store, at: number) =>
      compactCutOff(await workerOver(store), { at, fault, crash: true })
    /** By their contents, since most cuts leave the same. */
    const left = new Map<string, Store>()
    for (let first = 1; first <= 9; first++) {
      const once = new MemoryStore()
      await fillInbox(once, 'forecasts')
      await cutOff(once, first)
      for (let second = 1; ; second++) {
        const twice = copyOf(once)
        const reached = await cutOff(twice, second)
        left.set(JSON.stringify(await contentOf(twice)), twice)
        if (!reached) break
      }
    }
    for (const store of left.values()) {
      const worker = await workerOver(store)
      await compact(worker, 'forecasts')
      await expectRowsOnce(worker, 'forecasts', ROWS)
    }
  })

  test('is finished, and the rows that arrived since get a version of their own', async () => {
    const { store, worker } = await setUpFilled()
    // The fifth write is the last data file: the intake is written, but nothing is committed.
    await compactCutOff(worker, { at: 5, fault: 'failed', crash: true })
    await send(store, 'forecasts', 'later', sampleRows('forecasts', 7, 1_000))
    expect(await compact(worker, 'forecasts')).toMatchObject({
      version: 2,
      rows: ROWS.length + 7,
      objects: 4,
    })
    await expectRowsOnce(worker, 'forecasts', [...ROWS, ...sampleRows('forecasts', 7, 1_000)])
    expect(await readRows(worker, 'forecasts', 1)).toHaveLength(ROWS.length)
  })
})

describe('a compaction that is held back while a rival does all the work', () => {
  test('takes no row twice and loses none, at whichever call it is held', async () => {
    for (let at = 1; ; at++) {
      const { store, worker, folder } = await setUpFilled()
      const rival = await workerOn(rivalDatabase, store, join(folder, 'rival'))
      let calls = 0
      const held = new FaultStore(store, {
        before: async () => {
          calls += 1
          if (calls !== at) return
          await compact(rival, 'forecasts')
          await send(store, 'forecasts', 'later', sampleRows('forecasts', 7, 1_000))
          await compact(rival, 'forecasts')
          await send(store, 'forecasts', 'latest', sampleRows('forecasts', 7, 2_000))
        },
      })
      await compact(over(worker, held), 'forecasts')
      await compact(rival, 'forecasts')
      const expected =
        calls >= at
          ? [...ROWS, ...sampleRows('forecasts', 7, 1_000), ...sampleRows('forecasts', 7, 2_000)]
          : ROWS
      await expectRowsOnce(rival, 'forecasts', expected)
      if (calls < at) break
    }
  })

  test('between its listing and its intake: the listing is stale, and its intake is refused', async () => {
    const { store, worker, folder } = await setUpFilled()
    const rival = await workerOn(rivalDatabase, store, join(folder, 'rival'))
    const listed = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const held = new FaultStore(store, {
      before: async ({ operation, path }) => {
        if (operation !== 'putIfAbsent' || path !== intakePath('forecasts', 1)) return
        listed.resolve()
        await goOn.promise
      },
    })
    const late = compact(over(worker, held), 'forecasts')
    await listed.promise
    expect(await compact(rival, 'forecasts')).toMatchObject({ version: 1, rows: ROWS.length })
    expect(await pathsOf(store, inboxPrefix('forecasts'))).toEqual([])
    goOn.resolve()
    expect(await late).toMatchObject({ version: 1, rows: 0 })
    await expectRowsOnce(rival, 'forecasts', ROWS)
  })

  test('before its commit: it repeats the same files, and only one commit counts the rows', async () => {
    const { store, worker, folder } = await setUpFilled()
    const rival = await workerOn(rivalDatabase, store, join(folder, 'rival'))
    const held = new FaultStore(store, {
      before: async ({ operation, path }) => {
        if (operation === 'putIfAbsent' && path === deltaLogPath('forecasts', 1))
          await compact(rival, 'forecasts')
      },
    })
    expect(await compact(over(worker, held), 'forecasts')).toMatchObject({ rows: 0, objects: 3 })
    await expectRowsOnce(rival, 'forecasts', ROWS)
  })
})

describe('compaction stops, and touches nothing,', () => {
  test('at an object of the inbox that is not Parquet', async () => {
    const { store, worker } = await setUpFilled()
    await sendBroken(store, 'forecasts')
    await expect(compact(worker, 'forecasts')).rejects.toMatchObject({ kind: 'corrupt' })
    expect(await pathsOf(store, inboxPrefix('forecasts'))).toHaveLength(4)
    expect(await currentVersion(store, 'forecasts')).toMatchObject({ version: 0 })
  })

  test.for(['not JSON', '{"inbox":[]}', '{}'])('at an intake that says %s', async (intake) => {
    const { store, worker } = await setUpFilled()
    await store.put(intakePath('forecasts', 1), new TextEncoder().encode(intake))
    await expect(compact(worker, 'forecasts')).rejects.toMatchObject({ kind: 'corrupt' })
    expect(await pathsOf(store, inboxPrefix('forecasts'))).toHaveLength(3)
  })

  test('at an intake of an object that is gone but was never committed', async () => {
    const { store, worker } = await setUpFilled()
    const path = intakePath('forecasts', 1)
    await store.put(path, recordBytes(path, { inbox: [inboxPath('forecasts', 'gone', new Uint8Array())] }))
    await expect(compact(worker, 'forecasts')).rejects.toMatchObject({ kind: 'corrupt' })
    expect(await pathsOf(store, inboxPrefix('forecasts'))).toHaveLength(3)
  })

  test('at a commit by another writer in a version that has an intake', async () => {
    const { store, worker } = await setUpFilled()
    await compactCutOff(worker, { at: 5, fault: 'failed', crash: true })
    const foreign = { commitInfo: { timestamp: 0, operation: 'OPTIMIZE', engineInfo: 'another engine' } }
    await store.put(deltaLogPath('forecasts', 1), new TextEncoder().encode(`${JSON.stringify(foreign)}\n`))
    await expect(compact(worker, 'forecasts')).rejects.toMatchObject({ kind: 'corrupt' })
    expect(await pathsOf(store, inboxPrefix('forecasts'))).toHaveLength(3)
  })
})

const ROWS = sampleRows('forecasts', 30)

const workerOver = async (store: Store): Promise<CompactionContext> =>
  workerOn(workerDatabase, store, await testFolder())

interface SetUp {
  store: Store
  worker: CompactionContext
  folder: string
}

async function setUp(createStore: NewStore = () => new MemoryStore()): Promise<SetUp> {
  const folder = await testFolder()
  const store = await createStore(folder)
  return { store, worker: await workerOn(workerDatabase, store, join(folder, 'worker')), folder }
}

/** With three objects of ten rows over three days in the inbox of the forecasts. */
async function setUpFilled(createStore?: NewStore): Promise<SetUp> {
  const context = await setUp(createStore)
  await fillInbox(context.store, 'forecasts')
  return context
}

async function fillInbox(store: Store, table: TableName): Promise<void> {
  for (const part of [0, 1, 2]) await send(store, table, `object-${part}`, sampleRows(table, 10, part * 10))
}

async function openRivals(store: Store, folder: string, count: number) {
  return Promise.all(
    Array.from({ length: count }, (_, rival) => openWorker(store, join(folder, `rival-${rival}`))),
  )
}

/** The same worker on a store that misbehaves. */
function over(worker: CompactionContext, store: Store): CompactionContext {
  return { ...worker, store }
}

/** Compacts over a store that fails at one write. Returns false if the compaction made fewer writes. */
async function compactCutOff(
  worker: CompactionContext,
  settings: { at: number; fault: Fault; crash: boolean },
): Promise<boolean> {
  const store = new FaultStore(worker.store, settings)
  const run = compact(over(worker, store), 'forecasts')
  await run.then(
    () => expect(store.failed).toBe(false),
    (error: unknown) => expect(error).toMatchObject({ kind: 'unavailable' }),
  )
  return store.failed
}

async function expectRows(
  worker: CompactionContext,
  table: TableName,
  expected: readonly Row[],
): Promise<void> {
  expect(rowTexts(table, await readRows(worker, table))).toEqual(rowTexts(table, expected))
}

/** By the log and by a glob, with nothing left in the inbox. */
async function expectRowsOnce(
  worker: CompactionContext,
  table: TableName,
  expected: readonly Row[],
): Promise<void> {
  await expectRows(worker, table, expected)
  expect(rowTexts(table, await globRows(worker, table))).toEqual(rowTexts(table, expected))
  expect(await pathsOf(worker.store, inboxPrefix(table))).toEqual([])
}

async function rowsOfFile(
  { store, database, local }: CompactionContext,
  table: TableName,
  path: string,
): Promise<Row[]> {
  const file = (await currentVersion(store, table)).files.find((added) => added.path === path)!
  return selectRows(database, table, [await localPath(local, table, file)])
}

function valueText(value: Row[string] | undefined): string {
  return value instanceof Date ? value.toISOString() : String(value)
}
