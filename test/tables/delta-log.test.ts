import { describe, expect, test } from 'vitest'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { deltaLogPath, tablePath } from '../../pipeline/store/paths.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { type DataFile, type NewDataFile, appendCommit, creationCommit } from '../../pipeline/tables/delta.ts'
import { TableLog } from '../../pipeline/tables/delta-log.ts'
import { FaultStore } from '../support/faults/fault-store.ts'

const TABLE = 'forecasts'
const CREATED_MS = Date.UTC(2026, 0, 31)

describe('a table log', () => {
  test('of a table that does not exist yet is at version -1', async () => {
    const log = new TableLog(new MemoryStore(), TABLE)
    expect(await log.refresh()).toBe(false)
    expect(log.current).toEqual({ table: TABLE, version: -1, files: [] })
  })

  test('follows the commits and adds the files of each', async () => {
    const store = new MemoryStore()
    const log = new TableLog(store, TABLE)
    await create(store)
    expect(await log.refresh()).toBe(true)
    expect(log.current).toMatchObject({ version: 0, files: [] })
    await commit(store, 1, [fileOf('a'), fileOf('b')])
    await commit(store, 2, [])
    await commit(store, 3, [fileOf('c')])
    expect(await log.refresh()).toBe(true)
    expect(log.current).toEqual({
      table: TABLE,
      version: 3,
      files: [added('a', 1), added('b', 1), added('c', 3)],
    })
    expect(await log.refresh()).toBe(false)
  })

  test('gives versions that a later refresh does not change', async () => {
    const store = await storeWith(2)
    const log = new TableLog(store, TABLE)
    await log.refresh()
    const seen = log.current
    await commit(store, 3, [fileOf('later')])
    await log.refresh()
    expect(seen).toEqual({ table: TABLE, version: 2, files: [added('1', 1), added('2', 2)] })
  })

  test('reads to an older version and no further', async () => {
    const store = await storeWith(12)
    for (const version of [0, 1, 9, 10, 11, 12]) {
      const read = await new TableLog(store, TABLE).readTo(version)
      expect(read.version).toBe(version)
      expect(read.files.map(({ path }) => path)).toEqual(
        Array.from({ length: version }, (_, index) => fileOf(String(index + 1)).path),
      )
    }
    expect(await new TableLog(store, TABLE).readTo(-1)).toEqual({ table: TABLE, version: -1, files: [] })
  })

  test('that ends before the version asked for says where it ends', async () => {
    expect(await new TableLog(await storeWith(3), TABLE).readTo(4)).toMatchObject({ version: 3 })
    expect(await new TableLog(new MemoryStore(), TABLE).readTo(0)).toMatchObject({ version: -1 })
  })

  test('ends at a gap, because a version after it was never committed', async () => {
    const store = await storeWith(3)
    await commit(store, 5, [fileOf('beyond')])
    const log = new TableLog(store, TABLE)
    await log.refresh()
    expect(log.current.version).toBe(3)
    expect(await new TableLog(store, TABLE).readTo(5)).toMatchObject({ version: 3 })
  })

  test('counts a commit once when several refresh it at once', async () => {
    const store = await storeWith(2)
    const log = new TableLog(store, TABLE)
    await Promise.all([log.refresh(), log.refresh(), log.refresh()])
    expect(log.current).toMatchObject({ version: 2, files: [added('1', 1), added('2', 2)] })
    await commit(store, 3, [fileOf('3')])
    await Promise.all([log.refresh(), log.refresh(), log.refresh()])
    expect(log.current).toMatchObject({ version: 3, files: [added('1', 1), added('2', 2), added('3', 3)] })
  })

  test('stays as it was while the store does not answer, and goes on afterwards', async () => {
    const store = await storeWith(3)
    let away = false
    const shaky = new FaultStore(store, {
      before: () => {
        if (away) throw new Error('away')
      },
    })
    const log = new TableLog(shaky, TABLE)
    await log.refresh()
    await commit(store, 4, [fileOf('4')])
    away = true
    await expect(log.refresh()).rejects.toThrow('away')
    expect(log.current).toMatchObject({ version: 3 })
    away = false
    expect(await log.refresh()).toBe(true)
    expect(log.current).toMatchObject({ version: 4 })
  })

  test('ignores files that other engines leave beside the commits', async () => {
    const store = await storeWith(2)
    await store.put(tablePath(TABLE, '_delta_log/00000000000000000001.crc'), new Uint8Array([1]))
    await store.put(tablePath(TABLE, '_delta_log/_last_checkpoint'), new Uint8Array([1]))
    const log = new TableLog(store, TABLE)
    await log.refresh()
    expect(log.current.version).toBe(2)
  })
})

