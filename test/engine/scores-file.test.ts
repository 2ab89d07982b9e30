// The Parquet file of scores: the same bytes with any number of threads, also where a part begins in the
// middle of what DuckDB scans at a time, and in memory for a row group or two, however many there are.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Database } from '../../pipeline/duckdb.ts'
import { SCORES_ROW_GROUP, scoredBetween, writeScores } from '../../pipeline/engine/scores-file.ts'
import { PAIR_METRICS } from '../../schemas/metrics.ts'
import { testFolder } from '../support/folder.ts'

const ROWS = 200_000
/** Neither a multiple of a row group of the file nor of one of DuckDB's tables, which have 122,880 rows. */
const START = 50_001
const END = 190_000

const OF_RELEASE = { release: 1, as_of: '2026-01-01T00:00:00.000Z' }

const FLAGS = ['judged', 'priced', 'witnessed']
const METRICS = Object.keys(PAIR_METRICS).map((name, index) =>
  FLAGS.includes(name)
    ? `(n % ${index} > 0)::INTEGER AS ${name}`
    : `((n * ${index + 7}) % 1009)::DOUBLE AS ${name}`,
)
const SCORED = `CREATE TABLE scored AS
  SELECT 'agent' AS entity_type, lpad((n // 400)::VARCHAR, 36, '0') AS entity_id, lpad((n % 400)::VARCHAR, 36, '0') AS question_id,
    (n % 2)::INTEGER AS outcome, make_timestamptz(n * 1000000) AS resolved_at,
    1 AS settled, make_timestamptz(n * 1000000) AS settled_at, 'event:' || n % 31 AS cluster_name, '2026-W' || n % 9 AS week_name,
    (n % 3)::INTEGER AS joint, (1 + n % 5)::INTEGER AS unit_questions,
    ${METRICS.join(', ')}
  FROM range(${ROWS}) rows(n) ORDER BY n`

test(
  'a part of the scores has the same bytes and whole row groups with 1, 2 and 5 threads',
  { tags: ['slow'] },
  async () => {
    const folder = await testFolder()
    const hashes = new Set<string>()
    for (const threads of [1, 2, 5]) {
      using database = await Database.open({ threads, memoryLimit: '1GB', directory: folder })
      await database.run(SCORED)
      const path = join(folder, `${threads}.parquet`)
      await writeScores(database, path, scoredBetween(START, END), OF_RELEASE)
      hashes.add(
        createHash('sha256')
          .update(await readFile(path))
          .digest('hex'),
      )
      const groups = await database.rows<{ rows: bigint }>(
        `SELECT row_group_num_rows AS rows FROM parquet_metadata('${path}') WHERE column_id = 0 ORDER BY row_group_id`,
      )
      expect(groups.slice(0, -1).every(({ rows }) => Number(rows) === SCORES_ROW_GROUP)).toBe(true)
      expect(groups.reduce((sum, { rows }) => sum + Number(rows), 0)).toBe(END - START)
    }
    expect(hashes.size).toBe(1)
  },
)

test(
  'a part of the scores is written in less memory than its row groups take',
  { tags: ['slow'] },
  async () => {
    const folder = await testFolder()
    for (const threads of [2, 5]) {
      using database = await Database.open({ threads, memoryLimit: '1GB', directory: folder })
      await database.run(SCORED)
      // The sort takes 20 MB and a row group 12; all 14 of them would be 80, none of which DuckDB can spill.
      await database.run(`SET memory_limit = '80MB'`)
      await writeScores(database, join(folder, `${threads}.parquet`), scoredBetween(START, END), OF_RELEASE)
      expect(await database.rows(`SELECT current_setting('threads')::INTEGER AS threads`)).toEqual([
        { threads },
      ])
    }
  },
)
