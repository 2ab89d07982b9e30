// Makes a release: takes in the inbox, plans, writes every file, and last the manifest, which publishes them.
import type { ErasedPerson, ReleaseManifest } from '../../schemas/manifests.ts'
import { SCORED_TABLES, type ScoredTable } from '../../schemas/tables.ts'
import { deriveRelease } from './derive.ts'
import { type Database, withDatabase } from '../duckdb.ts'
import { hasChanged, nothingToRelease } from './changes.ts'
import { type MadeRelease, publish, writePublicFiles, writerOf } from './commit.ts'
import { type ReleasePlan, assertAsOf, begunPlan, makeOf, newPlan, versionsOf } from './plan.ts'
import { assertNoneGone } from './gone.ts'
import { snapshotDate } from './read.ts'
import { bodyOf, entryOf } from './output.ts'
import { type ReleaseContext, type ReleaseState, assertEnvironment } from './state.ts'
import { SnapshotFiles, completeSnapshots } from './snapshot.ts'
import { GatheredTrees } from './trees.ts'
import { signatureOf } from '../proof/hmac.ts'
import { planPath } from '../store/paths.ts'
import { recordBytes } from '../store/records.ts'
import { compact } from '../tables/compact.ts'
import type { LeftOut, TableVersion } from '../tables/delta.ts'
import { readLeftOut, without } from '../tables/left-out.ts'
import { listQuarantined } from '../tables/quarantine.ts'

export interface ReleaseRequest {
  asOf?: Date | undefined
  /** Make no release if the current one is of the same day and nothing has changed since. */
  ifChanged?: boolean
}

export type ReleaseResult =
  { made: true; release: number; asOf: string; entities: number; pairs: number; files: number } | NoRelease

export interface NoRelease {
  made: false
  release: number
  reason: 'unchanged' | 'lost'
}

/** A release with a plan in the store that is not made yet. */
export interface PlannedRelease {
  state: ReleaseState
  plan: ReleasePlan
  versions: Record<ScoredTable, TableVersion>
  /** Whether an earlier run has planned it. */
  isBegun: boolean
}

/**
 * Takes in the inbox and publishes a release. First finishes a snapshot or a release that an earlier run left
 * unfinished. Any number of runs may be under way: one commits, the others report that they lost.
 *
 * @throws ServiceError `invalid` for an `asOf` in the future, `conflict` for one before the last release's or
 *   for the store of another environment, `corrupt` if a logged release is gone, `unavailable` if the store
 *   does not answer: running again is safe.
 */
export async function makeRelease(
  context: ReleaseContext,
  request: ReleaseRequest = {},
): Promise<ReleaseResult> {
  let finished: ReleaseResult | undefined
  for (;;) {
    const planned = await planRelease(context, request)
    const result = 'made' in planned ? planned : await carryOut(context, planned)
    // A run that finished a release has published it, even if it makes no further one.
    if (!result.made) return finished ?? result
    if ('made' in planned || !planned.isBegun) return result
    context.log('finished a release that an earlier run began', { release: result.release })
    finished = result
  }
}

/**
 * Finishes a snapshot that an earlier run left unfinished, and plans the next release unless it has a plan.
 *
 * @throws ServiceError as `makeRelease` does.
 */
export async function planRelease(
  context: ReleaseContext,
  request: ReleaseRequest,
): Promise<PlannedRelease | NoRelease> {
  const { store } = context
  for (;;) {
    const now = context.now()
    const state = await assertEnvironment(context)
    await assertNoneGone(store, state.number)
    assertAsOf(context, state, request.asOf, now)
    const quarantined = await listQuarantined(store)
    await completeSnapshots(context, state, quarantined)
    if (state.begun) {
      const plan = await begunPlan(context, state, state.begun)
      return { state, plan, versions: await versionsOf(store, plan), isBegun: true }
    }
    const asOf = request.asOf ?? now
    const current = request.ifChanged ? state.manifest : undefined
    const leftOut = stillErased(await readLeftOut(store), state.manifest)
    const inputs = { quarantined, ...leftOut }
    const next = { ...makeOf(context), as_of: asOf.toISOString(), ...inputs }
    if (current && (await nothingToRelease(store, current, next))) {
      return { made: false, release: current.release, reason: 'unchanged' }
    }
    const versions = await compactAll(context, leftOut)
    const plan = await newPlan(context, state, asOf, versions, inputs)
    if (current && !(await hasChanged(context, current, plan, versions))) {
      return { made: false, release: current.release, reason: 'unchanged' }
    }
    const path = planPath(state.number + 1)
    // If another run has planned this release first, the next round finds its plan.
    if (await store.putIfAbsent(path, recordBytes(path, plan)))
      return { state, plan, versions, isBegun: false }
  }
}

