// The components and settings of a release, and the state before it: the last release, and the plan of a
// release already begun. A run reads the state once and passes it on.
import type { PipelineComponents } from '../components.ts'
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import {
  type ReleaseManifest,
  erasedPerson,
  quarantinedObject,
  undoneImport,
} from '../../schemas/manifests.ts'
import { SCORED_TABLES } from '../../schemas/tables.ts'
import { ENVIRONMENTS, instant } from '../../schemas/values.ts'
import { currentRelease, readManifest } from './read.ts'
import { SIMULATION_PATH, planPath } from '../store/paths.ts'
import { recordAt } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { CompactionContext } from '../tables/data-files.ts'

/** The fields of a plan that every version of the service can read. All other fields identify the make. */
const readablePlan = z.looseObject({
  as_of: instant,
  started_at: instant,
  environment: z.enum(ENVIRONMENTS),
  tables: z.record(z.enum(SCORED_TABLES), z.number().int()),
  brings_snapshot: z.boolean(),
  quarantined: z.array(z.looseObject(quarantinedObject.shape)),
  undone_imports: z.array(undoneImport).optional(),
  erased_people: z.array(erasedPerson).optional(),
  signing: z.string().nullable(),
})
export type ReadablePlan = z.infer<typeof readablePlan>

/** The components that make a release. */
export type ReleaseContext = Omit<CompactionContext, 'database'> &
  Pick<
    PipelineComponents,
    | 'openDatabase'
    | 'methodology'
    | 'environment'
    | 'secrets'
    | 'signers'
    | 'service'
    | 'log'
    | 'clockAheadMs'
  >

/** The first major version of the methodology whose stores this version continues. */
const FIRST_METHOD = 4

export interface ReleaseState {
  /** The number of the current release; 0 if there is none. */
  number: number
  /** The manifest of the current release. */
  manifest: ReleaseManifest | undefined
  /** The plan of the next release, if a run has begun it. */
  begun: ReadablePlan | undefined
}

/**
 * Checks the environment of a store before a run writes to it: nothing of one environment may be published as
 * the other's. Returns the state of its releases.
 *
 * @throws ServiceError `conflict` if the last release or plan is of the other environment, if the simulation
 *   of the sandbox fills the store, or if the last release is of an older method; `unavailable` if the store
 *   does not show the last manifest.
 */
export async function assertEnvironment({
  store,
  environment,
}: Pick<ReleaseContext, 'store' | 'environment'>): Promise<ReleaseState> {
  const number = await currentRelease(store)
  const manifest = number > 0 ? await readManifest(store, number) : undefined
  // Without the manifest, the next release would be made as if it were the first.
  if (number > 0 && !manifest) {
    throw new ServiceError(
      'unavailable',
      `the store shows that there is a manifest of release ${number}, and does not show it; run again`,
      { retryAfterS: 5 },
    )
  }
  const begun = await readPlan(store, number + 1)
  const isSimulated = (await store.range(SIMULATION_PATH, 0, 1)) !== undefined
  for (const found of [begun?.environment, manifest?.environment, isSimulated ? 'sandbox' : undefined]) {
    if (found === undefined || found === environment) continue
    throw new ServiceError(
      'conflict',
      `${store.url} is a store of the environment ${found}: nothing of it is published as ${environment}`,
    )
  }
  if (manifest !== undefined && Number.parseInt(manifest.methodology_version, 10) < FIRST_METHOD) {
    throw new ServiceError(
      'conflict',
      `release ${number} of ${store.url} is by method ${manifest.methodology_version}, and no store goes on from one before ${FIRST_METHOD}.0.0: begin a new store, and import again`,
    )
  }
  return { number, manifest, begun }
}

/**
 * Returns the versions of the tables with which rows are compared: those of the last release, or of the plan
 * of a release already begun, which will score by them.
 *
 * @throws ServiceError as `assertEnvironment` does.
 */
export async function releasedVersions(
  context: Pick<ReleaseContext, 'store' | 'environment'>,
): Promise<Record<string, number>> {
  const { manifest, begun } = await assertEnvironment(context)
  return begun?.tables ?? manifest?.tables ?? {}
}

export async function readPlan(store: Store, release: number): Promise<ReadablePlan | undefined> {
  return recordAt(store, planPath(release), readablePlan).get()
}
