// Derives a published release again from the tables and compares every byte with what was published.
import type { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { PUBLICATIONS } from '../../schemas/metric.ts'
import { type ReleaseManifest, releaseShard } from '../../schemas/payloads.ts'
import { type DerivationContext, deriveRelease, snapshotDate } from './derive.ts'
import { Database } from '../duckdb.ts'
import type { OutputFile } from './shards.ts'
import { entryOf, versionsOf } from './make.ts'
import { readManifest, readSnapshotManifest } from './read.ts'
import { signatureHolds } from '../proof/hmac.ts'
import { canonical, sha256Hex } from '../proof/canonical.ts'
import { manifestPath, releasePrefix, snapshotManifestPath, snapshotPrefix } from '../store/paths.ts'
import type { Store } from '../store/store.ts'

export interface AuditContext extends DerivationContext {
  store: Store
  /** To check signatures with; empty: they are not checked. */
  secrets: readonly string[]
}

export interface AuditReport {
  release: number
  as_of: string
  ok: boolean
  files_compared: number
  /** Signatures that hold, that none of the secrets made, and payloads without one. */
  signatures: { checked: boolean; valid: number; invalid: number; unsigned: number }
  snapshot_compared: boolean
  faults: string[]
  /** What explains a difference without being one. */
  notes: string[]
}

/** @throws ServiceError `notFound` for a release that was never committed. */
export async function auditRelease(context: AuditContext, release: number): Promise<AuditReport> {
  const { store, secrets } = context
  const manifest = await readManifest(store, release)
  if (!manifest) throw new ServiceError('notFound', `there is no release ${release}`)
  const report: AuditReport = {
    release,
    as_of: manifest.as_of,
    ok: true,
    files_compared: 0,
    signatures: { checked: secrets.length > 0, valid: 0, invalid: 0, unsigned: 0 },
    snapshot_compared: false,
    faults: [],
    notes: [],
  }
  if (manifest.engines.duckdb !== Database.version) {
    report.notes.push(
      `published with DuckDB ${manifest.engines.duckdb}, audited with ${Database.version}: Parquet files may differ in bytes and not in content`,
    )
  }
  const derived = await deriveRelease(context, {
    release,
    asOf: new Date(manifest.as_of),
    environment: manifest.environment,
    versions: await versionsOf(context, manifest.tables),
  })
  const files: ReleaseManifest['files'] = []
  for await (const file of derived.files(() => null)) {
    files.push(await compareFile(context, release, file, manifest, report))
  }
  const expected = canonical({ ...manifest, files })
  const stored = await store.get(manifestPath(release))
  if (!stored || Buffer.compare(stored, expected) !== 0) {
    report.faults.push('manifest.json: is not the manifest of the derived files')
  }
  await compareSnapshot(store, manifest, [...derived.snapshotFiles()], report)
  report.ok = report.faults.length === 0
  return report
}

/** Compares a stored file with the derived one; returns what the manifest should say of it. */
async function compareFile(
  { store, secrets }: AuditContext,
  release: number,
  derived: OutputFile,
  manifest: ReleaseManifest,
  report: AuditReport,
): Promise<ReleaseManifest['files'][number]> {
  report.files_compared += 1
  const stored = await store.get(releasePrefix(release) + derived.path)
  const entry = manifest.files.find(({ path }) => path === derived.path)
  if (!stored || !entry) {
    report.faults.push(`${derived.path}: ${stored ? 'is missing from the manifest' : 'is missing'}`)
    return entryOf(derived)
  }
  if (sha256Hex(stored) !== entry.sha256)
    report.faults.push(`${derived.path}: its SHA-256 is not the manifest's`)
  const isShard = derived.path.endsWith('.json')
  const unsigned = isShard ? withoutSignatures(stored, secrets, report) : stored
  if (!unsigned) report.faults.push(`${derived.path}: is not a shard in canonical JSON`)
  else if (Buffer.compare(unsigned, derived.bytes) !== 0) {
    report.faults.push(`${derived.path}: ${firstDifference(unsigned, derived.bytes)}`)
  }
  return entryOf({ ...derived, bytes: stored })
}

/** A shard's bytes with every signature taken out, after checking it; undefined for what is no canonical shard. */
function withoutSignatures(
  stored: Uint8Array,
  secrets: readonly string[],
  report: AuditReport,
): Uint8Array | undefined {
  let shard: z.infer<typeof releaseShard>
  try {
    shard = releaseShard.parse(JSON.parse(new TextDecoder().decode(stored)))
  } catch {
    return undefined
  }
  if (Buffer.compare(canonical(shard), stored) !== 0) return undefined
  for (const [entityId, entity] of Object.entries(shard.entities)) {
    for (const kind of PUBLICATIONS) {
      const { payload, signature } = entity[kind]
      entity[kind].signature = null
      if (signature === null) report.signatures.unsigned += 1
      else if (secrets.length > 0) {
        if (signatureHolds(canonical(payload), signature, secrets)) report.signatures.valid += 1
        else {
          report.signatures.invalid += 1
          if (report.signatures.invalid === 1) {
            report.faults.push(
              `signatures: ${kind} of ${entityId} (and perhaps others) is not signed with the secrets given`,
            )
          }
        }
      }
    }
  }
  return canonical(shard)
}

async function compareSnapshot(
  store: Store,
  manifest: ReleaseManifest,
  files: readonly OutputFile[],
  report: AuditReport,
): Promise<void> {
  const date = snapshotDate(new Date(manifest.as_of))
  const snapshot = await readSnapshotManifest(store, date)
  if (snapshot?.release !== manifest.release) return
  report.snapshot_compared = true
  for (const file of files) {
    report.files_compared += 1
    const stored = await store.get(snapshotPrefix(date) + file.path)
    if (!stored || Buffer.compare(stored, file.bytes) !== 0) {
      report.faults.push(
        `${snapshotPrefix(date)}${file.path}: ${stored ? firstDifference(stored, file.bytes) : 'is missing'}`,
      )
    }
  }
  const expected = canonical({ date, release: manifest.release, files: files.map(entryOf) })
  const stored = await store.get(snapshotManifestPath(date))
  if (!stored || Buffer.compare(stored, expected) !== 0) {
    report.faults.push(`${snapshotManifestPath(date)}: is not the manifest of the derived files`)
  }
}

function firstDifference(stored: Uint8Array, derived: Uint8Array): string {
  let at = 0
  while (at < stored.length && at < derived.length && stored[at] === derived[at]) at += 1
  const excerpt = (bytes: Uint8Array) =>
    JSON.stringify(new TextDecoder().decode(bytes.subarray(Math.max(0, at - 30), at + 30)))
  return `differs at byte ${at} of ${stored.length}: stored ${excerpt(stored)}, derived ${excerpt(derived)}`
}
