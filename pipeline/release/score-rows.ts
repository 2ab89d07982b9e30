// Reads the rows of one entity from a part of the scores: its footer once, and then the row groups that a page needs.
import { type AsyncBuffer, type FileMetaData, parquetReadObjects } from 'hyparquet'
import { ServiceError } from '../../schemas/errors.ts'
import { PUBLISHED_PAIR_METRICS, type PublishedPairMetric } from '../../schemas/metrics.ts'
import type { ManifestFile, PieceOfFile, RowGroupsFile } from '../../schemas/payloads.ts'
import { releasePrefix, rowGroupsPath } from '../store/paths.ts'
import type { Store } from '../store/store.ts'
import { COMPRESSORS } from '../tables/compressors.ts'
import { besideAnswers, heavyWork } from '../work-beside.ts'
import { readReleaseFile, readReleasePieces } from './read.ts'
import { footerOf } from './row-groups.ts'

/** What is known of a part without its rows. */
export interface OpenPart {
  release: number
  file: ManifestFile
  metadata: FileMetaData
  footerBytes: number
  groups: RowGroupPlace[]
}

interface RowGroupPlace {
  piece: PieceOfFile
  offset: number
  /** Its rows are numbered through the whole part. */
  firstRow: number
  endRow: number
  leastId: string
  greatestId: string
}

/** A row of the scores, without the entity. */
export type ScoreRow = Record<PublishedPairMetric, number> & {
  question_id: string
  outcome: 'yes' | 'no'
  resolved_at: Date
  cluster: string
  contested: boolean
  standard_reference: bigint | null
}

export interface RowsRequest {
  entityId: string
  limit: number
  /** The number of the row after the newest that is wanted; undefined: from the newest on. */
  end?: number | undefined
}

export interface ScoreRows {
  /** Newest first. */
  rows: ScoreRow[]
  /** The `end` of what follows; undefined if these are the oldest. */
  next: number | undefined
}

const COLUMNS = [
  'question_id',
  'outcome',
  'resolved_at',
  'cluster',
  ...PUBLISHED_PAIR_METRICS,
  'contested',
  'standard_reference',
]

const NO_ROWS: ScoreRows = { rows: [], next: undefined }

/**
 * Two reads: the hashes of the row groups, and the footer.
 *
 * @throws ServiceError `notFound` if retention has deleted the part, `corrupt` if it is lost or damaged.
 */
export async function openPart(
  store: Store,
  release: number,
  files: readonly ManifestFile[],
  file: ManifestFile,
): Promise<OpenPart> {
  const path = rowGroupsPath(file.path)
  const hashes = files.find((one) => one.path === path)
  if (!hashes) throw damaged(release, file, `its manifest does not name ${path}`)
  const { row_groups, footer } = await readReleaseFile<RowGroupsFile>(store, release, hashes)
  const footerStart = row_groups.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  const metadata = footerOf(await readReleasePieces(store, release, file, footerStart, [footer]))
  let [offset, row] = [0, 0]
  const groups = row_groups.map((piece, index): RowGroupPlace => {
    const { columns, num_rows } = metadata.row_groups[index]!
    const ids = columns.find(({ meta_data: column }) => column?.path_in_schema[0] === 'entity_id')
    const { min_value, max_value } = ids!.meta_data!.statistics!
    const place = { piece, offset, firstRow: row, endRow: row + Number(num_rows) }
    offset += piece.size_bytes
    row = place.endRow
    return { ...place, leastId: min_value as string, greatestId: max_value as string }
  })
  return { release, file, metadata, footerBytes: footer.size_bytes, groups }
}

/**
 * One read, of as many row groups as `limit` rows may lie in. An `end` that is not of the entity gives no rows.
 *
 * @throws ServiceError as `openPart` does.
 */
export async function readRows(store: Store, part: OpenPart, request: RowsRequest): Promise<ScoreRows> {
  const { entityId, limit, end } = request
  const own = part.groups.filter(({ leastId, greatestId }) => leastId <= entityId && entityId <= greatestId)
  const last =
    end === undefined ? own.at(-1) : own.find((group) => group.firstRow < end && end <= group.endRow)
  if (!last) return NO_ROWS
  // One more than is wanted tells whether any follow.
  const least = (end ?? last.firstRow + 1) - limit - 1
  const needed = own.filter((group) => group.endRow > least && group.firstRow <= last.firstRow)
  const window = await readGroups(store, part, needed)
  return heavyWork(() => rowsIn(window, needed[0]!.firstRow, request))
}

/** A column after another beside the answers: all of them take milliseconds. */
async function rowsIn(
  window: Window,
  from: number,
  { entityId, limit, end }: RowsRequest,
): Promise<ScoreRows> {
  const ids = (await window.read('entity_id')) as { entity_id: string }[]
  const isOwn = ({ entity_id }: { entity_id: string }) => entity_id === entityId
  const first = ids.findIndex(isOwn)
  const stop = end === undefined ? ids.findLastIndex(isOwn) + 1 : end - from
  if (first === -1 || first >= stop || ids[stop - 1]!.entity_id !== entityId) return NO_ROWS
  const start = Math.max(first, stop - limit)
  const rows: Partial<ScoreRow>[] = Array.from({ length: stop - start }, () => ({}))
  for (const column of COLUMNS) {
    await besideAnswers()
    const values = await window.read(column, start, stop)
    for (const [index, value] of values.entries()) Object.assign(rows[index]!, value)
  }
  return { rows: (rows as ScoreRow[]).toReversed(), next: start > first ? from + start : undefined }
}

/** Row groups in memory. */
interface Window {
  read(column: string, rowStart?: number, rowEnd?: number): Promise<object[]>
}

async function readGroups(
  store: Store,
  { release, file, metadata, groups }: OpenPart,
  needed: readonly RowGroupPlace[],
): Promise<Window> {
  const start = needed[0]!.offset
  const pieces = needed.map(({ piece }) => piece)
  const bytes = await readReleasePieces(store, release, file, start, pieces)
  const buffer: AsyncBuffer = {
    byteLength: file.size_bytes,
    slice: (from, to = file.size_bytes) => {
      if (from < start || to > start + bytes.byteLength)
        throw damaged(release, file, 'its footer is of another file')
      return new Uint8Array(bytes.subarray(from - start, to - start)).buffer
    },
  }
  const rowGroups = needed.map((group) => metadata.row_groups[groups.indexOf(group)]!)
  return {
    read: (column, rowStart = 0, rowEnd = Infinity) =>
      parquetReadObjects({
        file: buffer,
        metadata: { ...metadata, row_groups: rowGroups },
        compressors: COMPRESSORS,
        columns: [column],
        rowStart,
        rowEnd,
      }),
  }
}

function damaged(release: number, { path }: ManifestFile, reason: string): ServiceError {
  return new ServiceError('corrupt', `${releasePrefix(release)}${path} cannot be read: ${reason}`)
}
