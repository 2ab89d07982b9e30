// `fvs audit --from`: audits a release over HTTP, with nothing but the key of the log.
import { setTimeout } from 'node:timers/promises'
import { rm } from 'node:fs/promises'
import { type OutsideReport, auditOutside } from '../pipeline/audit/outside.ts'
import { makeTemporaryFolder } from './components/temporary-folder.ts'
import type { Report } from './output.ts'
import { ProgressLine } from './progress.ts'

export interface FromOptions {
  from: string
  vkey: readonly string[]
  /** A checkpoint that was kept, and its file. */
  known: { note: Uint8Array; place: string } | undefined
  release?: number | undefined
}

/** Keeps nothing: what it has copied is deleted at its end. @throws ServiceError as `auditOutside`. */
export async function runAuditFrom({ from, vkey: vkeys, known, release }: FromOptions): Promise<Report> {
  const directory = await makeTemporaryFolder('work')
  const startedMs = performance.now()
  try {
    using line = new ProgressLine(process.stderr, () => undefined)
    const context = {
      directory,
      wait: async (ms: number) => {
        await setTimeout(ms)
      },
      progress: (step: string) => {
        line.step(step)
      },
    }
    const report = await auditOutside(context, { from, vkeys, known, release })
    const seconds = Math.round((performance.now() - startedMs) / 100) / 10
    return { ok: report.ok, json: { ...report, seconds }, text: describe(report, seconds) }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function describe(report: OutsideReport, seconds: number): string {
  const { release, as_of, ok, log, files_compared, snapshot_compared, requests, bytes } = report
  const verdict = ok ? 'every file is the one that was logged' : 'FAILED the check of its files'
  return [
    `release ${release} as of ${as_of}: ${verdict}`,
    `it is entry ${release} of ${log.entries} in the log ${log.origin}, whose checkpoint is signed by a key that was given`,
    `${files_compared} files checked${snapshot_compared ? ', with the snapshot of the day' : ''}`,
    `${requests} requests, ${bytes} bytes, ${seconds} s`,
    ...report.faults.map((fault) => `fault: ${fault}`),
    ...report.notes.map((note) => `note: ${note}`),
  ].join('\n')
}
