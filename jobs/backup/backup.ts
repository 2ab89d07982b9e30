// `fvs backup` and `fvs restore`: each environment is a store of its own, and is copied as one.
import { rm } from 'node:fs/promises'
import { type CopyReport, copyStore } from '../../pipeline/backup/copy.ts'
import { lostObjects } from '../../pipeline/backup/lost.ts'
import { type CopyNote, readCopyNote, writeCopyNote } from '../../pipeline/backup/note.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { type StoreSettings, areNested, firstPathIn, openStore } from '../../pipeline/store/open.ts'
import { COPY_PATH } from '../../pipeline/store/paths.ts'
import { type Store, holdsAny } from '../../pipeline/store/store.ts'
import type { Settings } from '../../schemas/config.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { ENVIRONMENTS, type Environment } from '../../schemas/values.ts'
import { type OtherPlace, placeOfBackup, placeOfStore, storeUrlOf } from '../components/own-store.ts'
import { makeTemporaryFolder } from '../components/temporary-folder.ts'
import { type BackupOptions, ENDPOINT, PROFILE, otherPlace } from '../command-line/backup-options.ts'
import { type Report, labelled } from '../command-line/output.ts'
import { ProgressLine } from '../command-line/progress.ts'
import { command, finish, settingsFor } from '../command-line/program.ts'

export function addBackup(): void {
  command('backup', 'Copy the store, with its sandbox, while the service runs; again, to copy what is new.')
    .argument('<to>', 'an empty place or an earlier backup: file:///folder or s3://bucket/prefix')
    .option(...ENDPOINT)
    .option(...PROFILE)
    .option('--compare', 'compare the bytes of all objects, and replace those of the backup that are damaged')
    .action(async (to: string, options: BackupOptions & { compare?: boolean }) => {
      const how = { ...otherPlace(options), comparesAll: options.compare ?? false }
      finish(await runBackup(settingsFor(options), to, how, new Date()), options)
    })
}

export function addRestore(): void {
  command('restore', 'Copy a backup into an empty store, and check every byte.')
    .argument('<from>', 'the backup: file:///folder or s3://bucket/prefix')
    .option(...ENDPOINT)
    .option(...PROFILE)
    .action(async (from: string, options: BackupOptions) => {
      finish(await runRestore(settingsFor(options), from, otherPlace(options)), options)
    })
}

type Copied = Partial<Record<Environment, CopyReport>>

/**
 * @param now the beginning of the backup.
 * @throws ServiceError `invalid` for a backup inside the store, `conflict` for a place with anything else.
 */
export async function runBackup(
  settings: Settings,
  url: string,
  { comparesAll, ...other }: OtherPlace & { comparesAll: boolean },
  now: Date,
): Promise<Report> {
  const [from, to] = [placeOfStore(settings), placeOfBackup(settings, url, other)]
  assertApart(from, to)
  const copied = await copyEach(from, to, async (store, place, how) => {
    const { store: backup, note, isNew } = await openCopy(place, 'backup', store)
    // Never delete from a new place: anything that came into it meanwhile is not ours.
    const report = await copyStore({ ...how, from: store, to: backup, deletes: !isNew, comparesAll })
    await writeCopyNote(backup, { ...note, as_of: now.toISOString() })
    return report
  })
  return backupReport(copied, { from: from.url, to: to.url, as_of: now.toISOString() }, [
    'It holds the hashes of API keys, the secrets of webhooks, and forecasts that are not public: keep it as the store.',
  ])
}

/**
 * Restores a backup. The note of an unfinished restore stays until every object is right.
 *
 * @throws ServiceError as `runBackup` does, `notFound` for an empty place, and `conflict` for a store that is
 *   no backup.
 */
export async function runRestore(settings: Settings, url: string, other: OtherPlace): Promise<Report> {
  const [from, to] = [placeOfBackup(settings, url, other), placeOfStore(settings)]
  assertApart(from, to)
  if ((await firstPathIn(from)) === undefined)
    throw new ServiceError('notFound', `there is no backup in ${from.url}: nothing is there`)
  let asOf: string | null = null
  const restored: Store[] = []
  const copied = await copyEach(from, to, async (backup, place, how) => {
    const made = await readCopyNote(backup)
    // If the store had no such environment, a folder would be missing, but a bucket looks empty.
    if (!made && !(await holdsAny(backup, ''))) return undefined
    if (made?.kind !== 'backup') {
      throw new ServiceError(
        'conflict',
        `${backup.url} is a store and no backup, and may change while it is copied; make one of it with fvs backup, or name a backup`,
      )
    }
    asOf = made.as_of ?? asOf
    const { store } = await openCopy(place, 'restore', backup, restored.length > 0)
    restored.push(store)
    const report = await copyStore({ ...how, from: backup, to: store, deletes: false, comparesAll: true })
    const { lost } = await lostObjects(store)
    const unknown = lost.filter((path) => !report.faults.some((fault) => fault.startsWith(`${path} `)))
    report.faults.push(...unknown.map((path) => `${path} is named in ${backup.url}, and is not there`))
    return report
  })
  const isWhole = Object.values(copied).every(({ faults }) => faults.length === 0)
  // Delete the note of production last: while it is there, the next restore continues with both.
  if (isWhole) for (const store of restored.toReversed()) await store.delete(COPY_PATH)
  return backupReport(copied, { from: from.url, to: to.url, as_of: asOf }, isWhole ? WHOLE : UNFINISHED)
}

