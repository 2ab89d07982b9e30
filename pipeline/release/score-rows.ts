// Reads the rows of one entity from a part of the scores: the footer once, then the row groups of a page.
import type { FileMetaData } from 'hyparquet'
import { ServiceError } from '../../schemas/errors.ts'
import { GAIN_COLUMNS, PUBLISHED_PAIR_METRICS, type PublishedPairMetric } from '../../schemas/metrics.ts'
import type { Joint } from '../scoring/pairs.ts'
import type { ManifestFile } from '../../schemas/manifests.ts'
import type { PieceOfFile, RowGroupsFile } from '../../schemas/payloads.ts'
import { releasePrefix } from '../store/paths.ts'
import { rowGroupsPath } from './row-groups.ts'
import type { Store } from '../store/store.ts'
import { Thread } from '../store/thread.ts'
import { readReleaseFile, readReleasePieces } from './read.ts'
import { footerOf } from './row-groups.ts'
import type { DecodedRows, EncodedRows } from './score-decoder.ts'

/** The footer of a part, and the places of its row groups. */
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
  /** Rows are numbered through the whole part. */
  firstRow: number
  endRow: number
  leastId: string
  greatestId: string
}

/** A row of the scores, without the entity. */
export type ScoreRow = Record<Exclude<PublishedPairMetric, 'closing_probability'>, number> &
  Record<(typeof GAIN_COLUMNS)[number], number | null> & {
    closing_probability: number | null
    question_id: string
    outcome: 'yes' | 'no'
    resolved_at: Date
    settled: boolean
    settled_at: Date | null
    unit: string
    cluster: string
    week: string
    divisor: number
    joint: Joint
    unit_questions: number
    witnessed: boolean
    contested: boolean
    priced: boolean
  }

export interface RowsRequest {
  entityId: string
  limit: number
  /** The number of the row after the newest row to return; undefined to begin with the newest of all. */
  end?: number | undefined
}

export interface ScoreRows {
  /** Newest first. */
  rows: ScoreRow[]
  /** The `end` of the next page; undefined if these are the oldest rows. */
  next: number | undefined
}

const SCORE_ROW_COLUMNS = [
  'question_id',
  'outcome',
  'resolved_at',
  'settled',
  'settled_at',
  'unit',
  'cluster',
  'week',
  'divisor',
  'joint',
  'unit_questions',
  ...PUBLISHED_PAIR_METRICS,
  'witnessed',
  'contested',
  'priced',
  ...GAIN_COLUMNS,
]

/** One thread for the whole process. */
const decoder = new Thread<EncodedRows, DecodedRows>(new URL('./score-decoder.ts', import.meta.url))

const NO_ROWS: ScoreRows = { rows: [], next: undefined }

/**
 * Opens a part in two reads: the hashes of the row groups, and the footer.
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
 * Reads rows of an entity with one read of the store. An `end` outside the entity gives no rows.
 *
 * @throws ServiceError as `openPart` does.
 */
export async function readRows(store: Store, part: OpenPart, request: RowsRequest): Promise<ScoreRows> {
  const { release, file, metadata, groups } = part
  const { entityId, limit, end } = request
  const own = groups.filter(({ leastId, greatestId }) => leastId <= entityId && entityId <= greatestId)
  const last =
    end === undefined ? own.at(-1) : own.find((group) => group.firstRow < end && end <= group.endRow)
  if (!last) return NO_ROWS
  // One row more than the limit tells whether any follow.
  const least = (end ?? last.firstRow + 1) - limit - 1
  const needed = own.filter((group) => group.endRow > least && group.firstRow <= last.firstRow)
  const { offset, firstRow } = needed[0]!
  const pieces = needed.map(({ piece }) => piece)
  const row_groups = needed.map((group) => metadata.row_groups[groups.indexOf(group)]!)
  const bytes = await readReleasePieces(store, release, file, offset, pieces)
  const encoded: EncodedRows = {
    part: file.sha256,
    metadata: { ...metadata, row_groups },
    places: needed.map((group) => ({ offset: group.offset, sizeBytes: group.piece.size_bytes })),
    bytes,
    columns: SCORE_ROW_COLUMNS,
    entityId,
    limit,
    end: end === undefined ? undefined : end - firstRow,
  }
  const { buffer } = bytes
  // Small reads share memory, so they are copied. A large one is moved: a copy would be garbage in this
  // thread, and bring its collection on.
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength
  const decoded = await decoder.ask(encoded, isWhole ? [buffer] : [])
  if ('fault' in decoded) throw damaged(release, file, decoded.fault)
  const { columns, start, follows } = decoded
  return { rows: scoreRowsOf(columns).toReversed(), next: follows ? firstRow + start : undefined }
}

function scoreRowsOf(columns: Record<string, readonly unknown[]>): ScoreRow[] {
  const rows: Record<string, unknown>[] = columns[SCORE_ROW_COLUMNS[0]!]!.map(() => ({}))
  for (const [name, values] of Object.entries(columns)) {
    for (const [index, row] of rows.entries()) {
      const value = values[index]
      row[name] = typeof value === 'bigint' ? Number(value) : value
    }
  }
  return rows as ScoreRow[]
}

function damaged(release: number, { path }: ManifestFile, reason: string): ServiceError {
  return new ServiceError('corrupt', `${releasePrefix(release)}${path} cannot be read: ${reason}`)
}
