// Checks the files of a logged release, and of the snapshot that it brings, against the hashes that the log
// binds.
import pMap from 'p-map'
import type {
  PublicTableFile,
  ManifestFile,
  ReleaseManifest,
  SnapshotManifest,
} from '../../schemas/manifests.ts'
import { sha256Hex } from '../proof/canonical.ts'
import { fileChecks, manifestFaults } from '../release/files/kinds.ts'
import { readSnapshotManifest, snapshotDate, thinnedAt } from '../release/read.ts'
import { objectContent } from '../store/object-content.ts'
import {
  isPublished,
  manifestPath,
  releasePrefix,
  snapshotManifestPath,
  snapshotPrefix,
} from '../store/paths.ts'
import type { Store } from '../store/store.ts'
import { type Findings, named } from './findings.ts'

const FILES_AT_ONCE = 8

/** The files of a release that an auditor sees. */
export interface SeenFiles {
  files: readonly ManifestFile[]
  tables: readonly PublicTableFile[]
  /** Takes each file whose content was checked beside its hash. */
  take?: (path: string, bytes: Uint8Array) => void
}

/** Returns all files that a release wrote. Those of earlier releases are checked with those releases. */
function filesWritten({ release, files, public: tables }: ReleaseManifest): SeenFiles {
  return { files, tables: tables.filter((file) => file.release === release) }
}

/** Checks every file that is still there. Returns how many files retention has deleted. */
export async function checkReleaseFiles(
  store: Store,
  findings: Findings,
  manifest: ReleaseManifest,
  { files, tables, take }: SeenFiles = filesWritten(manifest),
): Promise<number> {
  const { release } = manifest
  const thinned = await findings.read(thinnedAt(store, release))
  const checks = fileChecks(manifest)
  let gone = 0
  const checkFile = async (file: ManifestFile): Promise<void> => {
    const path = releasePrefix(release) + file.path
    const check = checks(file.path)
    const bytes = check && (await store.get(path))
    if (bytes && sha256Hex(bytes) === file.sha256) {
      findings.counts.files_checked += 1
      for (const fault of check(bytes)) findings.fault(path, fault)
      take?.(file.path, bytes)
    } else if (
      !(await checkHash(store, findings, path, file, thinned === undefined || !isPublished(file.path)))
    ) {
      gone += 1
    }
  }
  await pMap(files, checkFile, { concurrency: FILES_AT_ONCE })
  const checkOutliving = async (file: PublicTableFile): Promise<void> => {
    const path = releasePrefix(file.release) + file.path
    if (!(await checkHash(store, findings, path, file, thinned === undefined))) gone += 1
  }
  await pMap(tables, checkOutliving, { concurrency: FILES_AT_ONCE })
  for (const fault of manifestFaults(manifest)) findings.fault(manifestPath(release), fault)
  findings.counts.files_unchecked += gone
  return gone
}

/** Returns false for an object that is not there and may be missing. */
async function checkHash(
  store: Store,
  findings: Findings,
  path: string,
  { sha256, size_bytes }: Pick<ManifestFile, 'sha256' | 'size_bytes'>,
  isNeeded: boolean,
): Promise<boolean> {
  const expected = `${size_bytes} bytes with the SHA-256 ${sha256}`
  const found = await objectContent(store, path)
  if (!found) {
    if (isNeeded) findings.fault(path, `is missing: its manifest names ${expected}`)
    return isNeeded
  }
  findings.counts.files_checked += 1
  if (found.sha256 !== sha256 || found.sizeBytes !== size_bytes) {
    findings.fault(
      path,
      `expected ${expected}, found ${found.sizeBytes} bytes with the SHA-256 ${found.sha256}`,
    )
  }
  return true
}

/** Checks the snapshot that a release brings against the hash that the log binds. */
export async function checkLoggedSnapshot(
  store: Store,
  findings: Findings,
  { release, as_of, snapshot_sha256: expected, quarantined }: ReleaseManifest,
  isLast: boolean,
): Promise<void> {
  if (!expected) return
  const date = snapshotDate(as_of)
  const path = snapshotManifestPath(date)
  const bytes = await store.get(path)
  if (!bytes) {
    if (isLast) findings.notes.push(`${path} is not there yet: the next run completes it`)
    else if (quarantined.some(({ key }) => key === path)) findings.notes.push(`${path} was moved aside`)
    else findings.fault(path, `is missing: release ${release} has logged the SHA-256 ${expected}`)
    return
  }
  findings.counts.snapshots_checked += 1
  if (sha256Hex(bytes) !== expected) {
    findings.fault(path, `release ${release} has logged the SHA-256 ${expected}, found ${named(bytes)}`)
  }
  const snapshot: SnapshotManifest | undefined = await findings.read(readSnapshotManifest(store, date))
  const checkCopy = (file: ManifestFile) =>
    checkHash(store, findings, snapshotPrefix(date) + file.path, file, true)
  await pMap(snapshot?.files ?? [], checkCopy, { concurrency: FILES_AT_ONCE })
}
