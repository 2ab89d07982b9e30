// The local copy of a table's rows: the same rows whatever this machine has read before, in few files, and
// never damaged ones.
import { copyFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { Database } from '../../pipeline/duckdb.ts'
import { LocalFiles } from '../../pipeline/store/local-files.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { localRows } from '../../pipeline/tables/local-rows.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import { versionAt } from '../../pipeline/tables/delta-log.ts'
import { FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder, testFolder } from '../support/folder.ts'
import { rowTexts, sampleRows } from '../support/worlds/table-rows.ts'
import { currentVersion, selectRows, send, workerOn } from '../support/tables.ts'

const TABLE = 'agents'
const COMMITS = 70
const folder = await suiteFolder()
const store = new MemoryStore()
let database: Database
beforeAll(async () => {
  database = await Database.open({ threads: 1, memoryLimit: '512MB', directory: folder })
  const worker = await workerOn(database, store, folder)
  for (let index = 0; index < COMMITS; index++) {
    const rows = sampleRows(TABLE, 1, index).map((row) => ({ ...row, recorded_at: new Date(index) }))
    await send(store, TABLE, `object-${index}`, rows)
    await compact(worker, TABLE)
  }
  return () => database[Symbol.dispose]()
})

const rowsIn = async (paths: string[]) => rowTexts(TABLE, await selectRows(database, TABLE, paths))

async function everyRow(version: number): Promise<string[]> {
  const rows = sampleRows(TABLE, version).map((row, index) => ({ ...row, recorded_at: new Date(index) }))
  return rowTexts(TABLE, rows)
}

describe('the local rows of a table', () => {
  test('are those of the version, in few files, whatever was read before', { tags: ['slow'] }, async () => {
    const local = new LocalFiles(store, await testFolder())
    const latest = await currentVersion(store, TABLE)
    for (const [version, files] of [
      [31, 31],
      [32, 1],
      [COMMITS, 2 + 6],
      [33, 1 + 1],
      [64, 2],
    ] as const) {
      const paths = await localRows(database, local, versionAt(latest, version))
      expect(paths, `version ${version}`).toHaveLength(files)
      expect(await rowsIn(paths), `version ${version}`).toEqual(await everyRow(version))
    }
  })

  test('cost only what is new, also in another process on the same machine', async () => {
    const cache = await testFolder()
    const latest = await currentVersion(store, TABLE)
    const counting = new FaultStore(store)
    await localRows(database, new LocalFiles(counting, cache), versionAt(latest, 65))
    expect(counting.count('range')).toBe(65)
    await localRows(database, new LocalFiles(counting, cache), versionAt(latest, 68))
    expect(counting.count('range')).toBe(68)
  })

  test('are read anew where the local copy is damaged', { tags: ['slow'] }, async () => {
    const cache = await testFolder()
    const version = versionAt(await currentVersion(store, TABLE), 64)
    const gathered = await localRows(database, new LocalFiles(store, cache), version)
    for (const damage of [
      (path: string) => writeFile(path, 'x'),
      (path: string) => rm(path),
      // The rows of the other block, under this one's name.
      (path: string) =>
        copyFile(
          gathered.find((other) => other !== path)!,
          path,
        ),
    ]) {
      await damage(gathered[0]!)
      const paths = await localRows(database, new LocalFiles(store, cache), version)
      expect(await rowsIn(paths)).toEqual(await everyRow(64))
    }
  })

  test(
    'that this process has checked before are replaced when a read of them fails',
    { tags: ['slow'] },
    async () => {
      const local = new LocalFiles(store, await testFolder())
      const version = versionAt(await currentVersion(store, TABLE), 32)
      const [path] = await localRows(database, local, version)
      await writeFile(path!, 'x')
      const read = async () => rowsIn(await localRows(database, local, version))
      expect(await local.reading(read)).toEqual(await everyRow(32))
    },
  )

  test('are read from the data files where nothing can be kept', async () => {
    const cache = await testFolder()
    await writeFile(join(cache, 'derived'), 'a file in the way')
    const paths = await localRows(
      database,
      new LocalFiles(store, cache),
      versionAt(await currentVersion(store, TABLE), 40),
    )
    expect(paths).toHaveLength(40)
    expect(await rowsIn(paths)).toEqual(await everyRow(40))
    expect(await readdir(cache)).toEqual(['derived', 'tables'])
  })
})
