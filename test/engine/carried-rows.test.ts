// The private files of pairs: their bytes follow from their rows alone, wherever these lie in a database.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Database } from '../../pipeline/duckdb.ts'
import { pairsBetween, writePairs } from '../../pipeline/engine/carried.ts'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { PAIR_METRICS } from '../../schemas/metrics.ts'
import { testFolder } from '../support/folder.ts'

/** More rows than a row group has. */
const ROWS = 130_000

test('a file of pairs is the same from whatever row it begins', async () => {
  const directory = await testFolder()
  const metrics = Object.keys(PAIR_METRICS).map(
    (name, at) => `((i * 31 + ${at}) % 1000003)::DOUBLE AS ${name}`,
  )
  const written = async (before: number) => {
    using database = await Database.open({ threads: 2, memoryLimit: '512MB', directory })
    await database.run(
      `CREATE TABLE scored AS SELECT (i % 977)::INTEGER AS question, (i // 400)::INTEGER AS entity, ${metrics.join(', ')}
       FROM range(${-before}, ${ROWS}) r(i)`,
    )
    const path = join(directory, `${before}.parquet`)
    await writePairs(database, path, pairsBetween(before, before + ROWS))
    return sha256Hex(await readFile(path))
  }
  const expected = await written(0)
  expect(await written(299)).toBe(expected)
  expect(await written(150_001)).toBe(expected)
})
