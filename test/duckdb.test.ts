// What the driver asks of DuckDB.
import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Database, literal, parquet, withDatabase } from '../pipeline/duckdb.ts'
import { suiteFolder } from './support/folder.ts'

const directory = await suiteFolder()

test('nothing of a file is kept after it was read, so that one that was replaced is read anew', async () => {
  const path = join(directory, 'replaced.parquet')
  const open = () => Database.open({ threads: 1, memoryLimit: '1GB', directory })
  await withDatabase(open, async (database) => {
    const write = async (value: number) => {
      await database.run(`COPY (SELECT ${value} AS value) TO ${literal(path)} (FORMAT parquet)`)
      await utimes(path, 1, 1)
    }
    const read = () => database.rows(`FROM ${parquet([path])}`)
    await write(1)
    expect(await read()).toEqual([{ value: 1 }])
    await write(2)
    expect(await read()).toEqual([{ value: 2 }])
    const kept = await database.rows(
      `SELECT memory_usage_bytes AS bytes FROM duckdb_memory() WHERE tag = 'EXTERNAL_FILE_CACHE'`,
    )
    expect(kept).toEqual([{ bytes: 0n }])
  })
})

test('rows for which there is no memory, and no folder to spill to, are unavailable', async () => {
  const open = () => Database.open({ threads: 1, memoryLimit: '20MB', directory: '' })
  await withDatabase(open, async (database) => {
    await database.run('CREATE TABLE numbers (value DOUBLE)')
    const appender = await database.appender('numbers', { value: 'double' })
    const append = () => {
      for (let nth = 0; nth < 10_000_000; nth++) {
        appender.columns.value[appender.row] = Math.sin(nth)
        appender.next()
      }
    }
    expect(append).toThrow(
      expect.objectContaining({
        kind: 'unavailable',
        message: expect.stringMatching(/^DuckDB: Failed to append/),
      }),
    )
  })
})
