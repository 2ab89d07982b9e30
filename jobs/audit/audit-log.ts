// `fvs audit --log`.
import { join } from 'node:path'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { type VerifierKey, parseVerifierKey } from '../../pipeline/proof/note-keys.ts'
import { LocalFiles } from '../../pipeline/store/local-files.ts'
import type { KnownKeys } from '../../pipeline/audit/checkpoints.ts'
import type { LogAuditReport } from '../../pipeline/audit/findings.ts'
import { auditLog } from '../../pipeline/audit/log.ts'
import { settingName } from '../../schemas/config.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Components } from '../components/components.ts'
import { type Report, labelled } from '../command-line/output.ts'
import { ProgressLine } from '../command-line/progress.ts'

/** @throws ServiceError `invalid` for wrong keys, and if no key of the log is known. */
export async function runAuditLog(components: Components, vkeys: readonly string[]): Promise<Report> {
  const { store, directory, openDatabase } = components
  const known = knownKeys(components, vkeys.map(parseVerifierKey))
  // A folder of its own, because the audit must read the store and not the cache of this machine.
  const local = new LocalFiles(store, join(directory, 'audited'))
  const report = await withDatabase(openDatabase, async (database) => {
    using line = new ProgressLine(process.stderr, () => undefined)
    const progress = (step: string) => {
      line.step(step)
    }
    return await auditLog({ ...known, store, database, local, directory, progress })
  })
  return { ok: report.ok, json: report, text: describe(report) }
}

/** Returns the given keys, with the public halves of our own if none of the given ones is of the log. */
function knownKeys({ signers, environment }: Components, given: readonly VerifierKey[]): KnownKeys {
  const named = given.filter(({ use }) => use === 'log')
  const keys = named.length > 0 ? named : signers.map(({ verifier }) => verifier)
  const names = new Set(keys.map(({ name }) => name))
  if (names.size > 1) {
    throw new ServiceError(
      'invalid',
      `the keys are of several logs: ${[...names].join(', ')}; a store has one`,
    )
  }
  if (names.size === 0) {
    const setting = settingName('LOG_SIGNING_KEY', environment)
    throw new ServiceError(
      'invalid',
      `no key of the log is known, so that no signature could be checked: give one with --vkey, as the operator publishes it, or set ${setting}`,
    )
  }
  return { keys, witnesses: given.filter(({ use }) => use === 'witness') }
}

function describe(report: LogAuditReport): string {
  const { ok, origin, keys, entries, checkpoints_held, tiles_compared, cosignatures, faults, notes } = report
  const { files_checked, snapshots_checked, data_files_checked, forecasts_derived } = report
  return [
    `the log ${origin} of ${entries} entries: ${ok ? 'everything that it commits to holds' : 'FAILED'}`,
    `${checkpoints_held} checkpoints are signed by ${keys.join(' or ')}, with ${cosignatures.held} cosignatures that hold`,
    `${tiles_compared} tiles and bundles compared`,
    `${files_checked} files of releases and snapshots checked, of ${snapshots_checked} snapshots`,
    `${data_files_checked} data files of the tables checked, and the trees of ${forecasts_derived} forecasts derived again`,
    ...labelled('fault', faults),
    ...labelled('note', notes),
  ].join('\n')
}
