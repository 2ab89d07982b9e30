// Makes a release: takes in the inbox, decides on what to score, publishes every file, and last the manifest.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest, SnapshotManifest } from '../../schemas/payloads.ts'
import { SCORED_TABLES, type ScoredTable } from '../../schemas/tables.ts'
import { ENVIRONMENTS, type Environment, instant } from '../../schemas/values.ts'
import { type DerivedRelease, deriveRelease, snapshotDate } from './derive.ts'
import { Database, withDatabase } from '../duckdb.ts'
import { hasChanged, nothingToRelease } from './changes.ts'
import { assertEnvironment } from './environment-guard.ts'
import type { OutputFile } from './shards.ts'
import { currentRelease, readManifest, readSnapshotManifest } from './read.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { type SigningSecrets, signatureOf } from '../proof/hmac.ts'
import { canonical, sha256Hex } from '../proof/canonical.ts'
import {
  manifestPath,
  planPath,
  releasePrefix,
  snapshotManifestPath,
  snapshotPrefix,
} from '../store/paths.ts'
import { readRecord } from '../store/records.ts'
import { putExactly, putOnce } from '../store/store.ts'
import { type CompactionContext, compact } from '../tables/compact.ts'
import { TableLog, type TableVersion, currentVersions } from '../tables/delta-log.ts'

export interface ReleaseContext extends Omit<CompactionContext, 'database'> {
  openDatabase: () => Promise<Database>
  /** By which releases are scored. */
  methodology: Methodology
  environment: Environment
  /** Undefined: signing is off. */
  secrets: SigningSecrets | undefined
  /** The version of this software. */
  service: string
  log: (event: string, fields: object) => void
}

export interface ReleaseRequest {
  asOf?: Date | undefined
  /** Make none where nothing has changed since the current one on the same day. */
  ifChanged?: boolean
}

export type ReleaseResult =
  | { made: true; release: number; asOf: string; entities: number; pairs: number; files: number }
  | { made: false; release: number; reason: 'unchanged' | 'lost' }

/** What a release is made of. Whoever writes it down first decides; whoever finds it finishes it to the same bytes. */
const releasePlan = z.strictObject({
  as_of: instant,
  started_at: instant,
  environment: z.enum(ENVIRONMENTS),
  methodology_version: z.string(),
  engines: z.strictObject({ service: z.string(), duckdb: z.string() }),
  tables: z.record(z.enum(SCORED_TABLES), z.number().int()),
  /** Tells the signing secrets apart without giving them away; null: signing is off. */
  signing: z.string().nullable(),
})
type ReleasePlan = z.infer<typeof releasePlan>

/** A plan of another make (software, secret) is left alone for this long: its job may still be at work. */
const TAKEOVER_MS = 15 * 60_000

/**
 * Takes in the inbox and publishes a release. A release that an earlier run began and did not finish is
 * finished first. Any number of runs may be under way: one commits, the others say that they lost.
 *
 * @throws ServiceError `invalid` for an `asOf` in the future, `conflict` for the store of another environment,
 *   `unavailable` where the store does not answer: running again is safe.
 */
export async function makeRelease(
  context: ReleaseContext,
  request: ReleaseRequest = {},
): Promise<ReleaseResult> {
  const now = context.now()
  if (request.asOf && request.asOf > now) {
    throw new ServiceError('invalid', `--as-of ${request.asOf.toISOString()} lies in the future`)
  }
  const current = await assertEnvironment(context)
  const asOf = request.asOf ?? now
  const next = { ...makeOf(context), as_of: asOf.toISOString() }
  if (request.ifChanged && current && (await nothingToRelease(context.store, current, next))) {
    return { made: false, release: current.release, reason: 'unchanged' }
  }
  await compactAll(context)
  for (;;) {
    const last = await currentRelease(context.store, current?.release)
    if (last > 0) await completeSnapshot(context, last)
    const release = last + 1
    const found = await readPlan(context, release)
    if (found) {
      const result = await carryOut(context, release, found)
      if (!result.made) return result
      context.log('finished a release that an earlier run began', { release })
      continue
    }
    const plan = await newPlan(context, asOf)
    const manifest = request.ifChanged ? await readManifest(context.store, last) : undefined
    if (manifest && !hasChanged(manifest, plan)) {
      return { made: false, release: last, reason: 'unchanged' }
    }
    if (!(await context.store.putIfAbsent(planPath(release), canonical(plan)))) continue
    return carryOut(context, release, plan)
  }
}

async function compactAll(context: ReleaseContext): Promise<void> {
  await withDatabase(context.openDatabase, async (database) => {
    for (const table of SCORED_TABLES) {
      const { rows, objects, version } = await compact({ ...context, database }, table)
      if (objects > 0) context.log('took in the inbox', { table, rows, objects, version })
    }
  })
}

async function newPlan(context: ReleaseContext, asOf: Date): Promise<ReleasePlan> {
  const versions = await currentVersions(context.store)
  return {
    as_of: asOf.toISOString(),
    started_at: context.now().toISOString(),
    ...makeOf(context),
    tables: versionNumbers(versions),
  }
}

/** What besides the tables decides a release's bytes. */
function makeOf({
  methodology,
  environment,
  secrets,
  service,
}: ReleaseContext): Omit<ReleasePlan, 'as_of' | 'started_at' | 'tables'> {
  return {
    environment,
    methodology_version: methodology.version,
    engines: { service, duckdb: Database.version },
    signing: secrets ? sha256Hex(signatureOf(canonical('which secret signs'), secrets)).slice(0, 16) : null,
  }
}

function versionNumbers(versions: Record<ScoredTable, TableVersion>): Record<ScoredTable, number> {
  return Object.fromEntries(SCORED_TABLES.map((name) => [name, versions[name].version])) as Record<
    ScoredTable,
    number
  >
}

