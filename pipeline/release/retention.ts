// Thins out old releases: deletes their files about entities, and keeps the records of their making. The
// manifest stays because it marks the release. The numbers can be derived again from the tables.
import type { PipelineComponents } from '../components.ts'
import pMap from 'p-map'
import { ServiceError } from '../../schemas/errors.ts'
import type { PublicTableFile } from '../../schemas/manifests.ts'
import { isThinned, noteThinned, readManifest } from './read.ts'
import { secureSnapshot } from './snapshot.ts'
import { isPublished, publicPrefix, releasePrefix } from '../store/paths.ts'
import type { Store, StoredObject } from '../store/store.ts'

/** How many releases of the sandbox keep all their files, including the current one. */
export const WHOLE_RELEASES = 100
/** The most releases that a run of the sandbox thins out. It is more than one, so that a backlog shrinks. */
export const MOST_AT_ONCE = 20
const DELETIONS_AT_ONCE = 16

export type RetentionContext = Pick<PipelineComponents, 'store' | 'now' | 'log'>

export interface Deleted {
  /** Releases that lost files. */
  releases: number
  files: number
  bytes: number
}

/**
 * Thins out the releases before the last `keep`, the oldest first and at most `most` of them. Always keeps
 * the current release. Any number of runs may be under way, even while another run makes a release.
 *
 * Records a release as thinned before it deletes the first file, and only after all files of the release
 * before are gone. So the recorded releases have the lowest numbers, and after a crash only the last of them
 * can have files left. Later manifests may name files of pairs and of public tables too: deletes these with
 * the last release that names them.
 *
 * @throws ServiceError `corrupt` for a release that has lost its manifest or plan, or whose snapshot is
 *   damaged: its files are needed to repair that.
 */
export async function thinReleases(
  { store, now, log }: RetentionContext,
  current: number,
  keep: number,
  most = Number.MAX_SAFE_INTEGER,
): Promise<Deleted> {
  const deleted: Deleted = { releases: 0, files: 0, bytes: 0 }
  const last = current - Math.max(1, keep)
  const recorded = await lastRecorded(store, last)
  const end = Math.min(last, recorded + most)
  for (let release = Math.max(1, recorded); release <= end; release++) {
    if (release > recorded) await record(store, release, now())
    const files = [...(await filesOf(store, release)), ...(await namedLastBy(store, release))]
    await pMap(files, ({ path }) => store.delete(path), { concurrency: DELETIONS_AT_ONCE })
    if (files.length === 0) continue
    const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    log('thinned a release', { release, files: files.length, bytes })
    deleted.releases += 1
    deleted.files += files.length
    deleted.bytes += bytes
  }
  return deleted
}

/** Returns the greatest release up to `last` that is recorded as thinned; 0 if none is. */
async function lastRecorded(store: Store, last: number): Promise<number> {
  let whole = last + 1
  let step = 1
  while (whole - step > 0 && !(await isThinned(store, whole - step))) {
    whole -= step
    step *= 2
  }
  let thinned = Math.max(0, whole - step)
  while (whole - thinned > 1) {
    const middle = Math.floor((thinned + whole) / 2)
    if (await isThinned(store, middle)) thinned = middle
    else whole = middle
  }
  return thinned
}

async function record(store: Store, release: number, now: Date): Promise<void> {
  const manifest = await readManifest(store, release)
  if (!manifest) throw new ServiceError('corrupt', `release ${release} has lost its manifest`)
  await secureSnapshot(store, manifest)
  await noteThinned(store, release, now)
}

/**
 * Returns the files of pairs and of public tables that belong to a release, if the next release does not name
 * them: then no later one can.
 */
async function namedLastBy(store: Store, release: number): Promise<StoredObject[]> {
  const [own, next] = await Promise.all([namedBy(store, release), namedBy(store, release + 1)])
  const folders = new Set([release, ...own.map((file) => file.release)])
  const needed = new Set(next.map((file) => releasePrefix(file.release) + file.path))
  const files: StoredObject[] = []
  for (const prefix of [...folders].sort((a, b) => a - b).map(publicPrefix)) {
    for await (const file of store.list(prefix)) {
      if (!needed.has(file.path)) files.push(file)
    }
  }
  return files
}

async function namedBy(store: Store, release: number): Promise<readonly PublicTableFile[]> {
  const manifest = await readManifest(store, release)
  if (!manifest) throw new ServiceError('corrupt', `release ${release} has lost its manifest`)
  return manifest.public
}

async function filesOf(store: Store, release: number): Promise<StoredObject[]> {
  const prefix = releasePrefix(release)
  const files: StoredObject[] = []
  for await (const file of store.list(prefix)) {
    if (isPublished(file.path.slice(prefix.length))) files.push(file)
  }
  return files
}
