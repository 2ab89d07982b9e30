// `fvs audit`.
import { Option } from 'commander'
import { auditRelease } from '../../pipeline/audit/release.ts'
import type { AuditReport } from '../../pipeline/audit/report.ts'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { currentRelease } from '../../pipeline/release/read.ts'
import { secretsInForce, settingName } from '../../schemas/config.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Environment } from '../../schemas/values.ts'
import type { Components } from '../components/components.ts'
import { type Report, labelled } from '../command-line/output.ts'
import { collected, wholeNumber } from '../command-line/arguments.ts'
import {
  type StoreOptions,
  finish,
  onStore,
  program,
  settingsFor,
  storeCommand,
} from '../command-line/program.ts'
import { runAuditLog } from './audit-log.ts'
import { assertSecretOf } from '../release/signing-as-before.ts'
import { knownCheckpoint } from '../monitor/state-file.ts'
import { runAuditFrom } from './audit-from.ts'

interface AuditOptions extends StoreOptions {
  release?: number
  log?: boolean
  from?: string
  known?: string
  vkey: readonly string[]
  unsigned?: boolean
}

export function addAudit(): void {
  storeCommand(
    'audit',
    'Derive a release again from the tables and compare every byte; with --log, check the whole public log; with --from, audit over HTTP without a store.',
  )
    .addOption(
      new Option('--release <number>', 'which release (default: the current one)').argParser(wholeNumber),
    )
    .option(
      '--log',
      'check every signature, tile and entry of the public log, and what each release commits to',
    )
    .option(
      '--vkey <key>',
      'with --log, a key of the log or of a witness; with --from, a key of the log; may be repeated (default with --log: the keys of the settings)',
      collected,
      [],
    )
    .option(
      '--from <address>',
      'audit what is served there, such as https://host/data, by the public log; it needs no store and no secret',
    )
    .option(
      '--known <file>',
      'with --from, a checkpoint that you have kept or a --state, which the log must continue',
    )
    .option('--unsigned', 'check no signatures, so that it takes no secret')
    .action((options: AuditOptions) => {
      const { release, log: wholeLog = false, vkey, unsigned = false, from, known } = options
      if (from !== undefined) return auditFrom({ ...options, from })
      if (known !== undefined) program.error('error: --known goes with --from', { exitCode: 2 })
      if (wholeLog && release !== undefined)
        program.error('error: --log checks all releases, so it takes no --release', { exitCode: 2 })
      if (wholeLog && unsigned)
        program.error('error: --log checks the signatures of the log, so it takes no --unsigned', {
          exitCode: 2,
        })
      if (!wholeLog && vkey.length > 0)
        program.error('error: --vkey goes with --log or --from', { exitCode: 2 })
      return onStore(options, 'reads', async (components) => {
        if (wholeLog) return runAuditLog(components, vkey)
        if (!unsigned) await assertSecretOf(components, release)
        return runAudit(components, release, { unsigned })
      })
    })
}

async function auditFrom(options: AuditOptions & { from: string }): Promise<void> {
  if (options.log === true || options.unsigned === true)
    program.error('error: --from checks the log and no secret, so it takes neither --log nor --unsigned', {
      exitCode: 2,
    })
  if (options.vkey.length === 0)
    program.error('error: --from takes the key of the log: --vkey', { exitCode: 2 })
  const { known: place } = options
  const known = place === undefined ? undefined : await knownCheckpoint(place)
  finish(await runAuditFrom(settingsFor(options), { ...options, known }), options)
}

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
