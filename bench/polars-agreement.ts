// Whether Polars has the numbers of the release: the greatest difference of each column of the pairs and of
// the entities.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Database, literal, withDatabase } from '../pipeline/duckdb.ts'

/** How far apart the two are in each column, and how many rows only one of them has. */
export interface Agreement {
  unmatched: number
  differences: Record<string, number>
}

/** `folder` has what bench/polars_scorer.py wrote about the store's first release. */
export async function agreementOf(
  store: string,
  folder: string,
): Promise<Record<'pairs' | 'entities', Agreement>> {
  const directory = await mkdtemp(join(tmpdir(), 'fvs-bench-agreement-'))
  const open = () => Database.open({ threads: 2, memoryLimit: '2GB', directory })
  const release = join(store, 'releases', '00000001')
  try {
    return await withDatabase(open, async (database) => ({
      pairs: await compare(database, {
        ours: join(release, 'scores', '*.parquet'),
        theirs: join(folder, 'scores.parquet'),
        keys: ['entity_type', 'entity_id', 'question_id'],
      }),
      entities: await compare(database, {
        ours: join(release, 'entities', '*.parquet'),
        theirs: join(folder, 'entities.parquet'),
        keys: ['entity_type', 'entity_id'],
      }),
    }))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function compare(
  database: Database,
  { ours, theirs, keys }: { ours: string; theirs: string; keys: string[] },
): Promise<Agreement> {
  const described = await database.rows<{ column_name: string }>(`DESCRIBE FROM ${literal(theirs)}`)
  const columns = described.map(({ column_name }) => column_name).filter((name) => !keys.includes(name))
  const differences = columns.map((name) => {
    // A number that only one of them has is infinitely far away.
    const isMissing = `(o.${name} IS NULL) <> (t.${name} IS NULL)`
    return `max(CASE WHEN ${isMissing} THEN 'inf'::DOUBLE ELSE abs(o.${name}::DOUBLE - t.${name}::DOUBLE) END) AS ${name}`
  })
  const scored = ours.includes('entities') ? 'WHERE resolved_questions > 0' : ''
  const both = `(FROM ${literal(ours)} ${scored}) o JOIN ${literal(theirs)} t USING (${keys.join(', ')})`
  const [row] = await database.rows<Record<string, number | null>>(
    `SELECT ${differences.join(', ')} FROM ${both}`,
  )
  const [counts] = await database.rows<{ unmatched: bigint }>(
    `SELECT (SELECT count(*) FROM (FROM ${literal(ours)} ${scored})) + (SELECT count(*) FROM ${literal(theirs)})
       - 2 * (SELECT count(*) FROM ${both}) AS unmatched`,
  )
  return {
    unmatched: Number(counts!.unmatched),
    differences: Object.fromEntries(columns.map((name) => [name, row![name] ?? 0])),
  }
}
