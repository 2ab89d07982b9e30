// Checks a published release: every hash, every signature and every copy in the snapshot. If this version of the service
// has the method and the version of DuckDB that made the release, it also derives every byte again from the tables.
import { ServiceError } from '../../schemas/errors.ts'
import type { ManifestFile, ReleaseManifest } from '../../schemas/payloads.ts'
import { type DerivationContext, type DerivedRelease, deriveRelease } from './derive.ts'
import { Database } from '../duckdb.ts'
import { type OutputFile, entryOf, snapshotFile } from './shards.ts'
import { versionsOf } from './plan.ts'
import { quarantineFaults } from './quarantine-check.ts'
import {
  isShard,
  isSigned,
  readManifest,
  readReleaseShard,
  readSnapshotManifest,
  snapshotDate,
} from './read.ts'
import { readPlan } from './state.ts'
import { resigned, signerOf } from './signatures.ts'
import { ThinnedFiles } from './thinned-files.ts'
import { signatureHolds } from '../proof/hmac.ts'
import { canonical, sha256Hex } from '../proof/canonical.ts'
import {
  isThinnable,
  manifestPath,
  releasePrefix,
  snapshotManifestPath,
  snapshotPrefix,
} from '../store/paths.ts'
import { recordBytes } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { localPath } from '../tables/delta-log.ts'
import { readQuarantined } from '../tables/quarantine.ts'
import type { TableVersion } from '../tables/delta.ts'
import type { ScoredTable } from '../../schemas/tables.ts'

export interface AuditContext extends DerivationContext {
  store: Store
  /** To check signatures with; if it is empty, they are not checked. */
  secrets: readonly string[]
}

export interface AuditReport {
  release: number
  as_of: string
  /** Whether every number was derived again. */
  derived: boolean
  ok: boolean
  files_compared: number
  /** Data files of the tables, compared with the hashes in their commits. */
  data_files_checked: number
  /** Signatures that hold, that none of the secrets made, and payloads without one. */
  signatures: { checked: boolean; valid: number; invalid: number; unsigned: number }
  snapshot_compared: boolean
  /** When retention began to delete the files of the release. */
  thinned_at: string | null
  /** Files that retention has deleted and that could not be derived again. */
  files_unchecked: number
  faults: string[]
  /** What was not checked, and why; no fault of the release. */
  notes: string[]
}

/** A file that there should be; its bytes without signatures where they were derived. */
type ExpectedFile = Omit<OutputFile, 'bytes'> & { bytes?: Uint8Array }

/** @throws ServiceError `notFound` for a release that was never committed. */
export async function auditRelease(context: AuditContext, release: number): Promise<AuditReport> {
  const { store, secrets, methodology } = context
  const manifest = await readManifest(store, release)
  if (!manifest) throw new ServiceError('notFound', `there is no release ${release}`)
  const { as_of, environment, methodology_version: method, engines, tables } = manifest
  const report: AuditReport = {
    release,
    as_of,
    derived: method === methodology.version && engines.duckdb === Database.version,
    ok: true,
    files_compared: 0,
    data_files_checked: 0,
    signatures: { checked: secrets.length > 0, valid: 0, invalid: 0, unsigned: 0 },
    snapshot_compared: false,
    thinned_at: null,
    files_unchecked: 0,
    faults: [],
    notes: [],
  }
  if (!report.derived) {
    report.notes.push(
      `method ${method} and DuckDB ${engines.duckdb} made this release; this version of the service has method ${methodology.version} and DuckDB ${Database.version}, so it did not derive the numbers again: version ${engines.service} does`,
    )
  }
  const plan = await unlessCorrupt(readPlan(store, release), report)
  if (!plan && report.faults.length === 0) report.faults.push('plan.json: is missing')
  const bringsSnapshot = plan?.brings_snapshot ?? false
  const thinned = new ThinnedFiles(store, release, signerOf(plan?.signing, secrets))
  const entries = new Map(manifest.files.map((file) => [file.path, file]))
  const files: ManifestFile[] = []
  let expected: AsyncIterable<ExpectedFile> | readonly ExpectedFile[] = manifest.files
  const versions = await checkTables(context, tables, report)
  const previous = report.derived && versions ? await previousManifest(store, release) : undefined
  const before = previous?.quarantined ?? []
  report.faults.push(...(await quarantineFaults(store, manifest, plan && (plan.quarantined ?? []), before)))
  if (report.derived && versions) {
    const inputs = { release, asOf: new Date(as_of), environment, versions, previous, bringsSnapshot }
    const derived = await deriveRelease(context, inputs)
    checkStatements(manifest, derived, report)
    expected = derived.files(() => null)
  }
  for await (const file of expected) {
    files.push(await checkFile(context, manifest, file, entries.get(file.path), thinned, report))
  }
  const stored = await store.get(manifestPath(release))
  if (!stored || Buffer.compare(stored, recordBytes(manifestPath(release), { ...manifest, files })) !== 0) {
    const what = report.derived ? 'derived' : 'stored'
    report.faults.push(`manifest.json: is not the manifest of the ${what} files`)
  }
  if (bringsSnapshot) await checkSnapshot(context, manifest, thinned, report)
  await reportThinned(thinned, manifest, report)
  report.ok = report.faults.length === 0
  return report
}

