// Compares a stored file that may be too large for memory with the manifest and with the derived file, a
// piece at a time.
import { createHash } from 'node:crypto'
import type { ManifestFile } from '../../schemas/manifests.ts'
import { type LocalFile, type Piece, piecesBeside } from '../store/body.ts'
import type { Store } from '../store/store.ts'
import { type AuditReport, firstDifference } from './report.ts'
import { type OutputFile, entryOf } from '../release/output.ts'

/**
 * Checks a large file. `file` is given if it was derived, and at least one of `entry` and `file` is given.
 * Returns the entry that the manifest should have.
 */
export async function checkLargeFile(
  store: Store,
  object: string,
  { file, ...described }: Omit<OutputFile, 'bytes'> & { file?: LocalFile },
  entry: ManifestFile | undefined,
  report: AuditReport,
): Promise<ManifestFile> {
  const { path } = described
  report.files_compared += 1
  const found = await contentOf(store, object, file)
  if (!found || !entry) {
    report.faults.push(`${path}: ${found ? 'is missing from the manifest' : 'is missing'}`)
    return entry ?? entryOf({ ...described, file: file! })
  }
  if (found.sha256 !== entry.sha256) report.faults.push(`${path}: its SHA-256 is not the manifest's`)
  if (found.difference !== undefined) report.faults.push(`${path}: ${found.difference}`)
  return entryOf({ ...described, file: found })
}

/** Returns undefined if there is no object. */
async function contentOf(store: Store, object: string, file: LocalFile | undefined) {
  if ((await store.range(object, 0, 1)) === undefined) return undefined
  const hash = createHash('sha256')
  let sizeBytes = 0
  let first: Piece | undefined
  for await (const piece of piecesBeside(store, object, file)) {
    hash.update(piece.stored)
    sizeBytes += piece.stored.byteLength
    if (file && !first && Buffer.compare(piece.stored, piece.local) !== 0) first = piece
  }
  const difference = first && firstDifference(first.stored, first.local, first.at, sizeBytes)
  return { sizeBytes, sha256: hash.digest('hex'), difference }
}
