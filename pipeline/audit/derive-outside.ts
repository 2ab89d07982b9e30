// Derives a release again from its public files, and compares every byte of it with what is published.
import { join } from 'node:path'
import type { PipelineComponents } from '../components.ts'
import { withDatabase } from '../duckdb.ts'
import { deriveRelease } from '../release/derive.ts'
import { FileStore } from '../store/file.ts'
import { LocalFiles } from '../store/local-files.ts'
import { isPublished } from '../store/paths.ts'
import { compareRelease, statedBy } from './compare-files.ts'
import { erasedInPublic } from './erased-check.ts'
import type { Checked } from './public-copy.ts'
import { type SaidOfEntity, makeStandIns, publicRelease } from './stand-ins.ts'
import type { ThinnedFiles } from './thinned-files.ts'

type Context = Pick<PipelineComponents, 'methodology' | 'openDatabase' | 'directory'>

/** Adds a fault for each difference. @throws ServiceError `corrupt` for files that cannot be read. */
export async function deriveOutside(
  context: Context,
  { copy, report, manifest }: Checked,
  profiles: readonly SaidOfEntity[],
  thinned: ThinnedFiles,
): Promise<void> {
  const directory = join(context.directory, 'derived')
  const store = await FileStore.begin(join(directory, 'tables'))
  const { versions, furtherPairs } = await withDatabase(context.openDatabase, async (database) => {
    const locate = (path: string) => store.localPath(path)
    const published = publicRelease(manifest, copy.store, profiles)
    const made = await makeStandIns(database, published, locate, directory)
    for (const id of await erasedInPublic(database, manifest)) {
      report.faults.push(`public/forecasts: has rows of ${id}, who is erased`)
    }
    return made
  })
  await withDatabase(context.openDatabase, async (database) => {
    const { release, as_of, environment, snapshot_sha256 } = manifest
    const deriving = { ...context, database, store, local: new LocalFiles(store, directory), directory }
    await using derived = await deriveRelease(deriving, {
      release,
      asOf: new Date(as_of),
      environment,
      versions,
      previous: undefined,
      bringsSnapshot: Boolean(snapshot_sha256),
      furtherPairs,
    })
    const { counts, questions, pools, voice_rule } = statedBy(derived)
    const { forecasts } = manifest.counts
    const stated = { counts: { ...counts, forecasts }, questions, pools, voice_rule }
    const sight = { store: copy.store, secrets: [], isSeen: isPublished }
    await compareRelease(sight, manifest, { release: derived, stated }, thinned, report)
  })
}