const WHOLE = [
  'Before you start the service: fvs doctor, fvs audit and, with a public log, fvs audit --log.',
  'A log that has shown more than this one must go on under a new name: docs/recover.md, A store that was set back.',
]
const UNFINISHED = [
  'The restore is not done, and no service starts on the store. Run fvs restore again, from a backup that has these objects whole.',
  'Without one: docs/recover.md, Restore.',
]

function assertApart(from: StoreSettings, to: StoreSettings): void {
  if (from.s3Endpoint === to.s3Endpoint && areNested(from.url, to.url)) {
    throw new ServiceError('invalid', `a backup must lie outside of the store: ${from.url} and ${to.url}`)
  }
}

/** Copies each existing environment, production first. */
async function copyEach(
  from: StoreSettings,
  to: StoreSettings,
  copy: (
    store: Store,
    place: StoreSettings,
    how: { directory: string; progress: (done: number, all: number) => void },
  ) => Promise<CopyReport | undefined>,
): Promise<Copied> {
  const copied: Copied = {}
  const directory = await makeTemporaryFolder('work')
  let share = 0
  using line = new ProgressLine(process.stderr, () => share)
  try {
    for (const environment of ENVIRONMENTS) {
      const within = (place: StoreSettings) => ({ ...place, url: storeUrlOf(place.url, environment) })
      const store = await openStore(within(from), 'imagine')
      if (store instanceof MemoryStore) continue
      line.step(`copying ${environment}`)
      const progress = (done: number, all: number) => {
        share = all === 0 ? 0 : (100 * done) / all
      }
      const report = await copy(store, within(to), { directory, progress })
      if (report) copied[environment] = report
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
  if (Object.keys(copied).length === 0) await openStore(from, 'fail')
  return copied
}

/**
 * Opens a place that is empty or has an earlier copy of the same kind, with its note.
 *
 * @param isBegun whether the copy of the whole store has begun.
 * @throws ServiceError `conflict` for a place with anything else.
 */
async function openCopy(
  place: StoreSettings,
  kind: CopyNote['kind'],
  { url: from }: Store,
  isBegun = false,
): Promise<{ store: Store; note: CopyNote; isNew: boolean }> {
  const taken = await firstPathIn(place)
  if (taken !== undefined) {
    const store = await openStore(place, 'imagine')
    const note = await readCopyNote(store)
    if (!note && isBegun) return beginCopy(store, kind, from)
    if (note?.kind === kind) return { store, note: { ...note, from }, isNew: false }
    const what = kind === 'backup' ? 'no backup' : 'no restore that was cut off'
    throw new ServiceError('conflict', `${place.url} holds ${taken} and is ${what}; name an empty place`)
  }
  return beginCopy(await openStore(place, 'begin'), kind, from)
}

async function beginCopy(store: Store, kind: CopyNote['kind'], from: string) {
  const note: CopyNote = { kind, from, as_of: null }
  await writeCopyNote(store, note)
  return { store, note, isNew: true }
}

function backupReport(
  copied: Copied,
  about: { from: string; to: string; as_of: string | null },
  advice: readonly string[],
): Report {
  const reports = Object.entries(copied)
  const faults = reports.flatMap(([, report]) => report.faults)
  const lines = reports.map(
    ([environment, { copied: count, copied_bytes: bytes, unchanged, deleted }]) =>
      `${environment}: ${count} objects copied with ${bytes} bytes, ${unchanged} as they were, ${deleted} deleted`,
  )
  return {
    ok: faults.length === 0,
    json: { ok: faults.length === 0, ...about, environments: copied },
    text: [
      `${about.from} was copied to ${about.to}${about.as_of === null ? '' : `, as of ${about.as_of}`}`,
      ...lines,
      ...labelled('fault', faults),
    ].join('\n'),
    aside: advice.join('\n'),
  }
}
