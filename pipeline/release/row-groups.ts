// Hashes each piece of a part of the scores, so that a reader can check the few pieces that it needs.
import { type FileMetaData, type RowGroup, parquetMetadata } from 'hyparquet'
import type { ManifestFile } from '../../schemas/manifests.ts'
import type { PieceOfFile, RowGroupsFile } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { canonical, sha256Hex } from '../proof/canonical.ts'
import type { OutputFile } from './output.ts'

export const SCORES_FOLDER = 'scores/'
export const ROW_GROUPS_FOLDER = 'row-groups/'

export function isScoresPath(path: string): boolean {
  return path.startsWith(SCORES_FOLDER)
}

/** The path of the file with the hashes of the row groups of one part of the scores. */
export function rowGroupsPath(scoresPath: string): string {
  return scoresPath.replace(SCORES_FOLDER, ROW_GROUPS_FOLDER).replace(/\.parquet$/, '.json')
}

/** Returns the part of the scores that would hold an entity: the last that starts at or before it. */
export function scoresFile(
  files: readonly ManifestFile[],
  entityType: EntityType,
  entityId: string,
): ManifestFile | undefined {
  return files.findLast(
    ({ path, entity_type: type, first_id: first }) =>
      isScoresPath(path) && type === entityType && first! <= entityId,
  )
}

/** Makes the file with the hashes of the row groups and of the footer of a part. */
export function rowGroupsOutput(part: string, bytes: Uint8Array): OutputFile {
  const { row_groups } = footerOf(bytes)
  const ends = row_groups.map(rowGroupEnd)
  const pieceTo = (end: number, index: number): PieceOfFile => {
    const piece = bytes.subarray(ends[index - 1] ?? 0, end)
    return { size_bytes: piece.byteLength, sha256: sha256Hex(piece) }
  }
  const file: RowGroupsFile = {
    row_groups: ends.map(pieceTo),
    footer: pieceTo(bytes.byteLength, ends.length),
  }
  return { path: rowGroupsPath(part), rows: ends.length, bytes: canonical(file) }
}

/** Reads the footer at the end of a Parquet file. The caller has checked the bytes. */
export function footerOf(bytes: Uint8Array): FileMetaData {
  return parquetMetadata(bytes, { geoparquet: false })
}

/** Returns where the columns of a row group end and the next row group begins. */
function rowGroupEnd({ columns }: RowGroup): number {
  return Math.max(
    ...columns.map(({ meta_data: column }) =>
      Number((column!.dictionary_page_offset ?? column!.data_page_offset) + column!.total_compressed_size),
    ),
  )
}
