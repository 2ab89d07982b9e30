// Checks a published release: every hash, every signature and every copy in the snapshot. If this version of
// the service has the method and the version of DuckDB that made the release, it also derives every byte
// again from the tables.
import { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { checkCredentials } from './credentials-check.ts'
import { checkErased } from './erased-check.ts'
import { deriveRelease } from '../release/derive.ts'
import type { DerivationContext } from '../release/files/kind.ts'
import { compareRelease, statedBy } from './compare-files.ts'
import {
  type AuditReport,
  checkStatements,
  emptyReport,
  isDerivable,
  notDerivedText,
  unlessCorrupt,
} from './report.ts'
import { checkPublic } from './public-check.ts'
import { quarantineFaults } from './quarantine-check.ts'
import { checkSnapshot } from './snapshot-check.ts'
import { checkTables } from './tables-check.ts'
import { readManifest } from '../release/read.ts'
import { readPlan } from '../release/state.ts'
import { signerOf } from '../release/signatures.ts'
import { ThinnedFiles } from './thinned-files.ts'
import { inputsOf } from '../release/trees.ts'
import type { Store } from '../store/store.ts'

export interface AuditContext extends DerivationContext {
  store: Store
  /** The version of this service. */
  service: string
  /** The secrets that check signatures; if there are none, signatures are not checked. */
  secrets: readonly string[]
}

/** @throws ServiceError `notFound` for a release that was never committed. */
export async function auditRelease(context: AuditContext, release: number): Promise<AuditReport> {
  const { store, secrets } = context
  const manifest = await readManifest(store, release)
  if (!manifest) throw new ServiceError('notFound', `there is no release ${release}`)
  const { as_of, environment } = manifest
  const report = emptyReport(release, as_of)
  report.derived = isDerivable(manifest, context)
  report.signatures.checked = secrets.length > 0
  if (!report.derived) report.notes.push(notDerivedText(manifest, context))
  const plan = await unlessCorrupt(readPlan(store, release), report)
  if (!plan && report.faults.length === 0) report.faults.push('plan.json: is missing')
  const bringsSnapshot = plan?.brings_snapshot ?? false
  const thinned = new ThinnedFiles(store, release, signerOf(plan?.signing, secrets))
  const versions = await checkTables(context, manifest, report)
  const previous = report.derived && versions ? await previousManifest(store, release) : undefined
  const before = previous?.quarantined ?? []
  report.faults.push(...(await quarantineFaults(store, manifest, plan && (plan.quarantined ?? []), before)))
  await checkErased(store, manifest, plan, previous, report)
  const inputs = { release, asOf: new Date(as_of), environment, previous, bringsSnapshot }
  await using derived =
    report.derived && versions ? await deriveRelease(context, { ...inputs, versions }) : undefined
  const compared = derived &&
    versions && { release: derived, stated: { ...statedBy(derived), inputs: inputsOf(versions, previous) } }
  await compareRelease(context, manifest, compared, thinned, report)
  const expectedTables = derived && versions && { release, asOf: new Date(as_of), versions, previous }
  const tables = await checkPublic(context, manifest, expectedTables, thinned, report)
  if (tables) checkStatements(manifest, { public: tables }, report)
  if (bringsSnapshot) await checkSnapshot(context, manifest, thinned, report)
  if (report.faults.length === 0) await unlessCorrupt(checkCredentials(store, manifest, report), report)
  await reportThinned(thinned, manifest, report)
  report.ok = report.faults.length === 0
  return report
}

/** @throws ServiceError `corrupt` if the release before this one has lost its manifest. */
async function previousManifest(store: Store, release: number): Promise<ReleaseManifest | undefined> {
  if (release === 1) return undefined
  const manifest = await readManifest(store, release - 1)
  if (manifest) return manifest
  throw new ServiceError(
    'corrupt',
    `release ${release - 1} has lost its manifest, so what release ${release} corrects cannot be derived`,
  )
}

/** Notes how many files retention has deleted, and how many of them could still be checked. */
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
