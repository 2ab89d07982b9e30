// Checks the snapshot that a release brings against the shards that it is copied from.
import { ServiceError } from '../../schemas/errors.ts'
import type { ManifestFile, ReleaseManifest } from '../../schemas/manifests.ts'
import { sha256Hex } from '../proof/canonical.ts'
import { isShardPath, snapshotManifestPath, snapshotPrefix } from '../store/paths.ts'
import type { Store } from '../store/store.ts'
import { readQuarantined } from '../tables/quarantine.ts'
import { type AuditReport, firstDifference, unlessCorrupt, withoutSignatures } from './report.ts'
import { readReleaseBytes, readSnapshotManifest, snapshotDate } from '../release/read.ts'
import { type OutputFile, entryOf } from '../release/output.ts'
import { snapshotFile } from '../release/snapshot-file.ts'
import { manifestBytes } from '../release/snapshot.ts'
import type { ThinnedFiles } from './thinned-files.ts'

/**
 * Compares the snapshot that the release brings with the shards that it is copied from, and with its own
 * manifest.
 */
export async function checkSnapshot(
  { store, secrets }: { store: Store; secrets: readonly string[] },
  manifest: ReleaseManifest,
  thinned: ThinnedFiles,
  report: AuditReport,
): Promise<void> {
  const { release } = manifest
  const date = snapshotDate(manifest.as_of)
  const faults = report.faults.length
  const snapshot = await unlessCorrupt(readSnapshotManifest(store, date), report)
  if (!snapshot) {
    // Before retention begins, a crash or a quarantine may have left the snapshot to the next release.
    if (report.faults.length > faults || !(await thinned.at())) return
    const path = snapshotManifestPath(date)
    const aside = await unlessCorrupt(readQuarantined(store, path), report)
    if (aside) {
      report.notes.push(
        `${path} was moved aside at ${aside.at} (${aside.reason}), and the shards that it could be made from again were deleted: ${date} has no history until it is restored`,
      )
    } else if (report.faults.length === faults) report.faults.push(`${path}: is missing`)
    return
  }
  report.snapshot_compared = true
  const files: ManifestFile[] = []
  for (const shard of manifest.files.filter(({ path }) => isShardPath(path))) {
    report.files_compared += 1
    const path = snapshotPrefix(date) + shard.path
    const stored = await store.get(path)
    const copy = await copyOf(store, manifest, shard)
    const entry = copy ? entryOf(copy) : snapshot.files.find((file) => file.path === shard.path)
    if (entry) files.push(entry)
    if (!stored) report.faults.push(`${path}: is missing`)
    else if (copy && Buffer.compare(stored, copy.bytes) !== 0) {
      report.faults.push(`${path}: ${firstDifference(stored, copy.bytes)}`)
    } else if (sha256Hex(stored) !== entry?.sha256) {
      report.faults.push(`${path}: its SHA-256 is not its manifest's`)
    } else if (!copy && (await thinned.at())) {
      const unsigned = withoutSignatures(stored, secrets, report)
      const expected = thinned.copyHash(shard.path)
      if (!unsigned || (expected !== undefined && sha256Hex(unsigned) !== expected)) {
        report.faults.push(`${path}: is not what is derived`)
      }
    }
  }
  const stored = await store.get(snapshotManifestPath(date))
  const expected = manifestBytes({ date, release, files })
  if (manifest.snapshot_sha256 !== undefined && manifest.snapshot_sha256 !== sha256Hex(expected)) {
    report.faults.push('manifest.json: /snapshot_sha256 is not that of the manifest of the copied files')
  }
  if (!stored || Buffer.compare(stored, expected) !== 0) {
    report.faults.push(`${snapshotManifestPath(date)}: is not the manifest of the copied files`)
  }
}

/**
 * Returns the copy of a shard for the snapshot; undefined if the shard is damaged, which is a fault already,
 * or if retention has deleted it.
 */
async function copyOf(
  store: Store,
  { release, as_of }: ReleaseManifest,
  file: ManifestFile,
): Promise<OutputFile | undefined> {
  try {
    const bytes = await readReleaseBytes(store, release, file)
    return snapshotFile({ path: file.path, bytes }, snapshotDate(as_of))
  } catch (error) {
    if (error instanceof ServiceError && ['corrupt', 'notFound'].includes(error.kind)) return undefined
    throw error
  }
}
