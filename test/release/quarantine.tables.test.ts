// What cannot be read of an inbox or an intake: a table stops at it and names it, and goes on without it once
// it was moved aside. No other row is lost, and none is there twice.
// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Database } from '../../pipeline/duckdb.ts'
import { quarantine } from '../../pipeline/release/quarantine.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { inboxPrefix, intakePath, quarantinePath } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import type { CompactionContext } from '../../pipeline/tables/data-files.ts'
import { listQuarantined } from '../../pipeline/tables/quarantine.ts'
import { isReplaced } from '../../pipeline/tables/views.ts'
import { FAULTS, FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder, testFolder } from '../support/folder.ts'
import { contentOf, copyOf } from '../support/store-content.ts'
import { rowTexts, sampleRows } from '../support/worlds/table-rows.ts'
import { globRows, pathsOf, readRows, send, sendBroken, workerOn } from '../support/tables.ts'
import type { Row, TableName } from '../../schemas/tables.ts'

const REASON = 'a disk of the store is failing'
const spill = await suiteFolder()
let database: Database
beforeAll(async () => {
  database = await Database.open({ threads: 1, memoryLimit: '512MB', directory: spill })
})
afterAll(() => database[Symbol.dispose]())

/** A process with a cache of its own. */
const workerOver = async (store: Store): Promise<CompactionContext> =>
  workerOn(database, store, await testFolder())

/** The rows of each of the three objects in the inbox, ten a piece over three days. */
const rowsOf = (table: TableName, part: number) => sampleRows(table, 10, part * 10)

interface Trouble {
  store: MemoryStore
  key: string
  /** The rows that must be in the table in the end, each once. */
  rows: Row[]
  /** Data files that are moved aside with it. */
  dataFiles: number
}

/** Three objects wait in the inbox. */
async function waiting(table: TableName): Promise<{ store: MemoryStore; objects: string[] }> {
  const store = new MemoryStore()
  const objects: string[] = []
  for (const part of [0, 1, 2]) objects.push(await send(store, table, `object-${part}`, rowsOf(table, part)))
  return { store, objects }
}

/** A run was cut off at a write: 3 to 5 are the data files, 6 is the commit, and the deletions follow. */
async function cutOff(table: TableName, at: number) {
  const filled = await waiting(table)
  const broken = new FaultStore(filled.store, { at, fault: 'failed', crash: true })
  await expect(compact(await workerOver(broken), table)).rejects.toMatchObject({ kind: 'unavailable' })
  return filled
}

function flip({ objects }: MemoryStore, path: string, at?: number): void {
  const bytes = objects.get(path)!
  const index = at ?? bytes.length >> 1
  objects.set(path, bytes.with(index, bytes[index]! ^ 1))
}

const TROUBLES: Record<string, (table: TableName) => Promise<Trouble>> = {
  'a waiting object with a flipped bit': async (table) => {
    const { store, objects } = await waiting(table)
    flip(store, objects[1]!)
    return { store, key: objects[1]!, rows: [0, 2].flatMap((part) => rowsOf(table, part)), dataFiles: 0 }
  },
  'a waiting object that ends early': async (table) => {
    const { store, objects } = await waiting(table)
    store.objects.set(objects[2]!, store.objects.get(objects[2]!)!.subarray(0, -1))
    return { store, key: objects[2]!, rows: [0, 1].flatMap((part) => rowsOf(table, part)), dataFiles: 0 }
  },
  'a waiting object that was swapped with another': async (table) => {
    const { store, objects } = await waiting(table)
    store.objects.set(objects[0]!, store.objects.get(objects[1]!)!)
    return { store, key: objects[0]!, rows: [1, 2].flatMap((part) => rowsOf(table, part)), dataFiles: 0 }
  },
  'a waiting object whose name has no hash': async (table) => {
    const { store } = await waiting(table)
    const key = `${inboxPrefix(table)}stray.parquet`
    await store.put(key, new Uint8Array([1]))
    return { store, key, rows: [0, 1, 2].flatMap((part) => rowsOf(table, part)), dataFiles: 0 }
  },
  'an object that arrived whole and is not Parquet': async (table) => {
    const { store } = await waiting(table)
    const key = await sendBroken(store, table)
    return { store, key, rows: [0, 1, 2].flatMap((part) => rowsOf(table, part)), dataFiles: 0 }
  },
  'a damaged object of an intake': async (table) => {
    const { store, objects } = await cutOff(table, 3)
    flip(store, objects[1]!)
    return { store, key: objects[1]!, rows: [0, 2].flatMap((part) => rowsOf(table, part)), dataFiles: 0 }
  },
  'a damaged object of an intake, with which data files were made': async (table) => {
    const { store, objects } = await cutOff(table, 6)
    flip(store, objects[1]!)
    return { store, key: objects[1]!, rows: [0, 2].flatMap((part) => rowsOf(table, part)), dataFiles: 3 }
  },
  'an object of an intake that is gone, with which data files were made': async (table) => {
    const { store, objects } = await cutOff(table, 5)
    store.objects.delete(objects[0]!)
    return { store, key: objects[0]!, rows: [1, 2].flatMap((part) => rowsOf(table, part)), dataFiles: 2 }
  },
  'a damaged intake, by which data files were made': async (table) => {
    const { store } = await cutOff(table, 6)
    await send(store, table, 'later', rowsOf(table, 3))
    const key = intakePath(table, 1)
    flip(store, key)
    return { store, key, rows: [0, 1, 2, 3].flatMap((part) => rowsOf(table, part)), dataFiles: 3 }
  },
  'a damaged intake of a version that is committed, with objects left': async (table) => {
    const { store } = await cutOff(table, 8)
    await send(store, table, 'later', rowsOf(table, 3))
    const key = intakePath(table, 1)
    store.objects.set(key, store.objects.get(key)!.subarray(0, 20))
    return { store, key, rows: [0, 1, 2, 3].flatMap((part) => rowsOf(table, part)), dataFiles: 0 }
  },
  'an intake that is gone, of a version that is committed, with objects left': async (table) => {
    const { store } = await cutOff(table, 7)
    await send(store, table, 'later', rowsOf(table, 3))
    const key = intakePath(table, 1)
    store.objects.delete(key)
    return { store, key, rows: [0, 1, 2, 3].flatMap((part) => rowsOf(table, part)), dataFiles: 0 }
  },
}
const CASES = Object.entries(TROUBLES)

