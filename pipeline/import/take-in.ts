// Puts rows into the tables immediately: rows that wait in the inbox, and rows of a DuckDB table that were
// checked against a version of theirs.
import type { PipelineComponents } from '../components.ts'
import { type ScoredTable, tableSpec } from '../../schemas/tables.ts'
import { inboxPrefix, offersPrefix } from '../store/paths.ts'
import { holdsAny } from '../store/store.ts'
import { columnsOf } from '../tables/columns.ts'
import { compact } from '../tables/compact.ts'
import { type CompactionContext, parquetOf } from '../tables/data-files.ts'
import type { TableVersion } from '../tables/delta.ts'
import { forgetVoid, offer } from '../tables/offer.ts'

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
  const { store } = context
  for (const name of tables) {
    const waits = (await holdsAny(store, inboxPrefix(name))) || (await holdsAny(store, offersPrefix(name)))
    if (waits) await forgetVoid(store, await compact(context, name))
  }
}

export interface TakenIn {
  rows: number
  /** The version of the table that has them; undefined if there were none. */
  version: number | undefined
}

/**
 * Adds the rows of a DuckDB table to a table of the store, if it is still as it was `seen`. Returns
 * undefined, and adds nothing, if another command has written to the table since: the rows must be read and
 * checked again.
 */
export async function takeIn(
  context: ImportContext,
  seen: TableVersion,
  rows: string,
): Promise<TakenIn | undefined> {
  const count = await countOf(context, rows)
  if (count === 0) return { rows: 0, version: undefined }
  const id = context.newId()
  const spec = tableSpec(seen.table)
  const bytes = await parquetOf(
    context,
    id,
    `SELECT ${columnsOf(spec)} FROM ${rows}`,
    spec.rowsPerGroup,
    'inbox',
  )
  const version = await offer(context, seen, id, bytes)
  return version === undefined ? undefined : { rows: count, version }
}

export async function countOf(
  { database }: Pick<CompactionContext, 'database'>,
  table: string,
): Promise<number> {
  const [row] = await database.rows<{ n: bigint }>(`SELECT count(*) AS n FROM ${table}`)
  return Number(row?.n ?? 0n)
}
