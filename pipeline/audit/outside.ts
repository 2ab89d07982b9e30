// Audits a release from outside, without a secret and without the store: the log by the keys of the reader,
// and every file by the log.
import { z } from 'zod'
import type { PipelineComponents } from '../components.ts'
import { ENTITY_TYPES } from '../../schemas/tables.ts'
import { count } from '../../schemas/metric.ts'
import { instant, publishedUuid } from '../../schemas/values.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { decoded } from '../proof/canonical.ts'
import { fileChecks, manifestFaults } from '../release/files/kinds.ts'
import { shardsOf } from '../release/read.ts'
import { FileStore } from '../store/file.ts'
import { isPublished, manifestPath, releasePrefix } from '../store/paths.ts'
import { remoteLog, signedCheckpoint } from '../transparency/remote-log.ts'
import { type Checked, type DerivingContext, deriveOutside } from './derive-outside.ts'
import { checkErasedStay } from './erased-check.ts'
import { Findings } from './findings.ts'
import { Mirror } from './mirror.ts'
import { type AuditReport, emptyReport } from './report.ts'
import { ServedData } from './served-data.ts'
import { readServedLog } from './served-log.ts'
import { checkSnapshot } from './snapshot-check.ts'
import type { SaidOfEntity } from './stand-ins.ts'
import { ThinnedFiles } from './thinned-files.ts'
import { type CheckedTimes, NO_TIMES, checkTimesOutside } from './times-outside.ts'

export type OutsideContext = DerivingContext & Pick<PipelineComponents, 'wait'>

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
  let times = NO_TIMES
  const mirror = new Mirror(served, await FileStore.begin(`${directory}/mirror`), findings)
  const report = emptyReport(release, logged.as_of)
  const manifest = await mirror.manifest(logged)
  if (manifest) {
    const before = statements[release - 2] && (await mirror.manifest(statements[release - 2]!))
    checkErasedStay(findings, manifest, before)
    const checked = { mirror, findings, report, manifest }
    await checkRelease(context, checked)
    times = await checkTimesOutside({ ...context, log, statements, fetch: served.fetch }, checked)
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
  const { mirror, report, manifest } = checked
  const { release, files, public: tables } = manifest
  const open = files.filter(({ path }) => isPublished(path))
  const bytes = [...open, ...tables].reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  context.progress(`copying ${open.length + tables.length} files of ${bytes} bytes`)
  const missing = await mirror.copy(() => release, open)
  for (const file of missing) mirror.missing(releasePrefix(release) + file.path, file)
  const withheld = (await mirror.withholdsTables())
    ? tables
    : await mirror.copy((file) => file.release, tables)
  const isPublic = withheld.length < tables.length
  if (isPublic) for (const file of withheld) mirror.missing(releasePrefix(file.release) + file.path, file)
  await mirror.snapshot(manifest)
  report.data_files_checked = isPublic ? tables.length : 0
  report.files_compared = open.length
  context.progress('checking the payloads')
  await checkContents(checked)
  const said = await saidInShards(checked)
  const erased = new Set(manifest.erased_people?.map(({ user_id }) => user_id))
  for (const { entity_id } of said.filter((one) => erased.has(one.entity_id))) {
    checked.findings.fault(manifestPath(release), `says that ${entity_id} is erased, and the release has it`)
  }
  const { store } = mirror
  const noSecrets = { store, secrets: [] }
  if (manifest.snapshot_sha256) {
    await checkSnapshot(noSecrets, manifest, new ThinnedFiles(store, release, undefined), report)
  }
  if (checked.findings.faults.length > 0) {
    report.notes.push('the numbers were not derived again, since files are missing or are others')
  } else if (isPublic) await deriveOutside(context, { ...checked, said })
  else report.notes.push(NOT_DERIVED)
}

const NOT_DERIVED =
  'the numbers were not derived again, since this address serves no forecasts: what was published is what was logged, and whether it follows from the forecasts is not checked'

/** Checks what the hashes of the manifest cannot. */
async function checkContents({ mirror, findings, manifest }: Checked): Promise<void> {
  const { release, files } = manifest
  const checks = fileChecks(manifest)
  for (const { path } of files) {
    const check = checks(path)
    const object = releasePrefix(release) + path
    const bytes = check && (await mirror.store.get(object))
    for (const fault of bytes ? check(bytes) : []) findings.fault(object, fault)
  }
  for (const fault of manifestFaults(manifest)) findings.fault(manifestPath(release), fault)
}

/** Returns what the shards say of each entity that nothing public leads to. */
async function saidInShards({ mirror, findings, manifest }: Checked): Promise<SaidOfEntity[]> {
  const said: SaidOfEntity[] = []
  for (const entity_type of ENTITY_TYPES) {
    for (const { path } of shardsOf(manifest, entity_type)) {
      const object = releasePrefix(manifest.release) + path
      const bytes = await mirror.store.get(object)
      if (!bytes) continue
      const inShard = activityIn(bytes)
      if (!inShard) findings.fault(object, 'has an entity without a profile')
      for (const [entity_id, profile] of inShard ?? []) said.push({ entity_type, entity_id, ...profile })
    }
  }
  return said
}

const time = instant.nullable()
const activity = z.object({
  entities: z.record(
    publishedUuid,
    z.object({
      profile: z.object({
        payload: z.object({
          last_forecast_at: time,
          open_forecasts: count,
          next_close_at: time,
          overdue_forecasts: count,
        }),
      }),
    }),
  ),
})

/** Returns undefined for bytes that are no shard. */
function activityIn(
  bytes: Uint8Array,
): [string, Omit<SaidOfEntity, 'entity_type' | 'entity_id'>][] | undefined {
  try {
    const { entities } = activity.parse(JSON.parse(decoded(bytes)))
    return Object.entries(entities).map(([id, { profile }]) => [id, profile.payload])
  } catch {
    return undefined
  }
}