describe('the calls of a table log to the store', () => {
  test('without news: one get to see that there are none', async () => {
    const { log, counts } = await counted(20)
    await log.refresh()
    for (let round = 0; round < 3; round++) {
      const before = counts()
      await log.refresh()
      expect(counts().get - before.get).toBe(1)
      expect(counts().list - before.list).toBe(0)
    }
  })

  test('for each new commit: one more get', async () => {
    const { log, counts, store } = await counted(20)
    await log.refresh()
    const before = counts()
    for (const version of [21, 22, 23]) await commit(store, version, [fileOf(String(version))])
    await log.refresh()
    expect(counts().get - before.get).toBe(3 + 1)
    expect(counts().list - before.list).toBe(0)
  })

  test('at first: a get for the checkpoint, one listing, a get for each commit and one to see that it is the last', async () => {
    const { log, counts } = await counted(20)
    await log.refresh()
    expect(counts()).toEqual({ list: 1, get: 1 + 21 + 1 })
  })

  test('while the table does not exist: one listing and one look for a checkpoint ever, and a get each time', async () => {
    const store = new FaultStore(new MemoryStore())
    const log = new TableLog(store, TABLE)
    for (let round = 0; round < 3; round++) await log.refresh()
    expect([store.count('list'), store.count('get')]).toEqual([1, 1 + 3])
  })

  test('for an older version: a get for the checkpoint, one listing and a get for each commit up to it', async () => {
    const { log, counts } = await counted(20)
    await log.readTo(5)
    expect(counts()).toEqual({ list: 1, get: 1 + 6 })
  })
})

describe('a table log refuses', () => {
  const action = (value: unknown) => JSON.stringify(value)
  const ours = action({ commitInfo: { engineInfo: 'forecast-verification-service' } })
  const file = fileOf('a')
  const add = {
    path: file.path,
    partitionValues: { recorded_date: file.recordedDate },
    size: 1,
    stats: '{"numRecords":1}',
  }
  const refused: Record<string, string> = {
    'an empty commit': '',
    'a commit cut off in the middle': new TextDecoder()
      .decode(appendCommit(TABLE, 2, [file], 0))
      .slice(0, -40),
    'a commit that is not JSON': 'not JSON\n',
    'a commit that does not name its writer': action({ add }),
    'a commit by another engine': `${action({ commitInfo: { engineInfo: 'another' } })}\n${action({ add })}\n`,
    'the removal of a file': `${ours}\n${action({ remove: { path: file.path, dataChange: false } })}\n`,
    'a file without its number of rows': `${ours}\n${action({ add: { ...add, stats: '{}' } })}\n`,
    'a file without its day': `${ours}\n${action({ add: { ...add, partitionValues: {} } })}\n`,
  }
  test.for(Object.entries(refused))('%s', async ([, content]) => {
    const store = await storeWith(1)
    await store.put(deltaLogPath(TABLE, 2), new TextEncoder().encode(content))
    const corrupt = {
      kind: 'corrupt',
      message: expect.stringContaining(deltaLogPath(TABLE, 2)) as string,
    }
    const log = new TableLog(store, TABLE)
    await expect(log.refresh()).rejects.toMatchObject(corrupt)
    await expect(new TableLog(store, TABLE).readTo(2)).rejects.toMatchObject(corrupt)
    expect(await new TableLog(store, TABLE).readTo(1)).toMatchObject({ version: 1 })
  })
})

/** What the log says of a file that a version added. */
function added(name: string, version: number): DataFile {
  return { ...fileOf(name), version, modifiedMs: CREATED_MS }
}

function fileOf(name: string): NewDataFile {
  return {
    path: `recorded_date=2026-01-31/forecasts-${name}.parquet`,
    recordedDate: '2026-01-31',
    sizeBytes: 10,
    sha256: sha256Hex(name),
    stats: JSON.stringify({
      numRecords: 1,
      minValues: { forecast_id: name },
      maxValues: { forecast_id: name },
      nullCount: { forecast_id: 0 },
    }),
  }
}

async function create(store: Store): Promise<void> {
  const path = deltaLogPath(TABLE, 0)
  await store.put(path, creationCommit(TABLE, 'id', CREATED_MS))
}

async function commit(store: Store, version: number, files: NewDataFile[]): Promise<void> {
  const path = deltaLogPath(TABLE, version)
  await store.put(path, appendCommit(TABLE, version, files, CREATED_MS))
}

/** A created table and a commit of one file for each version after that. */
async function storeWith(version: number): Promise<MemoryStore> {
  const store = new MemoryStore()
  await create(store)
  for (let number = 1; number <= version; number++) await commit(store, number, [fileOf(String(number))])
  return store
}

async function counted(version: number): Promise<{
  log: TableLog
  store: MemoryStore
  counts: () => { get: number; list: number }
}> {
  const store = await storeWith(version)
  const counting = new FaultStore(store)
  const counts = () => ({ get: counting.count('get'), list: counting.count('list') })
  return { log: new TableLog(counting, TABLE), store, counts }
}
