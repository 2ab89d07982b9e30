// `fvs audit`.
import { auditRelease } from '../../pipeline/audit/release.ts'
import type { AuditReport } from '../../pipeline/audit/report.ts'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { currentRelease } from '../../pipeline/release/read.ts'
import { secretsInForce, settingName } from '../../schemas/config.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Environment } from '../../schemas/values.ts'
import type { Components } from '../components/components.ts'
import { type Report, labelled } from '../command-line/output.ts'

export async function runAudit(
  components: Components,
  wanted: number | undefined,
  { unsigned = false } = {},
): Promise<Report> {
  const release = wanted ?? (await currentRelease(components.store))
  if (release === 0)
    throw new ServiceError('notFound', `${components.store.url} has no release yet; run fvs release`)
  const secrets = unsigned ? [] : secretsInForce(components.own)
  const report = await withDatabase(components.openDatabase, (database) =>
    auditRelease({ ...components, database, secrets }, release),
  )
  return { ok: report.ok, json: report, text: describe(report, components.environment) }
}

function describe(report: AuditReport, environment: Environment): string {
  const { release, as_of, derived, ok, files_compared, files_unchecked, data_files_checked } = report
  const { signatures, snapshot_compared, credentials_checked, faults, notes } = report
  const { checked, valid, invalid, unsigned } = signatures
  const verdicts = derived
    ? ['every byte derived again', 'DIFFERS from what the tables give']
    : ['every hash holds', 'FAILED the check of its hashes and signatures']
  if (files_unchecked > 0) verdicts[0] = 'all that is left of it and can be checked holds'
  return [
    `release ${release} as of ${as_of}: ${verdicts[ok ? 0 : 1]}`,
    `${files_compared} files ${derived ? 'compared' : 'checked'}${snapshot_compared ? ', with the snapshot of the day' : ''}`,
    `${data_files_checked} data files of the tables checked`,
    checked
      ? `signatures: ${valid} hold, ${invalid} do not, ${unsigned} payloads are unsigned`
      : `signatures: not checked; set ${settingName('VERIFICATION_SIGNING_SECRET', environment)} to check them`,
    ...(credentials_checked > 0
      ? [`${credentials_checked} credentials say what the release says, and are signed`]
      : []),
    ...labelled('fault', faults),
    ...labelled('note', notes),
  ].join('\n')
}
