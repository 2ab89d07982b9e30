// Compares a stored file of a release with the manifest and with the derived file.
import { createHash } from 'node:crypto'
import type { ManifestFile, ReleaseManifest } from '../../schemas/manifests.ts'
import { sha256Hex } from '../proof/canonical.ts'
import { isSigned } from '../release/files/kinds.ts'
import { type OutputFile, entryOf } from '../release/output.ts'
import { snapshotDate } from '../release/read.ts'
import { type LocalFile, type Piece, piecesBeside } from '../store/body.ts'
import { isPublished, releasePrefix } from '../store/paths.ts'
import type { Store } from '../store/store.ts'
import { type AuditReport, firstDifference, withoutSignatures } from './report.ts'
import type { ThinnedFiles } from './thinned-files.ts'

/**
 * A file that the release should have. If it was derived, `bytes` is its content without signatures, or
 * `file` if it is large.
 */
export type ExpectedFile = Omit<OutputFile, 'bytes'> & { bytes?: Uint8Array; file?: LocalFile }

/**
 * Compares a stored file with the manifest and with the derived file. Returns the entry that the manifest
 * should have.
 */
export async function checkFile(
  { store, secrets }: { store: Store; secrets: readonly string[] },
  { release, as_of }: ReleaseManifest,
  { bytes, file, ...described }: ExpectedFile,
  entry: ManifestFile | undefined,
  thinned: ThinnedFiles,
  report: AuditReport,
): Promise<ManifestFile> {
  const { path } = described
  const object = releasePrefix(release) + path
  if (!isPublished(path)) {
    return checkLargeFile(store, object, { ...described, ...(file && { file }) }, entry, report)
  }
  const stored = await store.get(object)
  if (!stored && entry && (await thinned.at())) {
    const derived = thinned.compare({ ...described, ...(bytes && { bytes }) }, entry, snapshotDate(as_of))
    if (derived.sha256 !== entry.sha256) {
      report.faults.push(`${path}: was deleted, and what is derived has not the SHA-256 of the manifest`)
    }
    return derived
  }
  report.files_compared += 1
  if (!stored || !entry) {
    report.faults.push(`${path}: ${stored ? 'is missing from the manifest' : 'is missing'}`)
    return entry ?? entryOf({ ...described, bytes: bytes ?? stored ?? new Uint8Array() })
  }
  if (sha256Hex(stored) !== entry.sha256) report.faults.push(`${path}: its SHA-256 is not the manifest's`)
  const unsigned = isSigned(path) ? withoutSignatures(stored, secrets, report) : stored
  if (!unsigned) report.faults.push(`${path}: is not a shard in canonical JSON`)
  else if (bytes && Buffer.compare(unsigned, bytes) !== 0) {
    report.faults.push(`${path}: ${firstDifference(unsigned, bytes)}`)
  }
  return entryOf({ ...described, bytes: stored })
}

/**
 * Checks a large file. `file` is given if it was derived, and at least one of `entry` and `file` is given.
 * Returns the entry that the manifest should have.
 */
async function checkLargeFile(
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
