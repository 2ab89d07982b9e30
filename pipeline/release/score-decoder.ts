// A thread that decodes row groups of scores. Decoding takes milliseconds and makes much garbage: no other
// answer must wait for that.
import { parentPort } from 'node:worker_threads'
import type { DecodedArray, FileMetaData } from 'hyparquet'
import { LRUCache } from 'lru-cache'
import { flatColumn } from './flat-column.ts'

/** Consecutive row groups of a part of the scores, and the rows to read from them. */
export interface EncodedRows {
  /** The SHA-256 of the part. */
  part: string
  /** The part's metadata, with these row groups alone. */
  metadata: FileMetaData
  /** The start of each row group in the part, and its size. */
  places: readonly { offset: number; sizeBytes: number }[]
  bytes: Uint8Array
  columns: readonly string[]
  entityId: string
  limit: number
  /**
   * The row after the last one to read, counted from the first row of the row groups. Undefined to read up to
   * the last row of the entity.
   */
  end: number | undefined
}

export type DecodedRows =
  | {
      columns: Record<string, readonly unknown[]>
      /**
       * The first row, counted from the first row of the row groups. `follows` tells whether the row before
       * it is of the entity too.
       */
      start: number
      follows: boolean
    }
  /** The reason that they cannot be decoded. */
  | { fault: string }

interface OpenRowGroup {
  rows: number
  read: (column: string) => DecodedArray
}

/**
 * Decoded row groups of some two megabytes each. A caller that reads page after page finds its row group
 * again, as do callers for entities in the same row group.
 */
const kept = new LRUCache<string, OpenRowGroup>({ max: 12 })

parentPort!.on('message', (encoded: EncodedRows) => {
  parentPort!.postMessage(decodedRows(encoded))
})

function decodedRows(encoded: EncodedRows): DecodedRows {
  try {
    return rowsIn(encoded)
  } catch (error) {
    // The next request opens them again, with the footer that it brings.
    for (const nth of encoded.places.keys()) kept.delete(rowGroupKey(encoded, nth))
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

function rowsIn(encoded: EncodedRows): DecodedRows {
  const { entityId, limit, end } = encoded
  const groups = encoded.places.map((_, nth) => rowGroup(encoded, nth))
  const { first, last } = rowRangeOf(entityId, groups)
  const stop = end ?? last + 1
  const isOwn = first !== -1 && first < stop && stop <= last + 1
  const start = isOwn ? Math.max(first, stop - limit) : stop
  const columns: Record<string, unknown[]> = {}
  for (const name of encoded.columns) columns[name] = between(groups, name, start, stop)
  return { columns, start, follows: isOwn && start > first }
}

function rowGroupKey({ part, places }: EncodedRows, nth: number): string {
  return `${part} ${places[nth]!.offset}`
}

function rowGroup(encoded: EncodedRows, nth: number): OpenRowGroup {
  const key = rowGroupKey(encoded, nth)
  const group = kept.get(key) ?? opened(encoded, nth)
  kept.set(key, group)
  return group
}

/** Opens a row group, and decodes each column when it is first read. */
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
 * Returns the first and the last row of an entity, counted through all the row groups; -1 for none. The rows
 * of an entity must lie in one run.
 */
function rowRangeOf(entityId: string, groups: readonly OpenRowGroup[]): { first: number; last: number } {
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
  return { first, last }
}

/** Returns the values of a column from `start` up to `stop`, counted through all the row groups. */
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
