// A thread that decodes row groups of scores: milliseconds of work, and much garbage, which no other answer is to wait for.
import { on } from 'node:events'
import { setImmediate as othersHaveCome } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import { type AsyncBuffer, type DecodedArray, type FileMetaData, parquetScan } from 'hyparquet'
import { LRUCache } from 'lru-cache'
import { COMPRESSORS } from '../tables/compressors.ts'
import { ROW_GROUPS_READ_AGAIN } from './row-groups.ts'

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
  /** Whether nobody waits for the rows: all of the row groups is decoded, for those who will, after all that somebody waits for. */
  isAhead: boolean
  entityId: string
  limit: number
  /** After the last row that is wanted, counted from the first one of the row groups; undefined: up to the last one of the entity. */
  end: number | undefined
}

export type DecodedRows =
  | {
      columns: Record<string, readonly unknown[]>
      /** The first row, counted from the first one of the row groups; and whether the one before is of the entity too. */
      start: number
      follows: boolean
    }
  /** Why they cannot be decoded. */
  | { fault: string }

interface OpenRowGroup {
  rows: number
  read: (column: string) => Promise<DecodedArray>
}

/**
 * Some three megabytes each. Who reads page after page finds its row group again, as do callers for entities in one row group. Those that
 * are decoded for the next release leave as many of the current one.
 */
const kept = new LRUCache<string, OpenRowGroup>({ max: 2 * ROW_GROUPS_READ_AGAIN })

let aheadOfTime = Promise.resolve()

// One after another, because they are answered in the order of their questions.
for await (const [encoded] of on(parentPort!, 'message') as AsyncIterable<[EncodedRows]>) {
  if (encoded.isAhead) aheadOfTime = aheadOfTime.then(() => decodeAhead(encoded))
  else parentPort!.postMessage(await decoded(encoded))
}

async function decodeAhead(encoded: EncodedRows): Promise<void> {
  try {
    for (const nth of encoded.places.keys()) {
      for (const column of ['entity_id', ...encoded.columns]) {
        await othersHaveCome()
        await (await rowGroup(encoded, nth)).read(column)
      }
    }
  } catch {
    // Whoever asks for it is told.
    forget(encoded)
  }
}

async function decoded(encoded: EncodedRows): Promise<DecodedRows> {
  try {
    return await rowsIn(encoded)
  } catch (error) {
    forget(encoded)
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

async function rowsIn(encoded: EncodedRows): Promise<DecodedRows> {
  const { entityId, limit, end } = encoded
  const groups = await Promise.all(encoded.places.map((_, nth) => rowGroup(encoded, nth)))
  const [first, last] = await placeOf(entityId, groups)
  const stop = end ?? last + 1
  const isOwn = first !== -1 && first < stop && stop <= last + 1
  const start = isOwn ? Math.max(first, stop - limit) : stop
  const columns: Record<string, unknown[]> = {}
  for (const name of encoded.columns) columns[name] = await between(groups, name, start, stop)
  return { columns, start, follows: isOwn && start > first }
}

function keyOf({ part, places }: EncodedRows, nth: number): string {
  return `${part} ${places[nth]!.offset}`
}

/** A scan keeps columns that could not be decoded like those that could. */
function forget(encoded: EncodedRows): void {
  for (const nth of encoded.places.keys()) kept.delete(keyOf(encoded, nth))
}

async function rowGroup(encoded: EncodedRows, nth: number): Promise<OpenRowGroup> {
  const key = keyOf(encoded, nth)
  const group = kept.get(key) ?? (await opened(encoded, nth))
  kept.set(key, group)
  return group
}

/** Each column of it is decoded when it is first read. */
async function opened({ metadata, places, bytes }: EncodedRows, nth: number): Promise<OpenRowGroup> {
  const { offset, sizeBytes } = places[nth]!
  const start = offset - places[0]!.offset
  const own = metadata.row_groups[nth]!
  const scan = await parquetScan({
    file: fileWith(bytes.slice(start, start + sizeBytes), offset),
    metadata: { ...metadata, row_groups: [own] },
    compressors: COMPRESSORS,
    useOffsetIndex: false,
  })
  const rows = Number(own.num_rows)
  // The scan keeps every column that was read whole.
  return { rows, read: (column) => scan.readColumn({ column, rowStart: 0, rowEnd: rows }) }
}

/** The first and the last row of an entity, counted through all of the row groups, which have its rows side by side; -1 for none. */
async function placeOf(entityId: string, groups: readonly OpenRowGroup[]): Promise<[number, number]> {
  let [first, last, from] = [-1, -1, 0]
  for (const { rows, read } of groups) {
    const ids = (await read('entity_id')) as string[]
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
async function between(
  groups: readonly OpenRowGroup[],
  name: string,
  start: number,
  stop: number,
): Promise<unknown[]> {
  const values: unknown[] = []
  let from = 0
  for (const { rows, read } of groups) {
    const [own, last] = [Math.max(0, start - from), Math.min(rows, stop - from)]
    if (own < last) for (const value of (await read(name)).slice(own, last)) values.push(value)
    from += rows
  }
  return values
}

/** A file of which only these bytes are known. */
function fileWith(bytes: Uint8Array, offset: number): AsyncBuffer {
  const fileEnd = offset + bytes.byteLength
  return {
    byteLength: fileEnd,
    slice: (from, to = fileEnd) => {
      if (from < offset || to > fileEnd) throw new Error('its footer is of another file')
      return new Uint8Array(bytes.subarray(from - offset, to - offset)).buffer
    },
  }
}
