// Checks the last release, the public log and its witnesses, questions without an outcome, and the backup.
import { OLD_RELEASE_MS } from '../serve/health.ts'
import { assertContinues } from '../../pipeline/backup/finished.ts'
import { readCopyNote } from '../../pipeline/backup/note.ts'
import { firstPathIn, openStore } from '../../pipeline/store/open.ts'
import { MOST_APART_MS } from '../../pipeline/store/clock.ts'
import { logCosignaturePath } from '../../pipeline/store/paths.ts'
import { goneReleases } from '../../pipeline/release/gone.ts'
import { assertEnvironment } from '../../pipeline/release/state.ts'
import { lastCheckpoint } from '../../pipeline/transparency/log-files.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { type OtherPlace, placeOfBackup, storeUrlOf } from '../components/own-store.ts'
import type { Components } from '../components/components.ts'
import { type Finding, fault, note, ok, spanOf } from './finding.ts'

/** A daily backup is never older. */
const OLD_BACKUP_MS = 26 * 60 * 60_000

export async function checkReleases(components: Components): Promise<Finding[]> {
  const { number, manifest, begun } = await assertEnvironment(components)
  const gone = await checkGoneReleases(components, number)
  if (gone.length > 0) return gone
  if (!manifest)
    return [note('release', 'there is none yet', 'import questions and forecasts, then fvs release')]
  const age = components.now().getTime() - Date.parse(manifest.as_of)
  const detail = `release ${number} is as of ${age < 0 ? `${spanOf(-age)} from now` : `${spanOf(age)} ago`}`
  const findings = [
    age < -MOST_APART_MS
      ? fault(
          'release',
          `${detail}: nodes take no forecasts, and no release is made before then`,
          'set the clock of this machine by NTP; if it is right, another one made the release and only waiting helps',
        )
      : age > OLD_RELEASE_MS
        ? fault(
            'release',
            detail,
            'is fvs serve running with its scheduler? fvs release makes one and says what stops it',
          )
        : ok('release', detail),
  ]
  const begunMs = begun ? components.now().getTime() - Date.parse(begun.started_at) : 0
  if (begunMs > OLD_RELEASE_MS) {
    findings.push(
      fault(
        'release',
        `release ${number + 1} was begun ${spanOf(begunMs)} ago and is not finished`,
        'finish it: fvs release',
      ),
    )
  }
  return [...findings, ...(await checkLog(components, number)), checkQuestions(manifest, components.now())]
}

async function checkLog({ store, signers, witnesses }: Components, release: number): Promise<Finding[]> {
  const logged = await lastCheckpoint(store)
  if (signers.length === 0 && logged === 0) return []
  const detail = `the public log has ${logged} of ${release} releases`
  const findings =
    logged < release
      ? [
          fault(
            'log',
            detail,
            'fvs release logs the rest, or says what stops it; fvs audit --log checks the log',
          ),
        ]
      : [ok('log', detail)]
  if (witnesses.length === 0 || logged === 0) return findings
  const cosigned = await Promise.all(
    witnesses.map(
      async ({ key }) => (await store.range(logCosignaturePath(logged, key.keyId), 0, 1)) !== undefined,
    ),
  )
  const silent = witnesses.filter((_, index) => !cosigned[index]).map(({ key }) => key.name)
  const witnessed = `${witnesses.length - silent.length} of ${witnesses.length} witnesses have cosigned the last checkpoint`
  return [
    ...findings,
    silent.length === 0
      ? ok('witnesses', witnessed)
      : note(
          'witnesses',
          `${witnessed}; missing: ${silent.join(', ')}`,
          'the log of the last fvs release has the reason',
        ),
  ]
}

/** Questions without an outcome are the operator's work, not a fault. */
function checkQuestions({ questions }: ReleaseManifest, now: Date): Finding {
  if (!questions || questions.overdue === 0) return ok('questions', 'each that has closed has an outcome')
  const { overdue, oldest_overdue_at: oldest } = questions
  const since =
    oldest === null || oldest === undefined
      ? ''
      : `, the oldest for ${spanOf(now.getTime() - Date.parse(oldest))}`
  const advice = 'fvs import resolutions FILE, with annulled for those that never get one'
  return note(
    'questions',
    `${overdue} ${overdue === 1 ? 'has' : 'have'} closed without an outcome${since}`,
    advice,
  )
}

/** Checks that a backup is of this store, and its age. Without a URL both are unknown. */
export async function checkBackup(
  { store, settings, environment, now }: Components,
  url: string | undefined,
  other: OtherPlace,
): Promise<Finding> {
  if (url === undefined) return note('backup', 'its age is not known', 'name it: fvs doctor --backup URL')
  const advice = `make one: fvs backup ${url}`
  try {
    const place = placeOfBackup(settings, storeUrlOf(url, environment), other)
    if ((await firstPathIn(place)) === undefined) return fault('backup', `nothing is in ${url} yet`, advice)
    const backup = await openStore(place, 'imagine')
    const found = await readCopyNote(backup)
    if (found?.kind !== 'backup')
      return fault(
        'backup',
        `${url} holds something else than a backup`,
        'name the backup, or an empty place',
      )
    if (found.as_of === null) return fault('backup', `the first one to ${url} has not ended`, advice)
    await assertContinues(store, backup)
    const age = now().getTime() - Date.parse(found.as_of)
    const detail = `${url} has what was there ${spanOf(age)} ago`
    return age > OLD_BACKUP_MS ? fault('backup', detail, advice) : ok('backup', detail)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    if (error.kind === 'conflict')
      return fault('backup', error.message, 'name the backup of this store; docs/recover.md, Lost objects')
    return fault(
      'backup',
      error.message,
      'mount it, or correct its address, --s3-endpoint, --s3-profile or the rights of this user',
    )
  }
}

/** Returns a fault if the log has releases that the store lacks. @param release the current one, or 0. */
async function checkGoneReleases({ store }: Pick<Components, 'store'>, release: number): Promise<Finding[]> {
  const gone = await goneReleases(store, release)
  if (!gone) return []
  const detail = `the public log has ${gone.logged} releases, and ${gone.path} is not in the store: no release is made until it is`
  const advice =
    'copy its folder back from a backup, or without one begin a new log: docs/recover.md, A release that is gone'
  return [fault('log', detail, advice)]
}