/** @throws ServiceError `corrupt` where the release before this one has lost its manifest. */
async function previousManifest(store: Store, release: number): Promise<ReleaseManifest | undefined> {
  if (release === 1) return undefined
  const manifest = await readManifest(store, release - 1)
  if (manifest) return manifest
  throw new ServiceError(
    'corrupt',
    `release ${release - 1} has lost its manifest, so what release ${release} corrects cannot be derived`,
  )
}

/** Compares what the manifest says of the whole release with what was derived. */
function checkStatements(
  manifest: ReleaseManifest,
  derived: Pick<DerivedRelease, 'counts' | 'superseded' | 'voiceRule'>,
  report: AuditReport,
): void {
  const derivedStatements = {
    counts: derived.counts,
    superseded: derived.superseded,
    voice_rule: derived.voiceRule,
  }
  for (const [name, value] of Object.entries(derivedStatements)) {
    const said = manifest[name as keyof typeof derivedStatements]
    const [stored, expected] = [canonical({ [name]: said ?? null }), canonical({ [name]: value })]
    if (Buffer.compare(stored, expected) === 0) continue
    report.faults.push(`manifest.json: ${firstDifference(stored, expected)}`)
  }
}

/**
 * Checks every commit and every data file of the tables that the release was made from. Returns the tables; undefined if they
 * are damaged, so that nothing can be derived from them.
 */
async function checkTables(
  { store, local }: AuditContext,
  tables: ReleaseManifest['tables'],
  report: AuditReport,
): Promise<Record<ScoredTable, TableVersion> | undefined> {
  const versions = await unlessCorrupt(versionsOf(store, tables), report)
  if (versions) {
    const faults = report.faults.length
    for (const { table, files } of Object.values(versions)) {
      for (const file of files) {
        report.data_files_checked += 1
        await unlessCorrupt(localPath(local, table, file), report)
      }
    }
    if (report.faults.length === faults) return versions
  }
  report.derived = false
  report.notes.push('the tables are damaged, so the numbers were not derived again')
  return undefined
}

/** What was read; undefined, with a fault in the report, if it is corrupt. */
async function unlessCorrupt<T>(reading: Promise<T>, report: AuditReport): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (!(error instanceof ServiceError && error.kind === 'corrupt')) throw error
    report.faults.push(error.message)
    return undefined
  }
}

