// Audits a release from outside, without a secret and without the store: the log by the keys of the reader,
// and every file by the log.
import type { PipelineComponents } from '../components.ts'
import type { ManifestFile } from '../../schemas/manifests.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { SignedCheckpoint } from '../proof/checkpoint.ts'
import type { VerifierKey } from '../proof/note-keys.ts'
import { FileStore } from '../store/file.ts'
import { HttpStore } from '../store/http.ts'
import { isPublished, releasePrefix } from '../store/paths.ts'
import { readLog } from '../transparency/read-log.ts'
import { deriveOutside } from './derive-outside.ts'
import { checkErasedStay } from './erased-check.ts'
import { Findings } from './findings.ts'
import { type Checked, PublicCopy } from './public-copy.ts'
import { checkLoggedSnapshot, checkReleaseFiles } from './release-files.ts'
import { type AuditReport, emptyReport, isDerivable, notDerivedText, unlessCorrupt } from './report.ts'
import { checkSnapshot } from './snapshot-check.ts'
import { SaidOfEntities } from './stand-ins.ts'
import { ThinnedFiles } from './thinned-files.ts'
import { type CheckedTimes, NO_TIMES, checkTimesOutside } from './times-outside.ts'

export type OutsideContext = Pick<
  PipelineComponents,
  'methodology' | 'openDatabase' | 'directory' | 'service' | 'wait'
> & {
  /** Receives the name of each step that begins. */
  progress: (step: string) => void
}

export interface Outside {
  /** The address under which the paths of the store are served. */
  from: string
  /** Keys of the log that the reader knows, at least one. */
  keys: readonly VerifierKey[]
  /** A checkpoint that the reader has kept. */
  known: SignedCheckpoint | undefined
  /** By default the last one that is logged. */
  release: number | undefined
}

export interface OutsideReport extends Pick<
  AuditReport,
  | 'release'
  | 'as_of'
  | 'derived'
  | 'ok'
  | 'files_compared'
  | 'data_files_checked'
  | 'snapshot_compared'
  | 'faults'
  | 'notes'
> {
  log: { origin: string; entries: number }
  times: CheckedTimes
  /** The requests made, and the bytes of the bodies that came. */
  requests: number
  bytes: number
}

/**
 * Copies what is public of a release below `directory`, and audits it.
 *
 * @throws ServiceError `invalid` for another log, `corrupt` for a log that does not lead
 *   to its checkpoint, `notFound` for a release that is not logged, `unavailable` for a server that does
 *   not answer, or with more than it may.
 */
export async function auditOutside(context: OutsideContext, request: Outside): Promise<OutsideReport> {
  const { directory, progress } = context
  progress('reading the log')
  const { keys, known } = request
  const served = new HttpStore(request.from, { wait: context.wait })
  const { checkpoint, statements } = await readLog(served, keys, known)
  const release = request.release ?? checkpoint.size
  const logged = statements[release - 1]
  if (!logged) {
    throw new ServiceError(
      'notFound',
      `the log has ${checkpoint.size} entries, so there is no release ${release} in it`,
    )
  }
  const findings = new Findings()
  let times = NO_TIMES
  const copy = new PublicCopy(served, await FileStore.begin(`${directory}/copy`), findings)
  const report = emptyReport(release, logged.as_of)
  const manifest = await copy.manifest(logged)
  if (manifest) {
    const before = statements[release - 2] && (await copy.manifest(statements[release - 2]!))
    checkErasedStay(findings, manifest, before)
    const checked = { served, copy, findings, report, manifest }
    await checkRelease(context, checked)
    times = await checkTimesOutside({ ...context, keys, statements }, checked)
  }
  report.faults.unshift(...findings.faults)
  report.notes.push(...findings.notes)
  report.ok = report.faults.length === 0
  const { as_of, derived, ok, files_compared, data_files_checked, snapshot_compared, faults, notes } = report
  const { origin, size: entries } = checkpoint
  return {
    release,
    as_of,
    derived,
    ok,
    log: { origin, entries },
    times,
    files_compared,
    data_files_checked,
    snapshot_compared,
    faults,
    notes,
    ...served.cost,
  }
}

async function checkRelease(context: OutsideContext, checked: Checked): Promise<void> {
  const { copy, findings, report, manifest } = checked
  const { release, files } = manifest
  const open = files.filter(({ path }) => isPublished(path))
  const tables = manifest.public
  const bytes = [...open, ...tables].reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  context.progress(`copying ${open.length + tables.length} files of ${bytes} bytes`)
  const placed = (file: ManifestFile, by: number) => ({ ...file, path: releasePrefix(by) + file.path })
  await copy.objects(open.map((file) => placed(file, release)))
  const isAsked = await copy.hasTables()
  const isPublic = isAsked && (await copy.objects(tables.map((file) => placed(file, file.release)))) > 0
  await copy.snapshot(manifest)
  report.data_files_checked = isPublic ? tables.length : 0
  report.files_compared = open.length
  context.progress('checking the payloads')
  const saidOfEntities = new SaidOfEntities(findings, manifest)
  const seen = { files: open, tables: isPublic ? tables : [], take: saidOfEntities.take }
  await checkReleaseFiles(copy.store, findings, manifest, seen)
  saidOfEntities.checkErased()
  const faults = findings.faults.length
  await checkLoggedSnapshot(copy.store, findings, manifest, false)
  const thinned = new ThinnedFiles(copy.store, release, undefined)
  if (manifest.snapshot_sha256 && findings.faults.length === faults)
    await checkSnapshot({ store: copy.store, secrets: [] }, manifest, thinned, report)
  if (findings.faults.length > 0) {
    report.notes.push('the numbers were not derived again, since files are missing or are others')
  } else if (!isPublic) report.notes.push(NOT_DERIVED)
  else if (!isDerivable(manifest, context)) report.notes.push(notDerivedText(manifest, context))
  else {
    report.derived = true
    context.progress('scoring everything again')
    // The files have the hashes that were logged, and may not be readable as what they should be.
    await unlessCorrupt(deriveOutside(context, checked, saidOfEntities.profiles, thinned), report)
    report.notes.push(GIVEN)
  }
}

const NOT_DERIVED =
  'the numbers were not derived again, since this address serves no forecasts: what was published is what was logged, and whether it follows from the forecasts is not checked'
const GIVEN =
  'taken from the release as it says them, since they do not follow from what is public: corrections, what erasures moved, inputs, the number and the tree of all forecasts; scores on questions that are not settled; and of each entity the time of its last forecast and the numbers of its open and overdue ones'
