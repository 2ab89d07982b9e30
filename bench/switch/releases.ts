// Releases that were made before they are published, so that a service meets each of them at once, and
// nothing but the switch to it costs time then.
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readManifest, snapshotDate } from '../../pipeline/release/read.ts'
import { FileStore } from '../../pipeline/store/file.ts'
import { releasePrefix, snapshotPrefix } from '../../pipeline/store/paths.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { run } from '../process.ts'

export interface HeldRelease {
  manifest: ReleaseManifest
  /** Puts its files into the store, the manifest among them. */
  publish: () => Promise<void>
}

/** Makes releases of the world in `root`, each as of another day, and leaves only the first in the store. */
export async function heldReleases(
  root: string,
  count: number,
): Promise<AsyncDisposable & { first: ReleaseManifest; later: HeldRelease[] }> {
  for (let day = 0; day < count; day++) await run('release.ts', root, '2', '1GB', String(day))
  const store = await FileStore.open(root)
  const manifests = await Promise.all(
    Array.from({ length: count }, async (_, nth) => (await readManifest(store, nth + 1))!),
  )
  const aside = await mkdtemp(`${root}-held-`)
  const later = await Promise.all(
    manifests.slice(1).map(async (manifest) => {
      const folders = [releasePrefix(manifest.release), snapshotPrefix(snapshotDate(manifest.as_of))]
      await move(folders, root, aside)
      return { manifest, publish: () => move(folders, aside, root) }
    }),
  )
  return {
    first: manifests[0]!,
    later,
    [Symbol.asyncDispose]: () => rm(aside, { recursive: true, force: true }),
  }
}

async function move(folders: readonly string[], from: string, to: string): Promise<void> {
  for (const folder of folders) {
    await mkdir(join(to, folder, '..'), { recursive: true })
    await rename(join(from, folder), join(to, folder))
  }
}
