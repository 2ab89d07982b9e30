// Copies the standing of every entity on a day out of the shards of the release that brings it. A copy needs neither the
// method nor the secret, so that any version of the service completes what a crash left out, to the same bytes.
import pMap from 'p-map'
import { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest, SnapshotManifest } from '../../schemas/payloads.ts'
import {
  hasSnapshot,
  isShard,
  readManifest,
  readReleaseShard,
  readSnapshotManifest,
  readSnapshotShard,
  snapshotDate,
} from './read.ts'
import { entryOf, snapshotFile } from './shards.ts'
import { type ReleaseContext, type ReleaseState, readPlan } from './state.ts'
import { snapshotManifestPath, snapshotPrefix } from '../store/paths.ts'
import { recordBytes } from '../store/records.ts'
import { type Store, putExactly } from '../store/store.ts'

const READS_AT_ONCE = 16

/** Completes the snapshot of the current release's day if a crash left it out, before the next release is begun. */
export async function completeSnapshot(
  { store, log }: Pick<ReleaseContext, 'store' | 'log'>,
  state: ReleaseState,
): Promise<void> {
  if (!state.manifest || state.hasSnapshot) return
  const manifest = await bringerOf(store, state)
  if (!manifest) return
  const { release, as_of } = manifest
  const date = snapshotDate(as_of)
  log('completing the snapshot that an earlier run left out', { release, date })
  try {
    await copySnapshot(store, manifest)
  } catch (error) {
    // Retention thins a release only when its copies are complete: it was faster, or the manifest was lost since then.
    if (!(error instanceof ServiceError) || error.kind !== 'notFound') throw error
    if (!(await hasSnapshot(store, date)))
      log('the snapshot cannot be completed', { date, reason: error.message })
  }
}

/**
 * Sees to it that the copies of a release's shards are whole, if there are any: the shards are about to be deleted.
 *
 * @throws ServiceError `corrupt` for a copy with other bytes than it should have.
 */
export async function secureSnapshot(store: Store, manifest: ReleaseManifest): Promise<void> {
  const { release, as_of } = manifest
  const plan = await readPlan(store, release)
  if (!plan) throw new ServiceError('corrupt', `release ${release} has lost its plan`)
  if (plan.brings_snapshot && !(await isWhole(store, snapshotDate(as_of))))
    await copySnapshot(store, manifest)
}

/** @throws ServiceError `corrupt` for a damaged copy. */
async function isWhole(store: Store, date: string): Promise<boolean> {
  const snapshot = await readSnapshotManifest(store, date)
  if (!snapshot) return false
  const listed = new Set<string>()
  for await (const { path } of store.list(snapshotPrefix(date))) listed.add(path)
  if (!snapshot.files.every(({ path }) => listed.has(snapshotPrefix(date) + path))) return false
  await pMap(snapshot.files, (file) => readSnapshotShard(store, date, file), { concurrency: READS_AT_ONCE })
  return true
}

/** The release that brings the snapshot of the current release's day. */
async function bringerOf(store: Store, { number, manifest }: ReleaseState) {
  let found = manifest
  for (let release = number; found; release--) {
    if ((await readPlan(store, release))?.brings_snapshot) return found
    const earlier = release > 1 ? await readManifest(store, release - 1) : undefined
    found = earlier && snapshotDate(earlier.as_of) === snapshotDate(found.as_of) ? earlier : undefined
  }
  return undefined
}

/** Copies the snapshot that a release brings, its manifest last. */
export async function copySnapshot(store: Store, manifest: ReleaseManifest): Promise<void> {
  const date = snapshotDate(manifest.as_of)
  const files: SnapshotManifest['files'] = []
  for (const file of manifest.files.filter(({ path }) => isShard(path))) {
    const copy = snapshotFile(file.path, date, await readReleaseShard(store, manifest.release, file))
    if (!copy) {
      throw new ServiceError('corrupt', `release ${manifest.release} has no snapshot in ${file.path}`)
    }
    await putExactly(store, snapshotPrefix(date) + copy.path, copy.bytes)
    files.push(entryOf(copy))
  }
  const snapshot: SnapshotManifest = { date, release: manifest.release, files }
  await putExactly(store, snapshotManifestPath(date), recordBytes(snapshotManifestPath(date), snapshot))
}
