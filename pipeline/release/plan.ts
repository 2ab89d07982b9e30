// Decides once from which inputs a release is made. Every run of the same make carries out the plan to the
// same bytes.
import { ServiceError } from '../../schemas/errors.ts'
import type { QuarantinedObject, ReleaseManifest } from '../../schemas/manifests.ts'
import { SCORED_TABLES, type ScoredTable } from '../../schemas/tables.ts'
import type { Environment } from '../../schemas/values.ts'
import { Database } from '../duckdb.ts'
import { canonical, sha256Hex } from '../proof/canonical.ts'
import type { Provenance } from './payloads.ts'
import { hasSnapshot, readManifest, snapshotDate } from './read.ts'
import { fingerprintOf } from './signatures.ts'
import { type ReadablePlan, type ReleaseContext, type ReleaseState, readPlan } from './state.ts'
import { MOST_APART_MS } from '../store/clock.ts'
import { deltaLogPath, planPath } from '../store/paths.ts'
import { recordBytes } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { TableLog, assertNotBehind } from '../tables/delta-log.ts'
import type { LeftOut, TableVersion, TablesRead } from '../tables/delta.ts'
import { without } from '../tables/left-out.ts'

/**
 * The method, the software and the secret that make a release. Together with the tables they decide its
 * bytes.
 */
interface Make {
  environment: Environment
  methodology_version: string
  engines: ReleaseManifest['engines']
  /** Distinguishes the signing secrets without revealing them; null if signing is off. */
  signing: string | null
}

/** Its lists of rows left out date from its making. */
export interface ReleasePlan extends Make, LeftOut {
  as_of: string
  started_at: string
  tables: Record<ScoredTable, number>
  /** Whether the release is the first of its day, so that the day's snapshot is copied from its shards. */
  brings_snapshot: boolean
  /** The objects in quarantine when the plan was made. */
  quarantined: readonly QuarantinedObject[]
}

/**
 * For this long a run leaves a plan of another make alone, because the run that made it may still be at work.
 */
const TAKEOVER_MS = 15 * 60_000

/**
 * Refuses an `as_of` that the next release must not have.
 *
 * @throws ServiceError `invalid` for an `--as-of` in the future. `conflict` for an instant before the `as_of`
 *   of the last release or of the release begun after it. `conflict` for an instant far ahead of the store's
 *   clock: then `--as-of` or the clock is wrong.
 */
export function assertAsOf(
  { clockAheadMs = 0 }: Pick<ReleaseContext, 'clockAheadMs'>,
  state: ReleaseState,
  requested: Date | undefined,
  now: Date,
): void {
  if (requested && requested > now) {
    throw new ServiceError('invalid', `--as-of ${requested.toISOString()} lies in the future`)
  }
  const asOf = (requested ?? now).toISOString()
  const there = new Date(now.getTime() - clockAheadMs)
  if (Date.parse(asOf) - there.getTime() > MOST_APART_MS) {
    throw new ServiceError(
      'conflict',
      `the release would be as of ${asOf}, and the store has just dated an object ${there.toISOString()}: ` +
        'forecasts that come until then would seem to be backdated for ever, so set the clock right',
    )
  }
  const last = state.begun ?? state.manifest
  if (!last || asOf >= last.as_of) return
  const release = state.begun
    ? `release ${state.number + 1}, which has been begun`
    : `release ${state.number}`
  const goesBack = `lies before ${last.as_of}, the as_of of ${release}; it never goes back`
  throw new ServiceError(
    'conflict',
    requested
      ? `--as-of ${asOf} ${goesBack}`
      : `the clock says ${asOf}, which ${goesBack}, so set the clock right`,
  )
}

/**
 * @throws ServiceError `unavailable` if the store does not show all commits of the last release.
 */
export async function newPlan(
  context: ReleaseContext,
  state: ReleaseState,
  asOf: Date,
  versions: Record<ScoredTable, TableVersion>,
  inputs: Pick<ReleasePlan, 'quarantined' | keyof LeftOut>,
): Promise<ReleasePlan> {
  assertNotBehind(versions, state.manifest?.tables ?? {})
  const tables = Object.fromEntries(SCORED_TABLES.map((name) => [name, versions[name].version]))
  const as_of = asOf.toISOString()
  return {
    as_of,
    started_at: context.now().toISOString(),
    ...makeOf(context),
    tables: tables as ReleasePlan['tables'],
    brings_snapshot: await bringsSnapshot(context.store, state, as_of),
    ...inputs,
  }
}