/** The plan that a release has, if any; one of another make is taken over once its job can be thought dead. */
async function readPlan(context: ReleaseContext, release: number): Promise<ReleasePlan | undefined> {
  const { store, now } = context
  const key = planPath(release)
  const plan = await readRecord(store, key, releasePlan)
  if (!plan) return undefined
  const { as_of, started_at, tables, ...make } = plan
  const own = makeOf(context)
  if (sha256Hex(canonical(make)) === sha256Hex(canonical(own))) return plan
  const ageMs = now().getTime() - Date.parse(started_at)
  if (ageMs < TAKEOVER_MS) {
    throw new ServiceError(
      'conflict',
      `release ${release} was begun at ${started_at} by another version of the service or under another secret; it is taken over after ${TAKEOVER_MS / 60_000} minutes`,
    )
  }
  const taken = { as_of, started_at: now().toISOString(), tables, ...own }
  await store.put(key, canonical(taken))
  return taken
}

function carryOut(context: ReleaseContext, release: number, plan: ReleasePlan): Promise<ReleaseResult> {
  const content = { release, as_of: plan.as_of, environment: plan.environment, tables: plan.tables }
  return withDerived(context, content, (derived) => publish(context, release, plan, derived))
}

/** Derives a release from the versions that it names; what is derived holds while `work` goes on. */
function withDerived<T>(
  context: ReleaseContext,
  {
    release,
    as_of,
    environment,
    tables,
  }: Pick<ReleaseManifest, 'release' | 'as_of' | 'environment' | 'tables'>,
  work: (derived: DerivedRelease) => Promise<T>,
): Promise<T> {
  return withDatabase(context.openDatabase, async (database) => {
    const versions = await versionsOf(context, tables)
    const inputs = { release, asOf: new Date(as_of), environment, versions }
    return work(await deriveRelease({ ...context, database }, inputs))
  })
}

/** Writes every file and last the manifest; loses where another run has published the release by then. */
async function publish(
  context: ReleaseContext,
  release: number,
  plan: ReleasePlan,
  derived: DerivedRelease,
): Promise<ReleaseResult> {
  const { store, secrets } = context
  const files: ReleaseManifest['files'] = []
  for await (const file of derived.files((bytes) => (secrets ? signatureOf(bytes, secrets) : null))) {
    const key = releasePrefix(release) + file.path
    if ((await putOnce(store, key, file.bytes)) === 'different') {
      // Left by a run of another make, whose plan has been taken over; unless that run came through after all.
      if (await readManifest(store, release)) return { made: false, release, reason: 'lost' }
      await store.put(key, file.bytes)
    }
    files.push(entryOf(file))
  }
  const manifest: ReleaseManifest = {
    release,
    as_of: plan.as_of,
    environment: plan.environment,
    methodology_version: plan.methodology_version,
    engines: plan.engines,
    tables: plan.tables,
    files,
  }
  if (!(await store.putIfAbsent(manifestPath(release), canonical(manifest)))) {
    return { made: false, release, reason: 'lost' }
  }
  context.log('published', {
    release,
    as_of: plan.as_of,
    entities: derived.entityCount,
    pairs: derived.pairCount,
  })
  await writeSnapshot(context, manifest, derived)
  return {
    made: true,
    release,
    asOf: plan.as_of,
    entities: derived.entityCount,
    pairs: derived.pairCount,
    files: files.length + 1,
  }
}

export function entryOf({ path, rows, bytes, first }: OutputFile): ReleaseManifest['files'][number] {
  return { path, rows, size_bytes: bytes.byteLength, sha256: sha256Hex(bytes), ...first }
}

export async function versionsOf(
  { store }: Pick<ReleaseContext, 'store'>,
  tables: Record<string, number>,
): Promise<Record<ScoredTable, TableVersion>> {
  const versions = await Promise.all(
    SCORED_TABLES.map(async (name): Promise<[ScoredTable, TableVersion]> => {
      const wanted = tables[name] ?? -1
      const version = await new TableLog(store, name).readTo(wanted)
      if (version.version !== wanted) {
        throw new ServiceError(
          'corrupt',
          `table ${name} has no version ${wanted}; its log ends at ${version.version}`,
        )
      }
      return [name, version]
    }),
  )
  return Object.fromEntries(versions) as Record<ScoredTable, TableVersion>
}

/**
 * Writes the snapshot of a release's day, if the day has none: this runs for each release before the next is
 * begun, so the first committed release of a day is the one that it speaks of.
 */
async function completeSnapshot(context: ReleaseContext, release: number): Promise<void> {
  const manifest = await readManifest(context.store, release)
  if (!manifest) throw new ServiceError('corrupt', `release ${release} has lost its manifest`)
  const date = snapshotDate(new Date(manifest.as_of))
  if (await readSnapshotManifest(context.store, date)) return
  context.log('completing the snapshot that an earlier run left out', { release, date })
  await withDerived(context, manifest, (derived) => writeSnapshot(context, manifest, derived))
}

async function writeSnapshot(
  { store }: ReleaseContext,
  manifest: ReleaseManifest,
  derived: DerivedRelease,
): Promise<void> {
  const date = snapshotDate(new Date(manifest.as_of))
  if (await readSnapshotManifest(store, date)) return
  const files: SnapshotManifest['files'] = []
  for (const file of derived.snapshotFiles()) {
    await putExactly(store, snapshotPrefix(date) + file.path, file.bytes)
    files.push(entryOf(file))
  }
  const snapshot: SnapshotManifest = { date, release: manifest.release, files }
  await putExactly(store, snapshotManifestPath(date), canonical(snapshot))
}
