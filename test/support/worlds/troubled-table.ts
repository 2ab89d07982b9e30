// A table whose inbox has three objects, and whose compaction was cut off at some write.
import { expect } from 'vitest'
import type { Database } from '../../../pipeline/duckdb.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { inboxPrefix } from '../../../pipeline/store/paths.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { compact } from '../../../pipeline/tables/compact.ts'
import type { CompactionContext } from '../../../pipeline/tables/data-files.ts'
import { isReplaced } from '../../../pipeline/tables/views.ts'
import type { Row, TableName } from '../../../schemas/tables.ts'
import { FaultStore } from '../faults/fault-store.ts'
import { testFolder } from '../folder.ts'
import { globRows, pathsOf, readRows, send, workerOn } from '../tables.ts'
import { rowTexts, sampleRows } from './table-rows.ts'

/** A process with a cache of its own. */
export const workerOver = async (database: Database, store: Store): Promise<CompactionContext> =>
  workerOn(database, store, await testFolder())

/** The rows of objects by their numbers, ten apiece over three days. */
export const rowsOf = (table: TableName, ...objects: number[]): Row[] =>
  objects.flatMap((number) => sampleRows(table, 10, number * 10))

export interface TroubledTable {
  store: MemoryStore
  /** The paths of the three objects. */
  objects: string[]
}

export async function threeObjects(table: TableName): Promise<TroubledTable> {
  const store = new MemoryStore()
  const objects: string[] = []
  for (const number of [0, 1, 2])
    objects.push(await send(store, table, `object-${number}`, rowsOf(table, number)))
  return { store, objects }
}

/**
 * Dies in a compaction at a write: the second is the intake of version 1, 3 to 5 are the data files, 6 is the
 * commit, and the deletions follow.
 */
export async function cutOff(
  database: Database,
  { store }: Pick<TroubledTable, 'store'>,
  table: TableName,
  at: number,
): Promise<void> {
  const broken = new FaultStore(store, { at, fault: 'failed', crash: true })
  await expect(compact(await workerOver(database, broken), table)).rejects.toMatchObject({
    kind: 'unavailable',
  })
}

/** A table has these rows, each once, by its log and by a glob, and its inbox is empty. */
export async function expectRowsOnce(
  database: Database,
  store: Store,
  table: TableName,
  expected: readonly Row[],
): Promise<void> {
  const worker = await workerOver(database, store)
  // Where rows replace each other, one that is taken in later is recorded later.
  const texts = (rows: readonly Row[]) =>
    rowTexts(table, isReplaced(table) ? rows.map((row) => ({ ...row, recorded_at: null })) : rows)
  expect(texts(await readRows(worker, table))).toEqual(texts(expected))
  expect(texts(await globRows(worker, table))).toEqual(texts(expected))
  expect(await pathsOf(store, inboxPrefix(table))).toEqual([])
}
