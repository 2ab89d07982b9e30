// Writes the files of a release to the store, and publishes them by the manifest.
import type { PublicTableFile, ReleaseManifest } from '../../schemas/manifests.ts'
import type { VoiceRule } from '../../schemas/payloads.ts'
import type { ScoredTable } from '../../schemas/tables.ts'
import type { Corrected } from './corrections.ts'
import { withDatabase } from '../duckdb.ts'
import type { Body } from '../store/body.ts'
import { manifestPath, releasePrefix } from '../store/paths.ts'
import { recordBytes } from '../store/records.ts'
import { type Store, putOnce } from '../store/store.ts'
import type { TableVersion } from '../tables/delta.ts'
import type { ReleasePlan } from './plan.ts'
import { isBase, publicFiles } from './public-tables.ts'
import type { QuestionsAt } from './questions-at.ts'
import { readManifest } from './read.ts'
import { type SnapshotFiles, copySnapshot } from './snapshot.ts'
import type { ReleaseContext, ReleaseState } from './state.ts'
import { type GatheredTrees, inputsOf } from './trees.ts'

/** Puts a file of a release. Returns false if another run has published the release. */
export type Write = (name: string, body: Body) => Promise<boolean>

export function writerOf(store: Store, release: number): Write {
  return async (name, body) => {
    const path = releasePrefix(release) + name
    if ((await putOnce(store, path, body)) !== 'different') return true
    // Either another run has published the release, or a run whose plan was taken over wrote this object.
    if (await readManifest(store, release)) return false
    await store.put(path, body)
    return true
  }
}

/**
 * Writes the public files that differ from those of the release before. Returns all of them as the manifest
 * names them, or undefined if another run has published the release.
 */
export async function writePublicFiles(
  context: ReleaseContext,
  { number, manifest: previous }: ReleaseState,
  plan: ReleasePlan,
  versions: Record<ScoredTable, TableVersion>,
): Promise<PublicTableFile[] | undefined> {
  const { store, service, log } = context
  const release = number + 1
  const write = writerOf(store, release)
  const sincePrevious = isBase(previous, { ...plan, service })
  const inputs = { release, asOf: new Date(plan.as_of), versions, previous, sincePrevious }
  const files: PublicTableFile[] = []
  return withDatabase(context.openDatabase, async (database) => {
    for await (const { entry, file } of publicFiles({ ...context, database }, inputs)) {
      if (file && !(await write(entry.path, file))) return undefined
      files.push(entry)
    }
    const written = files.filter((file) => file.release === release)
    log('wrote the public tables', { files: files.length, written: written.length })
    return files
  })
}

/** Everything made from a plan, already in the store. */
export interface MadeRelease extends Corrected {
  plan: ReleasePlan
  versions: Record<ScoredTable, TableVersion>
  counts: ReleaseManifest['counts']
  pairs: number
  questionsAt: QuestionsAt
  pools: number
  voiceRule: VoiceRule
  /** In the order of the manifest. */
  files: ReleaseManifest['files']
  trees: GatheredTrees
  public: PublicTableFile[]
  /** Undefined if the release brings none. */
  snapshot: SnapshotFiles | undefined
}

/**
 * Puts the manifest, which publishes the release, and then copies the snapshot. Returns false if another
 * manifest is there.
 */
export async function publish(
  { store, log }: Pick<ReleaseContext, 'store' | 'log'>,
  { number, manifest: previous }: ReleaseState,
  made: MadeRelease,
): Promise<boolean> {
  const release = number + 1
  const { counts, pairs, corrections, erasures, pools, voiceRule: voice_rule } = made
  const { files, trees, snapshot } = made
  const { as_of, environment, methodology_version, engines, tables, quarantined } = made.plan
  const { undone_imports, erased_people } = made.plan
  const manifest: ReleaseManifest = {
    release,
    as_of,
    environment,
    methodology_version,
    voice_rule,
    engines,
    tables,
    counts,
    ...made.questionsAt,
    pools,
    corrections,
    undone_imports: undone_imports && [...undone_imports],
    erased_people: erased_people && [...erased_people],
    erasures,
    quarantined: [...quarantined],
    files,
    trees: trees.trees,
    inputs: inputsOf(made.versions, previous),
    public: made.public,
    snapshot_sha256: snapshot?.sha256(release) ?? null,
  }
  if (!(await store.putIfAbsent(manifestPath(release), recordBytes(manifestPath(release), manifest)))) {
    return false
  }
  const entities = counts.agents + counts.forecasters
  log('published', { release, as_of, entities, pairs, corrections: corrections.length })
  if (snapshot) await copySnapshot(store, manifest)
  return true
}
