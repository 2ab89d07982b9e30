// `fvs audit --from`: audits a release over HTTP, with nothing but the key of the log.
import { setTimeout } from 'node:timers/promises'
import { rm } from 'node:fs/promises'
import { type OutsideReport, auditOutside } from '../../pipeline/audit/outside.ts'
import type { SignedCheckpoint } from '../../pipeline/proof/checkpoint.ts'
import type { VerifierKey } from '../../pipeline/proof/note-keys.ts'
import { logKeys } from '../../pipeline/transparency/log-reader.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import type { Settings } from '../../schemas/config.ts'
import { SERVICE_VERSION, databaseIn } from '../components/components.ts'
import { makeTemporaryFolder } from '../components/temporary-folder.ts'
import { type Report, labelled } from '../command-line/output.ts'
import { ProgressLine } from '../command-line/progress.ts'

export interface FromOptions {
  from: string
  vkey: readonly string[]
  /** Returns the checkpoint that was kept, which one of the keys must have signed. */
  known: ((keys: readonly VerifierKey[]) => Promise<SignedCheckpoint>) | undefined
  release?: number | undefined
}

/** Keeps nothing: what it has copied is deleted at its end. @throws ServiceError as `auditOutside`. */
export async function runAuditFrom(
  settings: Settings,
  { from, vkey: vkeys, known, release }: FromOptions,
): Promise<Report> {
  const directory = await makeTemporaryFolder('work')
  const startedMs = performance.now()
  try {
    using line = new ProgressLine(process.stderr, () => undefined)
    const context = {
      methodology: METHODOLOGY,
      service: SERVICE_VERSION,
      directory,
      openDatabase: () => databaseIn(settings, directory),
      wait: async (ms: number) => {
        await setTimeout(ms)
      },
      progress: (step: string) => {
        line.step(step)
      },
    }
    const keys = logKeys(vkeys)
    const report = await auditOutside(context, { from, keys, known: await known?.(keys), release })
    const seconds = Math.round((performance.now() - startedMs) / 100) / 10
    return { ok: report.ok, json: { ...report, seconds }, text: describe(report, seconds) }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function describe(report: OutsideReport, seconds: number): string {
  const { release, as_of, derived, ok, log, files_compared, data_files_checked, snapshot_compared } = report
  const holds = derived
    ? 'every byte of its numbers derived again from what is public'
    : 'every file is the one that was logged'
  const fails = derived
    ? 'DIFFERS from what is public, or from what was logged'
    : 'FAILED the check of its files'
  return [
    `release ${release} as of ${as_of}: ${ok ? holds : fails}`,
    `it is entry ${release} of ${log.entries} in the log ${log.origin}, whose checkpoint is signed by a key that was given`,
    `${files_compared} files ${derived ? 'compared' : 'checked'}${snapshot_compared ? ', with the snapshot of the day' : ''}; ${data_files_checked} files of public tables`,
    `${report.requests} requests, ${report.bytes} bytes, ${seconds} s`,
    ...labelled('fault', report.faults),
    ...labelled('note', report.notes),
  ].join('\n')
}
