// Whether Polars has the numbers of the release: the greatest difference of each column of the pairs and of
// the entities.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Database, literal, withDatabase } from '../pipeline/duckdb.ts'

/**
 * How far apart the two are in each column, of texts and times how many differ; the columns that are farther apart than
 * roundings are; and how many rows only one of them has.
 */
export interface Agreement {
  unmatched: number
  differences: Record<string, number>
  disagreeing: string[]
}

/** `folder` has what bench/polars_scorer wrote about the store's first release. */
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
        rounding: 1e-9,
      }),
      entities: await compare(database, {
        ours: join(release, 'entities', '*.parquet'),
        theirs: join(folder, 'entities.parquet'),
        keys: ['entity_type', 'entity_id'],
        rounding: 1e-6,
      }),
    }))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

interface Column {
  column_name: string
  column_type: string
}

async function compare(
  database: Database,
  { ours, theirs, keys, rounding }: { ours: string; theirs: string; keys: string[]; rounding: number },
): Promise<Agreement> {
  const columns = await database.rows<Column>(
    `FROM (DESCRIBE FROM ${literal(ours)}) SEMI JOIN (DESCRIBE FROM ${literal(theirs)}) USING (column_name)
     WHERE column_name NOT IN (${keys.map(literal).join(', ')})`,
  )
  const scored = ours.includes('entities') ? 'WHERE resolved_questions + pending_questions > 0' : ''
  const both = `(FROM ${literal(ours)} ${scored}) o JOIN ${literal(theirs)} t USING (${keys.join(', ')})`
  const [row] = await database.rows<Record<string, number | null>>(
    `SELECT ${columns.map(greatestDifference).join(', ')} FROM ${both}`,
  )
  const [counts] = await database.rows<{ unmatched: bigint }>(
    `SELECT (SELECT count(*) FROM (FROM ${literal(ours)} ${scored})) + (SELECT count(*) FROM ${literal(theirs)})
       - 2 * (SELECT count(*) FROM ${both}) AS unmatched`,
  )
  const differences = columns.map((column) => ({ ...column, difference: row![column.column_name] ?? 0 }))
  return {
    unmatched: Number(counts!.unmatched),
    differences: Object.fromEntries(
      differences.map(({ column_name, difference }) => [column_name, difference]),
    ),
    disagreeing: differences
      .filter(({ difference, ...column }) => difference > allowedIn(column, rounding))
      .map(({ column_name }) => column_name),
  }
}

const isNumber = (type: string): boolean => ['DOUBLE', 'BIGINT', 'INTEGER', 'BOOLEAN'].includes(type)

function greatestDifference({ column_name: name, column_type: type }: Column): string {
  if (!isNumber(type)) return `(count(*) FILTER (o.${name} IS DISTINCT FROM t.${name}))::DOUBLE AS ${name}`
  // A number that only one of them has is infinitely far away.
  const isMissing = `(o.${name} IS NULL) <> (t.${name} IS NULL)`
  return `max(CASE WHEN ${isMissing} THEN 'inf'::DOUBLE ELSE abs(o.${name}::DOUBLE - t.${name}::DOUBLE) END) AS ${name}`
}

/**
 * Whole numbers of 1e-9 may differ by one where they were rounded, and gains by two, because they are differences of
 * these. Where a gain is nearly 0, its spread follows from the last digit.
 */
function allowedIn({ column_name: name, column_type: type }: Column, rounding: number): number {
  if (type === 'DOUBLE') return rounding * (1 + 1e-6)
  if (name.endsWith('spread')) return Infinity
  return type === 'BIGINT' ? (name.endsWith('gain') ? 2 : 1) : 0
}