/**
 * Whether the release is the first of its day, and the day has no snapshot yet. Since `as_of` never goes
 * back, only the last release can be of the same day.
 */
async function bringsSnapshot(store: Store, { manifest }: ReleaseState, asOf: string): Promise<boolean> {
  const date = snapshotDate(asOf)
  if (manifest && snapshotDate(manifest.as_of) === date) return false
  return !(await hasSnapshot(store, date))
}

/**
 * Returns the plan to finish a release that another run has begun. This run cannot carry out a plan of
 * another make to the same bytes. Once the other run must be dead, it replaces that plan by one of its own
 * make, as of the same instant.
 *
 * @throws ServiceError `conflict` for a plan of another make whose run may still be at work.
 */
export async function begunPlan(
  context: ReleaseContext,
  state: ReleaseState,
  begun: ReadablePlan,
): Promise<ReleasePlan> {
  const { started_at } = begun
  const own = asPlannedBy(context, begun)
  if (isSame(begun, own)) return own
  const release = state.number + 1
  const now = context.now()
  if (now.getTime() - Date.parse(started_at) < TAKEOVER_MS) {
    throw new ServiceError(
      'conflict',
      `release ${release} was begun at ${started_at} by another version of the service or under another secret; it is taken over after ${TAKEOVER_MS / 60_000} minutes`,
    )
  }
  // Once a release is published, its plan must never change, even if the store did not show the manifest at
  // first.
  if (await readManifest(context.store, release)) {
    throw new ServiceError('unavailable', `the store has not shown release ${release} before; run again`, {
      retryAfterS: 5,
    })
  }
  const taken = { ...own, started_at: now.toISOString() }
  await context.store.put(planPath(release), recordBytes(planPath(release), taken))
  return taken
}

/**
 * Returns the plan of a release to one of the many processes that carry it out.
 *
 * @throws ServiceError `notFound` if there is none, `conflict` for a plan of another make: this process would
 *   write other bytes.
 */
export async function ownPlan(context: ReleaseContext, release: number): Promise<ReleasePlan> {
  const begun = await readPlan(context.store, release)
  if (!begun) throw new ServiceError('notFound', `${planPath(release)} is not in the store`)
  const own = asPlannedBy(context, begun)
  if (isSame(begun, own)) return own
  throw new ServiceError(
    'conflict',
    `release ${release} was planned by another version of the service, under another secret or for another environment`,
  )
}

/** Returns the same plan with the make of this run. */
function asPlannedBy(context: ReleaseContext, begun: Omit<ReleasePlan, keyof Make>): ReleasePlan {
  const { as_of, started_at, tables, brings_snapshot, quarantined, undone_imports, erased_people } = begun
  return {
    as_of,
    started_at,
    ...makeOf(context),
    tables,
    brings_snapshot,
    quarantined,
    undone_imports,
    erased_people,
  }
}

function isSame(begun: ReadablePlan, own: ReleasePlan): boolean {
  return sha256Hex(canonical(begun)) === sha256Hex(canonical(own))
}

/** Returns what every payload of a planned release repeats. */
export function provenanceOf(
  { methodology_version, as_of, environment }: ReleasePlan,
  release: number,
): Provenance {
  return { methodology_version, release, as_of, environment }
}

export function makeOf({ methodology, environment, secrets, service }: ReleaseContext): Make {
  return {
    environment,
    methodology_version: methodology.version,
    engines: { service, duckdb: Database.version },
    signing: fingerprintOf(secrets),
  }
}

/**
 * The tables that a plan or a manifest names.
 *
 * @throws ServiceError `corrupt` if a table has lost its version.
 */
export async function versionsOf(store: Store, read: TablesRead): Promise<Record<ScoredTable, TableVersion>> {
  const versions = await Promise.all(
    SCORED_TABLES.map(async (name): Promise<[ScoredTable, TableVersion]> => [
      name,
      without(await versionOf(store, read.tables, name), read),
    ]),
  )
  return Object.fromEntries(versions) as Record<ScoredTable, TableVersion>
}

/** @throws ServiceError as `versionsOf` does. */
async function versionOf<T extends ScoredTable>(
  store: Store,
  tables: Record<string, number>,
  table: T,
): Promise<TableVersion & { table: T }> {
  const wanted = tables[table] ?? -1
  const version = await new TableLog(store, table).readTo(wanted)
  if (version.version === wanted) return { ...version, table }
  throw new ServiceError(
    'corrupt',
    `table ${table} has no version ${wanted}: its log ends at ${version.version}, and ${deltaLogPath(table, version.version + 1)} is not in the store`,
  )
}
