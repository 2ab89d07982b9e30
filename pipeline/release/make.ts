// Makes a release: takes in the inbox, plans, writes every file, and last the manifest, which publishes them.
import type { ReleaseManifest } from '../../schemas/payloads.ts'
import { SCORED_TABLES, type ScoredTable } from '../../schemas/tables.ts'
import { deriveRelease } from './derive.ts'
import { type Database, withDatabase } from '../duckdb.ts'
import { carriedBy, sinceLast } from './carried.ts'
import { hasChanged, nothingToRelease } from './changes.ts'
import { type ReleasePlan, assertAsOf, begunPlan, makeOf, newPlan, versionsOf } from './plan.ts'
import { readManifest, snapshotDate } from './read.ts'
import { entryOf } from './shards.ts'
import { type ReleaseContext, type ReleaseState, assertEnvironment } from './state.ts'
import { SnapshotFiles, completeSnapshots, copySnapshot } from './snapshot.ts'
import { GatheredTrees, inputsOf } from './trees.ts'
import { signatureOf } from '../proof/hmac.ts'
import { manifestPath, planPath, releasePrefix } from '../store/paths.ts'
import { recordBytes } from '../store/records.ts'
import { putOnce } from '../store/store.ts'
import { compact } from '../tables/compact.ts'
import type { TableVersion } from '../tables/delta.ts'
import { listQuarantined } from '../tables/quarantine.ts'

export interface ReleaseRequest {
  asOf?: Date | undefined
  /** Make no release if the current one is of the same day and nothing has changed since. */
  ifChanged?: boolean
}

export type ReleaseResult =
  | { made: true; release: number; asOf: string; entities: number; pairs: number; files: number }
  | { made: false; release: number; reason: 'unchanged' | 'lost' }

/**
 * Takes in the inbox and publishes a release. If an earlier run left a snapshot or a release unfinished, that is finished
 * first. Any number of runs may be under way: one commits, the others say that they lost.
 *
 * @throws ServiceError `invalid` for an `asOf` in the future, `conflict` for one before the last release's or for the
 *   store of another environment, `unavailable` where the store does not answer: running again is safe.
 */
export async function makeRelease(
  context: ReleaseContext,
  request: ReleaseRequest = {},
): Promise<ReleaseResult> {
  const { store } = context
  for (;;) {
    const now = context.now()
    const state = await assertEnvironment(context)
    assertAsOf(state, request.asOf, now)
    const quarantined = await listQuarantined(store)
    await completeSnapshots(context, state, quarantined)
    const release = state.number + 1
    if (state.begun) {
      const plan = await begunPlan(context, state, state.begun, quarantined)
      const result = await carryOut(context, state, plan, await versionsOf(store, plan.tables))
      if (!result.made) return result
      context.log('finished a release that an earlier run began', { release })
      continue
    }
    const asOf = request.asOf ?? now
    const current = request.ifChanged ? state.manifest : undefined
    const next = { ...makeOf(context), as_of: asOf.toISOString(), quarantined }
    if (current && (await nothingToRelease(store, current, next))) {
      return { made: false, release: current.release, reason: 'unchanged' }
    }
    const versions = await compactAll(context)
    const plan = await newPlan(context, state, asOf, versions, quarantined)
    if (current && !hasChanged(current, plan)) {
      return { made: false, release: current.release, reason: 'unchanged' }
    }
    // If another run has planned this release first, the next round finishes that one.
    if (!(await store.putIfAbsent(planPath(release), recordBytes(planPath(release), plan)))) continue
    return carryOut(context, state, plan, versions)
  }
}

/** Takes in the inbox of every table that scoring reads, and returns the tables. */
function compactAll(context: ReleaseContext): Promise<Record<ScoredTable, TableVersion>> {
  return withDatabase(context.openDatabase, async (database) => {
    const versions: [ScoredTable, TableVersion][] = []
    for (const table of SCORED_TABLES) {
      const { rows, objects, ...latest } = await compact({ ...context, database }, table)
      if (objects > 0) context.log('took in the inbox', { table, rows, objects, version: latest.version })
      versions.push([table, latest])
    }
    return Object.fromEntries(versions) as Record<ScoredTable, TableVersion>
  })
}

/** Derives and writes every file and last the manifest; loses if another run has published the release by then. */
function carryOut(
  context: ReleaseContext,
  state: ReleaseState,
  plan: ReleasePlan,
  versions: Record<ScoredTable, TableVersion>,
): Promise<ReleaseResult> {
  const { store, local, secrets } = context
  const release = state.number + 1
  const { as_of, environment, methodology_version, engines, tables, quarantined } = plan
  const work = async (database: Database): Promise<ReleaseResult> => {
    const derived = await deriveRelease(
      { ...context, database },
      {
        release,
        asOf: new Date(as_of),
        environment,
        versions,
        previous: state.manifest,
        bringsSnapshot: plan.brings_snapshot,
        since: await sinceLast(context, state.manifest),
      },
    )
    /** Whether the object is there with these bytes; false if another run has published the release. */
    const write = async (name: string, bytes: Uint8Array): Promise<boolean> => {
      const path = releasePrefix(release) + name
      if ((await putOnce(store, path, bytes)) !== 'different') return true
      // A run of another make wrote it, for a plan that has been taken over since, unless that run has published the release.
      if (await readManifest(store, release)) return false
      await store.put(path, bytes)
      return true
    }
    const files: ReleaseManifest['files'] = []
    const gathered = new GatheredTrees()
    const snapshot = plan.brings_snapshot ? new SnapshotFiles(snapshotDate(as_of)) : undefined
    for await (const file of derived.files((bytes) => (secrets ? signatureOf(bytes, secrets) : null))) {
      if (!(await write(file.path, file.bytes))) return { made: false, release, reason: 'lost' }
      files.push(entryOf(file))
      gathered.take(file)
      snapshot?.take(file)
    }
    const before = state.manifest?.carried ?? []
    const { kept, made: ownPairs } = await carriedBy({ ...context, database }, derived.world, release, before)
    const carried = [...kept]
    for await (const { entry, bytes } of ownPairs()) {
      if (!(await write(entry.path, bytes))) return { made: false, release, reason: 'lost' }
      carried.push(entry)
    }
    context.log('carried pairs', { files: carried.length })
    const { counts, superseded, voiceRule: voice_rule } = derived
    const { pairs } = derived.world
    const made = { release, as_of, environment, methodology_version, voice_rule, engines, tables }
    const manifest: ReleaseManifest = {
      ...made,
      counts,
      superseded,
      quarantined: [...quarantined],
      files,
      trees: gathered.trees,
      inputs: inputsOf(versions, state.manifest),
      carried,
      snapshot_sha256: snapshot?.sha256(release) ?? null,
    }
    if (!(await store.putIfAbsent(manifestPath(release), recordBytes(manifestPath(release), manifest)))) {
      return { made: false, release, reason: 'lost' }
    }
    const entities = counts.agents + counts.forecasters
    context.log('published', { release, as_of, entities, pairs, superseded: superseded.length })
    const dropped = before.filter((file) => !carried.includes(file))
    for (const file of dropped) await local.forget(releasePrefix(file.release) + file.path)
    if (plan.brings_snapshot) await copySnapshot(store, manifest)
    return { made: true, release, asOf: as_of, entities, pairs, files: files.length + 1 }
  }
  return local.reading(() => withDatabase(context.openDatabase, work))
}
