// A thread that decodes row groups of scores: milliseconds of work, and much garbage, which no other answer
// is to wait for.
import { parentPort } from 'node:worker_threads'
import type { DecodedArray, FileMetaData } from 'hyparquet'
import { LRUCache } from 'lru-cache'
import { flatColumn } from './flat-column.ts'

/** Row groups of a part of the scores that follow one another, and which of their rows are wanted. */
export interface EncodedRows {
  /** The SHA-256 of the part. */
  part: string
  /** Of the part, with these row groups alone. */
  metadata: FileMetaData
  /** Where each of the row groups begins in the part, and how long it is. */
  places: readonly { offset: number; sizeBytes: number }[]
  bytes: Uint8Array
  columns: readonly string[]
  entityId: string
  limit: number
  /**
   * After the last row that is wanted, counted from the first one of the row groups; undefined: up to the
   * last one of the entity.
   */
  end: number | undefined
}

export type DecodedRows =
  | {
      columns: Record<string, readonly unknown[]>
      /**
       * The first row, counted from the first one of the row groups; and whether the one before is of the
       * entity too.
       */
      start: number
      follows: boolean
    }
  /** Why they cannot be decoded. */
  | { fault: string }

interface OpenRowGroup {
  rows: number
  read: (column: string) => DecodedArray
}

/**
 * Some two megabytes each. Who reads page after page finds its row group again, as do callers for entities in
 * one row group.
 */
const kept = new LRUCache<string, OpenRowGroup>({ max: 12 })

parentPort!.on('message', (encoded: EncodedRows) => {
  parentPort!.postMessage(decoded(encoded))
})

function decoded(encoded: EncodedRows): DecodedRows {
  try {
    return rowsIn(encoded)
  } catch (error) {
    // They are opened again, with what the footer of the next request says.
    for (const nth of encoded.places.keys()) kept.delete(keyOf(encoded, nth))
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

function rowsIn(encoded: EncodedRows): DecodedRows {
  const { entityId, limit, end } = encoded
  const groups = encoded.places.map((_, nth) => rowGroup(encoded, nth))
  const [first, last] = placeOf(entityId, groups)
  const stop = end ?? last + 1
  const isOwn = first !== -1 && first < stop && stop <= last + 1
  const start = isOwn ? Math.max(first, stop - limit) : stop
  const columns: Record<string, unknown[]> = {}
  for (const name of encoded.columns) columns[name] = between(groups, name, start, stop)
  return { columns, start, follows: isOwn && start > first }
}

function keyOf({ part, places }: EncodedRows, nth: number): string {
  return `${part} ${places[nth]!.offset}`
}

function rowGroup(encoded: EncodedRows, nth: number): OpenRowGroup {
  const key = keyOf(encoded, nth)
  const group = kept.get(key) ?? opened(encoded, nth)
  kept.set(key, group)
  return group
}

/** Each column of it is decoded when it is first read. */
function opened({ metadata, places, bytes }: EncodedRows, nth: number): OpenRowGroup {
  const { offset, sizeBytes } = places[nth]!
  const start = offset - places[0]!.offset
  const piece = { offset, bytes: bytes.subarray(start, start + sizeBytes) }
  const columns = new Map<string, DecodedArray>()
  return {
    rows: Number(metadata.row_groups[nth]!.num_rows),
    read: (column) => {
      const values = columns.get(column) ?? flatColumn(metadata, nth, column, piece)
      columns.set(column, values)
      return values
    },
  }
}

/**
 * The first and the last row of an entity, counted through all of the row groups, which have its rows side by
 * side; -1 for none.
 */
function placeOf(entityId: string, groups: readonly OpenRowGroup[]): [number, number] {
  let [first, last, from] = [-1, -1, 0]
  for (const { rows, read } of groups) {
    const ids = read('entity_id') as string[]
    const own = ids.indexOf(entityId)
    if (own !== -1) {
      if (first === -1) first = from + own
      last = from + ids.lastIndexOf(entityId)
    }
    from += rows
  }
  return [first, last]
}

/** The values of a column from `start` up to `stop`, counted through all of the row groups. */
function between(groups: readonly OpenRowGroup[], name: string, start: number, stop: number): unknown[] {
  const values: unknown[] = []
  let from = 0
  for (const { rows, read } of groups) {
    const [own, last] = [Math.max(0, start - from), Math.min(rows, stop - from)]
    if (own < last) for (const value of read(name).slice(own, last)) values.push(value)
    from += rows
  }
  return values
}