async function expectStopped(store: MemoryStore, table: TableName, key: string): Promise<void> {
  const before = await contentOf(store, inboxPrefix(table))
  await expect(compact(await workerOver(store), table)).rejects.toMatchObject({
    kind: 'corrupt',
    message: expect.stringMatching(
      new RegExp(`^${key} .*; restore it .*: fvs quarantine ${key} --reason TEXT$`, 's'),
    ) as string,
  })
  expect(await contentOf(store, inboxPrefix(table))).toEqual(before)
}

/** By the log and by a glob, with nothing left in the inbox. */
async function expectRowsOnce(store: Store, table: TableName, expected: readonly Row[]): Promise<void> {
  const worker = await workerOver(store)
  // Where rows replace each other, one that is taken in later is recorded later.
  const texts = (rows: readonly Row[]) =>
    rowTexts(table, isReplaced(table) ? rows.map((row) => ({ ...row, recorded_at: null })) : rows)
  expect(texts(await readRows(worker, table))).toEqual(texts(expected))
  expect(texts(await globRows(worker, table))).toEqual(texts(expected))
  expect(await pathsOf(store, inboxPrefix(table))).toEqual([])
}

describe.for(CASES)('%s', ([, make]) => {
  test('stops a table, which goes on without it once it was moved aside', async () => {
    for (const table of ['forecasts', 'resolutions', 'usage'] as const) {
      const { store, key, rows, dataFiles } = await make(table)
      const bytes = store.objects.get(key)
      await expectStopped(store, table, key)
      const worker = await workerOver(store)
      const done = await quarantine(worker, key, REASON)
      expect(done).toMatchObject({
        was_recorded: false,
        object: { key, at: worker.now().toISOString(), reason: REASON, size_bytes: bytes?.length ?? null },
      })
      expect(done.data_files).toHaveLength(dataFiles)
      expect(store.objects.has(key)).toBe(false)
      expect(await store.get(quarantinePath(key))).toEqual(bytes)
      for (const path of done.data_files) {
        expect(store.objects.has(path)).toBe(false)
        expect(store.objects.has(quarantinePath(path))).toBe(true)
      }
      expect((await listQuarantined(store)).map((object) => object.key)).toEqual(
        [key, ...done.data_files].sort(),
      )
      await compact(await workerOver(store), table)
      await send(store, table, 'last', rowsOf(table, 9))
      await compact(await workerOver(store), table)
      await expectRowsOnce(store, table, [...rows, ...rowsOf(table, 9)])
    }
  })

  test.for(FAULTS)('is moved aside by a second run where the first was cut off: %s', async (fault) => {
    const { store: troubled, key, rows } = await make('forecasts')
    const clean = copyOf(troubled)
    await quarantine(await workerOver(clean), key, REASON)
    const expected = await contentOf(clean)
    let cuts = 0
    for (let at = 1; ; at++) {
      const store = copyOf(troubled)
      const broken = new FaultStore(store, { at, fault, crash: true })
      const first = quarantine(await workerOver(broken), key, REASON)
      const isCut = await first.then(
        () => false,
        (error: unknown) => {
          expect(error).toMatchObject({ kind: 'unavailable' })
          return true
        },
      )
      if (!isCut) break
      cuts += 1
      // A run in between stops, or goes on if what was left does not matter to it.
      const between = copyOf(store)
      await compact(await workerOver(between), 'forecasts').catch((error: unknown) => {
        expect(error).toMatchObject({ kind: 'corrupt' })
      })
      for (const cut of [store, between]) await quarantine(await workerOver(cut), key, REASON)
      expect(await contentOf(store), `cut at ${at}`).toEqual(expected)
      for (const cut of [store, between]) {
        await compact(await workerOver(cut), 'forecasts')
        await expectRowsOnce(cut, 'forecasts', rows)
        expect((await listQuarantined(cut)).map((object) => object.key)).toContain(key)
      }
    }
    expect(cuts).toBeGreaterThan(0)
  })
})
