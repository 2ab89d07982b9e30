// Checks the store itself: its promises, the objects that its records name, and the objects waiting in it.
import { lostObjects } from '../../pipeline/backup/lost.ts'
import { MOST_APART_MS } from '../../pipeline/store/clock.ts'
import {
  inboxHash,
  inboxTimeMs,
  intakePath,
  isInboxPath,
  offeredVersion,
  offersPrefix,
  quarantinedPathOf,
  QUARANTINE_PREFIX,
} from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { TableLog } from '../../pipeline/tables/delta-log.ts'
import { readIntake } from '../../pipeline/tables/intake.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { TABLE_NAMES } from '../../schemas/tables.ts'
import type { Components } from '../components/components.ts'
import { probedClock } from '../components/own-store.ts'
import { type Finding, fault, note, ok, spanOf } from './finding.ts'

/** Each day has a release, which takes in waiting objects. */
const LONG_MS = 25 * 60 * 60_000
/** A run that takes in the inbox ends sooner than this. */
const CUT_OFF_MS = 60 * 60_000
/** The advice for a store that does not answer. */
export const STORE_ADVICE =
  'mount it, make space, or correct STORE_URL, S3_ENDPOINT, or the rights of this user'

/** Tries the store, which writes and deletes an object. */
export async function checkStore({ store }: Pick<Components, 'store'>): Promise<Finding[]> {
  try {
    const ahead = await probedClock(store)
    const findings = [ok('store', `${store.url} keeps what is written, and lets one of several create`)]
    if (ahead === undefined)
      return [
        ...findings,
        note('clock', 'the store does not say what time it is', 'compare the clock by NTP'),
      ]
    const detail = `the clock is ${Math.abs(ahead / 1000).toFixed(1)} s ${ahead < 0 ? 'behind' : 'ahead of'} that of the store`
    const isRight = Math.abs(ahead) <= MOST_APART_MS
    return [
      ...findings,
      isRight ? ok('clock', detail) : fault('clock', `${detail}: nodes take no forecasts`, 'set it by NTP'),
    ]
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return [fault('store', error.message, STORE_ADVICE)]
  }
}

/** Checks the objects that wait to be taken in, and the obstacles. */
export async function checkInbox({ store, now }: Pick<Components, 'store' | 'now'>): Promise<Finding[]> {
  const findings: Finding[] = []
  let oldestMs = Infinity
  let waiting = 0
  for await (const { path, modifiedAt } of store.list('inbox/')) {
    const table = TABLE_NAMES.find((name) => isInboxPath(name, path))
    if (table === undefined || inboxHash(path) === undefined) {
      const advice =
        table === undefined
          ? 'no table takes it in: move it out of the store'
          : `fvs quarantine ${path} --reason TEXT`
      findings.push(fault('inbox', `${path} is no object of this service`, advice))
      continue
    }
    waiting += 1
    const drawnMs = inboxTimeMs(path)
    if (table !== 'usage')
      oldestMs = Math.min(oldestMs, Number.isNaN(drawnMs) ? modifiedAt.getTime() : drawnMs)
  }
  const age = now().getTime() - oldestMs
  const detail = `${waiting} ${waiting === 1 ? 'object waits' : 'objects wait'}${oldestMs === Infinity ? '' : `, the oldest for ${spanOf(age)}`}`
  findings.push(
    age > LONG_MS
      ? fault('inbox', detail, 'take them in: fvs release; its message says what stops it')
      : ok('inbox', detail),
  )
  findings.push(...(await checkTables(store, now())))
  const quarantined = (await Array.fromAsync(store.list(QUARANTINE_PREFIX))).flatMap(
    ({ path }) => quarantinedPathOf(path) ?? [],
  )
  if (quarantined.length > 0) {
    const what = `${quarantined.length} ${quarantined.length === 1 ? 'object is' : 'objects are'} in quarantine`
    findings.push(note('quarantine', what, 'if a good copy turns up, put it back under its old path'))
  }
  return findings
}

/** Checks the last version of each table, and unfinished versions. */
async function checkTables(store: Store, now: Date): Promise<Finding[]> {
  const findings: Finding[] = []
  let last = { table: '', atMs: -Infinity }
  for (const table of TABLE_NAMES) {
    const { version, files } = await new TableLog(store, table).readTo()
    for (const { modifiedMs } of files) if (modifiedMs > last.atMs) last = { table, atMs: modifiedMs }
    const offers = (await Array.fromAsync(store.list(offersPrefix(table)))).filter(
      ({ path, modifiedAt }) =>
        offeredVersion(table, path) !== undefined && now.getTime() - modifiedAt.getTime() > CUT_OFF_MS,
    )
    if (offers.length > 0)
      findings.push(
        note(
          'offers',
          `${offers.length} offers to ${table} are left of commands that were cut off`,
          'the next import or fvs agents deletes them',
        ),
      )
    if (!(await readIntake(store, table, version + 1))) continue
    const path = intakePath(table, version + 1)
    for await (const { modifiedAt } of store.list(path)) {
      const age = now.getTime() - modifiedAt.getTime()
      if (age > CUT_OFF_MS)
        findings.push(
          fault(
            'intake',
            `${path} has been open for ${spanOf(age)}`,
            'finish it: fvs release; its message says what stops it',
          ),
        )
    }
  }
  const since =
    last.atMs === -Infinity
      ? 'no table has a row yet'
      : `the last rows were taken in ${spanOf(now.getTime() - last.atMs)} ago, into ${last.table}`
  return [...findings, ok('tables', since)]
}

/** More would hide the other lines. */
const MOST_PATHS_SHOWN = 3

/** Returns a finding for each folder with lost objects. */
export async function checkObjects({ store }: Pick<Components, 'store'>): Promise<Finding[]> {
  const { lost, named } = await lostObjects(store)
  if (lost.length === 0) return [ok('objects', `all ${named} that the store names are there`)]
  const folders = Map.groupBy(lost, (path) => path.slice(0, path.indexOf('/')))
  return [...folders].map(([folder, paths]) => {
    const more = paths.length > MOST_PATHS_SHOWN ? `, and ${paths.length - MOST_PATHS_SHOWN} more` : ''
    return fault(
      'objects',
      `${paths.length} in ${folder}/ ${paths.length === 1 ? 'is' : 'are'} gone or cut off: ${paths.slice(0, MOST_PATHS_SHOWN).join(', ')}${more}`,
      'make no release; copy them back from the backup: docs/recover.md, Lost objects',
    )
  })
}
