// Checkpoints: when they are written, what reading a log costs with them, and what becomes of damaged ones.
import { beforeAll, describe, expect, test } from 'vitest'
import { Database } from '../../pipeline/duckdb.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { checkpointPath, deltaLogPath, intakePath, lastCheckpointPath } from '../../pipeline/store/paths.ts'
import { readCheckpoint, writeCheckpoint } from '../../pipeline/tables/checkpoint.ts'
import { COMMITS_PER_CHECKPOINT, compact } from '../../pipeline/tables/compact.ts'
import { type NewDataFile, appendCommit, creationCommit } from '../../pipeline/tables/delta.ts'
import { TableLog, versionAt } from '../../pipeline/tables/delta-log.ts'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { FAULTS, FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { copyOf, setRecord } from '../support/store-content.ts'
import { sampleRows } from '../support/worlds/table-rows.ts'
import { currentVersion, send, workerOn } from '../support/tables.ts'

const TABLE = 'forecasts'
const folder = await suiteFolder()
let database: Database
beforeAll(async () => {
  database = await Database.open({ threads: 1, memoryLimit: '512MB', directory: folder })
  return () => database[Symbol.dispose]()
})

const contextOver = (store: MemoryStore | FaultStore) => workerOn(database, store, folder)

function fileOf(version: number): NewDataFile {
  return {
    path: `recorded_date=2026-01-31/forecasts-${version}.parquet`,
    recordedDate: '2026-01-31',
    sizeBytes: version,
    sha256: sha256Hex(String(version)),
    stats: JSON.stringify({
      numRecords: 1,
      minValues: { forecast_id: 'ü', probability: 0.25 },
      maxValues: { forecast_id: 'ü', probability: 1 },
      nullCount: { forecast_id: 0 },
    }),
  }
}

/** A table with this many commits, each of an object and of one file that are not there. */
function storeWith(commits: number): MemoryStore {
  const store = new MemoryStore()
  store.objects.set(deltaLogPath(TABLE, 0), creationCommit(TABLE, 'id', 0))
  for (let version = 1; version < commits; version++) {
    setRecord(store, intakePath(TABLE, version), { inbox: [`inbox/${TABLE}/${version}.parquet`] })
    store.objects.set(deltaLogPath(TABLE, version), appendCommit(TABLE, version, [fileOf(version)], version))
  }
  return store
}

describe('a checkpoint', () => {
  test('says the same as all commits up to it', async () => {
    const store = storeWith(30)
    const table = await currentVersion(store, TABLE)
    await writeCheckpoint(await contextOver(store), table)
    expect(await readCheckpoint(store, TABLE)).toEqual(table)
    expect(await currentVersion(store, TABLE)).toEqual(table)
  })

  test('spares its commits to every reader, also of earlier versions', async () => {
    const store = storeWith(30)
    const earlier = await new TableLog(store, TABLE).readTo(7)
    await writeCheckpoint(await contextOver(store), await currentVersion(store, TABLE))
    for (const version of [30, 31]) {
      store.objects.set(deltaLogPath(TABLE, version), appendCommit(TABLE, version, [fileOf(version)], 0))
    }
    const counting = new FaultStore(store)
    const { version, files } = await currentVersion(counting, TABLE)
    expect([version, files.length]).toEqual([31, 31])
    // What names the checkpoint, the checkpoint, and two commits.
    expect([counting.count('get'), counting.count('list')]).toEqual([4, 1])
    expect(await new TableLog(counting, TABLE).readTo(7)).toEqual(earlier)
  })

  test('is written by the compaction that finds more than a hundred commits after the last', async () => {
    const store = storeWith(COMMITS_PER_CHECKPOINT)
    const versions = async () => {
      await compact(await contextOver(store), TABLE)
      return [...store.objects.keys()].filter((path) => path.endsWith('.checkpoint.parquet'))
    }
    expect(await versions()).toEqual([])
    await send(store, TABLE, 'one', sampleRows(TABLE, 3))
    expect(await versions()).toEqual([checkpointPath(TABLE, 100)])
    await send(store, TABLE, 'two', sampleRows(TABLE, 3, 3))
    expect(await versions()).toEqual([checkpointPath(TABLE, 100)])
    expect(await currentVersion(store, TABLE)).toMatchObject({ version: 101 })
  })

  const damages: Record<string, (store: MemoryStore, path: string) => void> = {
    'has a flipped bit': ({ objects }, path) =>
      objects.set(
        path,
        objects.get(path)!.map((byte, index) => (index === 60 ? byte ^ 1 : byte)),
      ),
    'is cut off': ({ objects }, path) => objects.set(path, objects.get(path)!.subarray(0, -1)),
    'is gone': ({ objects }, path) => objects.delete(path),
    'was swapped with another': ({ objects }, path) => objects.set(path, objects.get('other')!),
  }
  test.for(Object.entries(damages))(
    'that %s is passed over, and made anew by the next compaction',
    async ([, damage]) => {
      const whole = storeWith(COMMITS_PER_CHECKPOINT + 2)
      const table = await currentVersion(whole, TABLE)
      await writeCheckpoint(await contextOver(whole), versionAt(table, 50))
      whole.objects.set('other', whole.objects.get(checkpointPath(TABLE, 50))!)
      await writeCheckpoint(await contextOver(whole), table)
      for (const path of [checkpointPath(TABLE, table.version), lastCheckpointPath(TABLE)]) {
        const store = copyOf(whole)
        damage(store, path)
        expect(await currentVersion(store, TABLE), path).toEqual(table)
        await compact(await contextOver(store), TABLE)
        expect(await readCheckpoint(store, TABLE), path).toEqual(table)
      }
    },
  )

  test('every bit of it that this service reads is under its checksum', async () => {
    const store = storeWith(8)
    const table = await currentVersion(store, TABLE)
    await writeCheckpoint(await contextOver(store), table)
    const path = checkpointPath(TABLE, table.version)
    const bytes = store.objects.get(path)!
    for (let at = 0; at < bytes.length; at += 7) {
      store.objects.set(
        path,
        bytes.map((byte, index) => (index === at ? byte ^ (1 << (at % 8)) : byte)),
      )
      const read = await readCheckpoint(store, TABLE).catch((error: unknown) => error)
      if (read instanceof Error) expect(read, `at ${at}`).toMatchObject({ kind: 'corrupt' })
      else expect(read, `at ${at}`).toEqual(table)
    }
  })

  test.for(FAULTS)('cut off at either of its writes (%s) changes nothing that is read', async (fault) => {
    for (const at of [1, 2]) {
      const store = storeWith(COMMITS_PER_CHECKPOINT + 2)
      const table = await currentVersion(store, TABLE)
      const broken = new FaultStore(store, { at, fault, crash: true })
      await expect(compact(await contextOver(broken), TABLE)).rejects.toMatchObject({ kind: 'unavailable' })
      expect(await currentVersion(store, TABLE)).toEqual(table)
      await compact(await contextOver(store), TABLE)
      expect(await readCheckpoint(store, TABLE)).toEqual(table)
    }
  })
})
