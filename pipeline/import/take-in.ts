// Puts rows into the tables immediately: rows that wait in the inbox, and rows of a DuckDB table.
import type { PipelineComponents } from '../components.ts'
import { type ScoredTable, tableSpec } from '../../schemas/tables.ts'
import { inboxPath, inboxPrefix } from '../store/paths.ts'
import { columnsOf } from '../tables/columns.ts'
import { compact } from '../tables/compact.ts'
import { type CompactionContext, parquetOf } from '../tables/data-files.ts'

export type ImportContext = CompactionContext &
  Pick<PipelineComponents, 'newId'> & {
    /** The versions that the last release was made from, if there is one. */
    released?: Partial<Record<string, number>>
  }

/**
 * Takes in the rows that an earlier import, an operator or the API left in the inbox, so that they count as
 * known. A table with an empty inbox is not compacted, so that a refused command changes nothing.
 */
export async function takeInWaiting(
  context: CompactionContext,
  tables: readonly ScoredTable[],
): Promise<void> {
  for (const name of tables) {
    if (await hasAny(context.store.list(inboxPrefix(name)))) await compact(context, name)
  }
}

/** Adds the rows of a DuckDB table to a table of the store and returns their number. */
export async function takeIn(context: ImportContext, table: ScoredTable, rows: string): Promise<number> {
  const count = await countOf(context, rows)
  if (count === 0) return 0
  const id = context.newId()
  const spec = tableSpec(table)
  const bytes = await parquetOf(
    context,
    id,
    `SELECT ${columnsOf(spec)} FROM ${rows}`,
    spec.rowsPerGroup,
    'inbox',
  )
  await context.store.putIfAbsent(inboxPath(table, id, bytes), bytes)
  await compact(context, table)
  return count
}

async function hasAny(listing: AsyncIterable<unknown>): Promise<boolean> {
  for await (const _ of listing) return true
  return false
}

export async function countOf({ database }: CompactionContext, table: string): Promise<number> {
  const [row] = await database.rows<{ n: bigint }>(`SELECT count(*) AS n FROM ${table}`)
  return Number(row?.n ?? 0n)
}
