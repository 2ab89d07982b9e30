// `fvs doctor`: checks everything that an operator can get wrong, and advises.
import { assertNoCopy } from '../../pipeline/backup/note.ts'
import { assertOrigin } from '../../pipeline/transparency/publish.ts'
import type { Settings } from '../../schemas/config.ts'
import { printable } from '../../pipeline/printable.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Environment } from '../../schemas/values.ts'
import type { OtherPlace } from '../components/own-store.ts'
import { type Components, withComponents } from '../components/components.ts'
import { type Finding, fault } from './finding.ts'
import { checkCredentials } from './credentials.ts'
import { checkBackup, checkReleases } from './published.ts'
import { checkFiles, checkRedis, checkSecrets, checkSpace } from './settings.ts'
import { STORE_ADVICE, checkInbox, checkObjects, checkStore } from './store.ts'
import { type BackupOptions, ENDPOINT, PROFILE, otherPlace } from '../command-line/backup-options.ts'
import type { Report } from '../command-line/output.ts'
import { assertSigningAsBefore } from '../release/signing-as-before.ts'
import {
  type StoreOptions,
  finish,
  namedSettingsFile,
  settingsFor,
  storeCommand,
} from '../command-line/program.ts'

export function addDoctor(): void {
  storeCommand(
    'doctor',
    'Check settings, secrets, the store, releases, the log and the backup; 1 if something must be done.',
  )
    .option('--backup <url>', 'the backup, to say how old it is: file:///folder or s3://bucket/prefix')
    .option(...ENDPOINT)
    .option(...PROFILE)
    .action(async (options: StoreOptions & BackupOptions & { backup?: string }) => {
      const { environment, backup } = options
      const about = { settingsFile: namedSettingsFile(), backup, ...otherPlace(options) }
      finish(await runDoctor(() => settingsFor(options), environment, about), options)
    })
}

export interface DoctorOptions extends OtherPlace {
  /** The file of settings given to the command. */
  settingsFile?: string | undefined
  backup?: string | undefined
}

/** @param parse returns the settings, or throws `invalid`. */
export async function runDoctor(
  parse: () => Settings,
  environment: Environment,
  options: DoctorOptions,
): Promise<Report> {
  try {
    return await withComponents(parse(), environment, 'reads', async (components) =>
      doctorReport(await diagnose(components, options)),
    )
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const check = error.kind === 'invalid' ? 'settings' : 'store'
    const advice = check === 'settings' ? 'correct it: docs/settings.md' : STORE_ADVICE
    const details = error.faults.map(({ pointer, detail }) => `${pointer}: ${detail}`)
    return doctorReport(
      (details.length > 0 ? details : [error.message]).map((detail) => fault(check, detail, advice)),
    )
  }
}

/** Returns the findings of all checks. A failed check is a finding, and does not stop the others. */
export async function diagnose(components: Components, options: DoctorOptions): Promise<Finding[]> {
  const { settingsFile, backup, ...other } = options
  const checks: Record<string, () => Finding[] | Promise<Finding[]>> = {
    secret: () => checkSecrets(components),
    files: () => checkFiles(components, settingsFile),
    space: () => checkSpace(components),
    store: () => checkStore(components),
    inbox: () => checkInbox(components),
    objects: () => checkObjects(components),
    release: () => checkReleases(components),
    signing: () => assertSigningAsBefore(components).then(() => []),
    'log key': () => assertOrigin(components).then(() => []),
    credentials: () => checkCredentials(components),
    redis: () => checkRedis(components),
    backup: async () => [await checkBackup(components, backup, other)],
  }
  try {
    await assertNoCopy(components.store)
  } catch (error) {
    return [failure('store', error)]
  }
  const findings: Finding[] = []
  for (const [name, check] of Object.entries(checks)) {
    try {
      findings.push(...(await check()))
    } catch (error) {
      findings.push(failure(name, error))
    }
  }
  return findings
}

function failure(check: string, error: unknown): Finding {
  if (!(error instanceof ServiceError)) throw error
  const advice: Partial<Record<ServiceError['kind'], string>> = {
    corrupt: 'docs/recover.md, The store contradicts itself',
    conflict: ABOUT_CONFLICTS[check] ?? 'docs/run.md, One node or many',
    unavailable: STORE_ADVICE,
  }
  return fault(check, error.message, advice[error.kind] ?? 'try again')
}

const ABOUT_CONFLICTS: Record<string, string> = {
  store: 'docs/recover.md, Backups',
  signing: 'docs/run.md, Sign what is published',
  'log key': 'docs/operate.md, The public log',
}

const STATE_WORDS = { ok: 'ok  ', note: 'note', fault: 'FIX ' }

function doctorReport(findings: readonly Finding[]): Report {
  const faults = findings.filter(({ state }) => state === 'fault').length
  const width = Math.max(...findings.map(({ check }) => check.length))
  const lines = findings.map(
    ({ check, state, detail, advice }) =>
      `${STATE_WORDS[state]} ${check.padEnd(width)}  ${printable(detail)}${advice === undefined ? '' : ` — ${advice}`}`,
  )
  const verdict =
    faults === 0 ? 'nothing must be done' : `${faults} ${faults === 1 ? 'thing' : 'things'} must be done`
  return { ok: faults === 0, json: { ok: faults === 0, findings }, text: [...lines, verdict].join('\n') }
}
