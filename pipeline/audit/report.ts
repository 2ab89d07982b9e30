// The report of an audit, and the checks that fill it: objects that cannot be read, signatures, and bytes
// that differ.
import type { PipelineComponents } from '../components.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { Database } from '../duckdb.ts'
import { canonical } from '../proof/canonical.ts'
import { signatureHolds } from '../proof/hmac.ts'
import { resigned } from '../release/signatures.ts'

export interface AuditReport {
  release: number
  as_of: string
  /** Whether every number was derived again. */
  derived: boolean
  ok: boolean
  files_compared: number
  /** Data files of the tables, compared with the hashes in their commits. */
  data_files_checked: number
  /** Counts of signatures that hold, of those that none of the secrets made, and of payloads without one. */
  signatures: { checked: boolean; valid: number; invalid: number; unsigned: number }
  snapshot_compared: boolean
  /** Credentials that say what the release says, and are signed; 0 where none were issued for it. */
  credentials_checked: number
  /** When retention began to delete the files of the release. */
  thinned_at: string | null
  /** Deleted files that could not be derived again and signed. */
  files_unchecked: number
  faults: string[]
  /** Remarks that are no faults of the release, such as a check left out and why. */
  notes: string[]
}

/** Returns the report of a release before any check. */
export function emptyReport(release: number, as_of: string): AuditReport {
  return {
    release,
    as_of,
    derived: false,
    ok: true,
    files_compared: 0,
    data_files_checked: 0,
    signatures: { checked: false, valid: 0, invalid: 0, unsigned: 0 },
    snapshot_compared: false,
    credentials_checked: 0,
    thinned_at: null,
    files_unchecked: 0,
    faults: [],
    notes: [],
  }
}

/** Whether this program makes the bytes of a release: it has the method and the engines that made it. */
export function isDerivable(
  { methodology_version, engines }: Pick<ReleaseManifest, 'methodology_version' | 'engines'>,
  { methodology, service }: Pick<PipelineComponents, 'methodology' | 'service'>,
): boolean {
  return (
    methodology_version === methodology.version &&
    engines.duckdb === Database.version &&
    majorOf(engines.service) === majorOf(service)
  )
}

/** Says why the numbers of a release are not derived again by this program. */
export function notDerivedText(
  { methodology_version: method, engines }: Pick<ReleaseManifest, 'methodology_version' | 'engines'>,
  { methodology, service }: Pick<PipelineComponents, 'methodology' | 'service'>,
): string {
  return `version ${engines.service} of the service made this release, with method ${method} and DuckDB ${engines.duckdb}; this is version ${service}, with method ${methodology.version} and DuckDB ${Database.version}, so it did not derive the numbers again: version ${engines.service} does`
}

/** Versions with the same first number write the same files. */
function majorOf(version: string): string {
  return version.split('.')[0]!
}

/** Returns the result of a read. If that is `corrupt`, adds a fault to the report and returns undefined. */
export async function unlessCorrupt<T>(reading: Promise<T>, report: AuditReport): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (!(error instanceof ServiceError && error.kind === 'corrupt')) throw error
    report.faults.push(error.message)
    return undefined
  }
}

/**
 * Checks the signatures in a shard and returns its bytes without them. Returns undefined for bytes that are
 * not a shard in canonical JSON.
 */
export function withoutSignatures(
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

/**
 * Describes the first byte that differs, with the bytes around it in both. The bytes may be a piece, from
 * byte `from` on, of a file of `sizeBytes`.
 */
export function firstDifference(
  stored: Uint8Array,
  expected: Uint8Array,
  from = 0,
  sizeBytes = stored.length,
): string {
  let at = 0
  while (at < stored.length && at < expected.length && stored[at] === expected[at]) at += 1
  const excerpt = (bytes: Uint8Array) =>
    JSON.stringify(new TextDecoder().decode(bytes.subarray(Math.max(0, at - 30), at + 30)))
  return `differs at byte ${from + at} of ${sizeBytes}: stored ${excerpt(stored)}, derived ${excerpt(expected)}`
}

/** Compares members of the manifest with the derived ones. */
export function checkStatements(
  manifest: ReleaseManifest,
  derived: Partial<ReleaseManifest>,
  report: AuditReport,
): void {
  for (const [name, value] of Object.entries(derived)) {
    const stated = manifest[name as keyof ReleaseManifest] ?? null
    compareMember(report, { [name]: stated }, { [name]: value ?? null })
  }
}

/** Compares a part of the manifest with the derived one. */
function compareMember(report: AuditReport, stated: object, derived: object): void {
  const [stored, expected] = [canonical(stated), canonical(derived)]
  if (Buffer.compare(stored, expected) !== 0) {
    report.faults.push(`manifest.json: ${firstDifference(stored, expected)}`)
  }
}