/**
 * Keeps people erased whom the last release lists as erased, even if their record is lost. An audit reports
 * the loss.
 */
function stillErased(leftOut: LeftOut, last: ReleaseManifest | undefined): LeftOut {
  const { erased_people: now = [] } = leftOut
  const known = new Set(now.map(({ user_id }) => user_id))
  const lost = last?.erased_people?.filter(({ user_id }) => !known.has(user_id)) ?? []
  if (lost.length === 0) return leftOut
  const byId = (one: ErasedPerson, other: ErasedPerson) => (one.user_id < other.user_id ? -1 : 1)
  return { ...leftOut, erased_people: [...now, ...lost].toSorted(byId) }
}

/** Takes in the inbox of every table that scoring reads, and returns the tables without the rows left out. */
function compactAll(context: ReleaseContext, leftOut: LeftOut): Promise<Record<ScoredTable, TableVersion>> {
  return withDatabase(context.openDatabase, async (database) => {
    const versions: [ScoredTable, TableVersion][] = []
    for (const table of SCORED_TABLES) {
      const { rows, objects, ...latest } = await compact({ ...context, database }, table)
      if (objects > 0) context.log('took in the inbox', { table, rows, objects, version: latest.version })
      versions.push([table, without(latest, leftOut)])
    }
    return Object.fromEntries(versions) as Record<ScoredTable, TableVersion>
  })
}

/** Derives and writes every file, and last the manifest. Loses if another run publishes the release first. */
function carryOut(context: ReleaseContext, planned: PlannedRelease): Promise<ReleaseResult> {
  const { state, plan } = planned
  const release = state.number + 1
  return context.local.reading(async () => {
    const made = await withDatabase(context.openDatabase, (database) =>
      writeFiles({ ...context, database }, planned),
    )
    const lost = { made: false, release, reason: 'lost' } as const
    const tables = made && (await writePublicFiles(context, state, plan, planned.versions))
    if (!made || !tables || !(await publish(context, state, { ...made, public: tables }))) return lost
    const { counts, pairs, files } = made
    const entities = counts.agents + counts.forecasters
    return { made: true, release, asOf: plan.as_of, entities, pairs, files: files.length + 1 }
  })
}

/**
 * Derives and writes every file but the manifest and the public tables. Returns undefined if another run has
 * published the release by then. When it returns, memory no longer holds the derived data.
 */
async function writeFiles(
  context: ReleaseContext & { database: Database },
  { state, plan, versions }: PlannedRelease,
): Promise<Omit<MadeRelease, 'public'> | undefined> {
  const { store, secrets } = context
  const release = state.number + 1
  await using derived = await deriveRelease(context, {
    release,
    asOf: new Date(plan.as_of),
    environment: plan.environment,
    versions,
    previous: state.manifest,
    bringsSnapshot: plan.brings_snapshot,
  })
  const write = writerOf(store, release)
  const files: ReleaseManifest['files'] = []
  const trees = new GatheredTrees()
  const snapshot = plan.brings_snapshot ? new SnapshotFiles(snapshotDate(plan.as_of)) : undefined
  for await (const file of derived.files((bytes) => (secrets ? signatureOf(bytes, secrets) : null))) {
    if (!(await write(file.path, bodyOf(file)))) return undefined
    files.push(entryOf(file))
    trees.take(file)
    if ('bytes' in file) snapshot?.take(file)
  }
  const { counts, corrections, erasures, questionsAt, pools, voiceRule, pairs } = derived
  return {
    plan,
    versions,
    counts,
    pairs,
    corrections,
    erasures,
    questionsAt,
    pools,
    voiceRule,
    files,
    trees,
    snapshot,
  }
}
