// Compaction over a store that does not show what is there, or lists what was there once: rows are neither
// lost nor taken in twice.
import { beforeAll, describe, expect, test } from 'vitest'
import { Database } from '../../pipeline/duckdb.ts'
import { deltaLogPath, inboxPrefix, intakePath, lastCheckpointPath } from '../../pipeline/store/paths.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import { suiteFolder, testFolder } from '../support/folder.ts'
import { LyingStore } from '../support/faults/lying-store.ts'
import { setRecord } from '../support/store-content.ts'
import { rowTexts, sampleRows } from '../support/worlds/table-rows.ts'
import { pathsOf, readRows, send, workerOn } from '../support/tables.ts'

const TABLE = 'forecasts'
const folder = await suiteFolder()
let database: Database
beforeAll(async () => {
  database = await Database.open({ threads: 1, memoryLimit: '512MB', directory: folder })
  return () => database[Symbol.dispose]()
})

/** A store and a machine that compacts it. `sent` puts ten rows more into the inbox. */
async function setUp() {
  const store = new LyingStore()
  const machine = async () => workerOn(database, store, await testFolder())
  const worker = await machine()
  let objects = 0
  const sent = () => send(store, TABLE, `object-${objects}`, sampleRows(TABLE, 10, 10 * objects++))
  const expectOnce = async () => {
    store.tellTheTruth()
    await compact(worker, TABLE)
    const expected = sampleRows(TABLE, 10 * objects)
    expect(rowTexts(TABLE, await readRows(await machine(), TABLE))).toEqual(rowTexts(TABLE, expected))
    expect(await pathsOf(store, inboxPrefix(TABLE))).toEqual([])
  }
  return { store, worker, machine, sent, expectOnce }
}

/** Leaves an object that a version has taken, as a crash before its deletion does. */
async function setUpUndeleted() {
  const world = await setUp()
  const object = await world.sent()
  world.store.undeletable.add(object)
  await expect(compact(world.worker, TABLE)).rejects.toThrow('lets nobody delete')
  world.store.undeletable.clear()
  expect(await pathsOf(world.store, inboxPrefix(TABLE))).toEqual([object])
  return { ...world, object }
}

describe('nothing is taken in', () => {
  test('for a table whose creation does not show', async () => {
    const { store, worker, sent, expectOnce } = await setUp()
    store.freezeListings()
    await compact(worker, TABLE)
    store.hidden.add(deltaLogPath(TABLE, 0))
    await sent()
    await expect(compact(worker, TABLE)).rejects.toMatchObject({
      kind: 'unavailable',
      message: `the store refuses to create ${deltaLogPath(TABLE, 0)} because it is there, and does not show it; run again`,
    })
    expect(await pathsOf(store, 'intake/')).toEqual([])
    await expectOnce()
  })

  test('after a version whose intake does not show: what it took may still be in the inbox', async () => {
    const { store, worker, sent, expectOnce } = await setUpUndeleted()
    await sent()
    store.hidden.add(intakePath(TABLE, 1))
    await expect(compact(worker, TABLE)).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringMatching(
        /^intake\/forecasts\/0+1\.json is gone: it says what version 1 of forecasts has taken in/,
      ) as string,
    })
    await expectOnce()
  })

  test('by an intake that is not that of its commit, and its objects stay', async () => {
    const { store, worker, sent } = await setUp()
    await compact(worker, TABLE)
    store.freezeListings()
    setRecord(store, intakePath(TABLE, 1), { inbox: [await sent()] })
    await compact(worker, TABLE)
    const object = await sent()
    setRecord(store, intakePath(TABLE, 1), { inbox: [object] })
    store.hidden.add(deltaLogPath(TABLE, 1))
    // It shows itself again once it refuses to be created.
    const create = store.putIfAbsent.bind(store)
    store.putIfAbsent = async (path, bytes) => {
      const created = await create(path, bytes)
      if (path === deltaLogPath(TABLE, 1)) store.hidden.clear()
      return created
    }
    await expect(compact(worker, TABLE)).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringMatching(/0+1\.json was made from other objects than intake/) as string,
    })
    store.tellTheTruth()
    expect(await pathsOf(store, inboxPrefix(TABLE))).toEqual([object])
  })
})

describe('no row is taken in twice', () => {
  test('of an object that should have been deleted and is missing from a listing', async () => {
    const { store, worker, sent, expectOnce, object } = await setUpUndeleted()
    await sent()
    store.freezeListings({ without: object })
    await compact(worker, TABLE)
    await expectOnce()
  })

  test('of an object that is listed and of which only a copy is left', async () => {
    const { store, worker, machine, sent, expectOnce } = await setUp()
    const object = await sent()
    const other = await machine()
    // It has copied the object when its intake cannot be written.
    const create = store.putIfAbsent.bind(store)
    store.putIfAbsent = (path, bytes) =>
      path.startsWith('intake/') ? Promise.reject(new Error('no answer')) : create(path, bytes)
    await expect(compact(other, TABLE)).rejects.toThrow('no answer')
    store.putIfAbsent = create
    await compact(worker, TABLE)
    await sent()
    await compact(worker, TABLE)
    store.freezeListings({ also: object })
    await compact(other, TABLE)
    await expectOnce()
  })

  test.for(
    Object.entries({
      'a commit': [deltaLogPath(TABLE, 2)],
      'a commit and its intake': [deltaLogPath(TABLE, 2), intakePath(TABLE, 2)],
      'two commits': [deltaLogPath(TABLE, 1), deltaLogPath(TABLE, 2)],
      'the last checkpoint': [lastCheckpointPath(TABLE)],
    }),
  )('while the store hides %s', { tags: ['slow'] }, async ([, hidden]) => {
    for (const frozen of [true, false]) {
      const { store, worker, sent, expectOnce } = await setUp()
      await sent()
      await compact(worker, TABLE)
      if (frozen) store.freezeListings()
      await sent()
      await compact(worker, TABLE)
      for (const path of hidden) store.hidden.add(path)
      await sent()
      await compact(worker, TABLE).catch(() => undefined)
      await expectOnce()
    }
  })
})
