// Audits a release from outside, without a secret and without the store: the log by the keys of the reader,
// and every file by the log.
import type { PipelineComponents } from '../components.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { FileStore } from '../store/file.ts'
import { isPublicPath, isShardPath, manifestPath, releasePrefix } from '../store/paths.ts'
import { remoteLog, signedCheckpoint } from '../transparency/remote-log.ts'
import { Findings } from './findings.ts'
import { Mirror } from './mirror.ts'
import type { AuditReport } from './report.ts'
import { ServedData } from './served-data.ts'
import { readServedLog } from './served-log.ts'
import { checkRoots, checkShard, placesOf } from './shards.ts'
import { checkSnapshot } from './snapshot-check.ts'
import { ThinnedFiles } from './thinned-files.ts'

export type OutsideContext = Pick<PipelineComponents, 'directory' | 'wait'> & {
  /** Receives the name of each step that begins. */
  progress: (step: string) => void
}

export interface Outside {
  /** The address under which the paths of the store are served. */
  from: string
  /** Keys of the log, at least one. */
  vkeys: readonly string[]
  /** A checkpoint that the reader has kept, and its place. */
  known: { note: Uint8Array; place: string } | undefined
  /** By default the last one that is logged. */
  release: number | undefined
}

export interface OutsideReport extends Pick<
  AuditReport,
  'release' | 'as_of' | 'ok' | 'files_compared' | 'snapshot_compared' | 'faults' | 'notes'
> {
  log: { origin: string; entries: number }
  /** The requests made, and the bytes of the bodies that came. */
  requests: number
  bytes: number
}

/**
 * Copies what is public of a release below `directory`, and audits it.
 *
 * @throws ServiceError `invalid` for wrong keys and for another log, `corrupt` for a log that does not lead
 *   to its checkpoint, `notFound` for a release that is not logged, `unavailable` for a server that does
 *   not answer, or with more than it may.
 */
export async function auditOutside(context: OutsideContext, asked: Outside): Promise<OutsideReport> {
  const { directory, progress } = context
  progress('reading the log')
  const served = new ServedData(asked.from.replace(/\/+$/, ''), context.wait)
  const log = remoteLog(asked.from, asked.vkeys, {}, served.fetch)
  const known = asked.known && signedCheckpoint(asked.known.note, asked.known.place, log.keys)
  const { checkpoint, statements } = await readServedLog(log, known)
  const release = asked.release ?? checkpoint.size
  const logged = statements[release - 1]
  if (!logged) {
    throw new ServiceError(
      'notFound',
      `the log has ${checkpoint.size} entries, so there is no release ${release} in it`,
    )
  }
  const findings = new Findings()
  const mirror = new Mirror(served, await FileStore.begin(`${directory}/mirror`), findings)
  const report = emptyReport(release, logged.as_of)
  const manifest = await mirror.manifest(logged)
  if (manifest) await checkRelease(context, { mirror, findings, report, manifest })
  report.faults.unshift(...findings.faults)
  report.notes.push(...findings.notes)
  report.ok = report.faults.length === 0
  const { as_of, ok, files_compared, snapshot_compared, faults, notes } = report
  const { origin, size: entries } = checkpoint
  return {
    release,
    as_of,
    ok,
    log: { origin, entries },
    files_compared,
    snapshot_compared,
    faults,
    notes,
    ...served.cost,
  }
}

interface Checked {
  mirror: Mirror
  findings: Findings
  report: AuditReport
  manifest: ReleaseManifest
}

async function checkRelease(context: OutsideContext, checked: Checked): Promise<void> {
  const { mirror, report, manifest } = checked
  const { release, files } = manifest
  const open = files.filter(({ path }) => isPublicPath(path))
  const bytes = open.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  context.progress(`copying ${open.length} files of ${bytes} bytes`)
  const missing = await mirror.copy(() => release, open)
  for (const file of missing) mirror.missing(releasePrefix(release) + file.path, file)
  await mirror.snapshot(manifest)
  report.files_compared = open.length
  context.progress('checking the payloads')
  await checkShards(checked)
  const { store } = mirror
  const noSecrets = { store, secrets: [] }
  if (manifest.snapshot_sha256) {
    await checkSnapshot(noSecrets, manifest, new ThinnedFiles(store, release, undefined), report)
  }
  report.notes.push(
    'the numbers were not derived again, since this address serves no forecasts: what was published is what was logged, and whether it follows from the forecasts is not checked',
  )
}

/** Checks the payloads by the trees that the log has. */
async function checkShards({ mirror, findings, manifest }: Checked): Promise<void> {
  const { release, files, trees } = manifest
  const places = placesOf(files)
  for (const { path } of files) {
    if (!isShardPath(path)) continue
    const object = releasePrefix(release) + path
    const bytes = await mirror.store.get(object)
    if (!bytes) continue
    checkShard(findings, object, bytes, places.get(path)!, manifest)
  }
  if (trees) checkRoots(findings, manifest, trees)
  else findings.notes.push(`${manifestPath(release)} names no trees, since an earlier version made it`)
}

function emptyReport(release: number, as_of: string): AuditReport {
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
