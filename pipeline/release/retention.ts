// Thins out old releases: deletes the files that a manifest names and keeps the manifest, because releases are found by it.
import { ServiceError } from '../../schemas/errors.ts'
import { readManifest } from './read.ts'
import { releasePrefix } from '../store/paths.ts'
import type { Store } from '../store/store.ts'

/** Releases that keep all their files, the current one among them. */
export const WHOLE_RELEASES = 100
/** Releases that one call thins out: more than the one that each release adds, so that a backlog shrinks. */
const MOST_AT_ONCE = 20

/**
 * Thins out the releases before the last `WHOLE_RELEASES`, the oldest first, and returns how many it thinned out. Because
 * of that order the thinned releases have the lowest numbers, also after a crash and with several calls at once, so that
 * asking for a few files finds where they end.
 */
export async function deleteOldFiles(store: Store, current: number): Promise<number> {
  const last = current - WHOLE_RELEASES
  const first = (await lastThinned(store, last)) + 1
  const end = Math.min(last, first + MOST_AT_ONCE - 1)
  for (let release = first; release <= end; release++) {
    for (const path of await filesOf(store, release)) await store.delete(path)
  }
  return Math.max(0, end - first + 1)
}

/** The greatest release up to `last` that is thinned out; 0 if none is. */
async function lastThinned(store: Store, last: number): Promise<number> {
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

/** Whether the last of its files, which is deleted last, is gone. */
async function isThinned(store: Store, release: number): Promise<boolean> {
  const file = (await filesOf(store, release)).at(-1)
  return file === undefined || (await store.range(file, 0, 1)) === undefined
}

async function filesOf(store: Store, release: number): Promise<string[]> {
  const manifest = await readManifest(store, release)
  if (!manifest) throw new ServiceError('corrupt', `release ${release} has lost its manifest`)
  return manifest.files.map(({ path }) => releasePrefix(release) + path)
}