/** Compares a stored file with the manifest and with what was derived; returns what the manifest should say of it. */
async function checkFile(
  { store, secrets }: AuditContext,
  { release, as_of }: ReleaseManifest,
  { bytes, ...described }: ExpectedFile,
  entry: ManifestFile | undefined,
  thinned: ThinnedFiles,
  report: AuditReport,
): Promise<ManifestFile> {
  const { path } = described
  const stored = await store.get(releasePrefix(release) + path)
  if (!stored && entry && isThinnable(path) && (await thinned.at())) {
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

/** Checks the signatures in a shard and returns its bytes without them; undefined if it is no shard in canonical JSON. */
function withoutSignatures(
  stored: Uint8Array,
  secrets: readonly string[],
  report: AuditReport,
): Uint8Array | undefined {
  return resigned(stored, ({ payload, signature }, name) => {
    if (signature === null) report.signatures.unsigned += 1
    else if (secrets.length === 0) return null
    else if (signatureHolds(canonical(payload), signature, secrets)) report.signatures.valid += 1
    else if (++report.signatures.invalid === 1) {
      report.faults.push(`signatures: ${name} (and perhaps others) is not signed with the secrets given`)
    }
    return null
  })
}

/** Compares the snapshot that the release brings with the shards that it is copied from, and with its own manifest. */
async function checkSnapshot(
  { store, secrets }: AuditContext,
  manifest: ReleaseManifest,
  thinned: ThinnedFiles,
  report: AuditReport,
): Promise<void> {
  const { release } = manifest
  const date = snapshotDate(manifest.as_of)
  const faults = report.faults.length
  const snapshot = await unlessCorrupt(readSnapshotManifest(store, date), report)
  if (!snapshot) {
    // Until then a crash or a quarantine may have left it to the next release.
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
  for (const shard of manifest.files.filter(({ path }) => isShard(path))) {
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
  if (
    !stored ||
    Buffer.compare(stored, recordBytes(snapshotManifestPath(date), { date, release, files })) !== 0
  ) {
    report.faults.push(`${snapshotManifestPath(date)}: is not the manifest of the copied files`)
  }
}

/** Says what retention has left to check, and what it has not. */
async function reportThinned(
  thinned: ThinnedFiles,
  { files }: ReleaseManifest,
  report: AuditReport,
): Promise<void> {
  const { gone, unchecked } = thinned
  const since = await thinned.at()
  if (since === undefined) return
  report.thinned_at = since
  report.files_unchecked = unchecked
  const reasons = [
    ...(gone > unchecked
      ? [`${gone - unchecked} of them were derived again and compared with the hashes of the manifest`]
      : []),
    ...(unchecked > 0
      ? [
          report.derived
            ? `${unchecked} were not checked, since none of the secrets given made their signatures`
            : `${unchecked} were not checked, since the numbers were not derived again`,
        ]
      : []),
  ]
  report.notes.push(
    [
      `retention thinned this release at ${since}: ${gone} of its ${files.length} files are gone`,
      ...reasons,
    ].join('; '),
  )
}

/**
 * The copy of what a shard holds for the snapshot; undefined if the shard is damaged, which is a fault already, or if
 * retention has deleted it.
 */
async function copyOf(
  store: Store,
  { release, as_of }: ReleaseManifest,
  file: ManifestFile,
): Promise<OutputFile | undefined> {
  try {
    return snapshotFile(file.path, snapshotDate(as_of), await readReleaseShard(store, release, file))
  } catch (error) {
    if (error instanceof ServiceError && ['corrupt', 'notFound'].includes(error.kind)) return undefined
    throw error
  }
}

function firstDifference(stored: Uint8Array, expected: Uint8Array): string {
  let at = 0
  while (at < stored.length && at < expected.length && stored[at] === expected[at]) at += 1
  const excerpt = (bytes: Uint8Array) =>
    JSON.stringify(new TextDecoder().decode(bytes.subarray(Math.max(0, at - 30), at + 30)))
  return `differs at byte ${at} of ${stored.length}: stored ${excerpt(stored)}, derived ${excerpt(expected)}`
}
