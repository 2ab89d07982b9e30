// What has been released and what has been begun. A run reads it once and passes it on.
import { z } from 'zod'
import type { ReleaseManifest } from '../../schemas/payloads.ts'
import { SCORED_TABLES } from '../../schemas/tables.ts'
import { ENVIRONMENTS, instant } from '../../schemas/values.ts'
import { currentRelease, hasSnapshot, readManifest, snapshotDate } from './read.ts'
import { planPath } from '../store/paths.ts'
import { readRecord } from '../store/records.ts'
import type { Store } from '../store/store.ts'

/** What any version of the service can read in a plan of any other. Its other fields tell one make from another. */
const readablePlan = z.looseObject({
  as_of: instant,
  started_at: instant,
  environment: z.enum(ENVIRONMENTS),
  tables: z.record(z.enum(SCORED_TABLES), z.number().int()),
  brings_snapshot: z.boolean().optional(),
})
export type ReadablePlan = z.infer<typeof readablePlan>

export interface ReleaseState {
  /** The number of the current release; 0 if there is none. */
  number: number
  /** Of the current release. */
  manifest: ReleaseManifest | undefined
  /** Whether the day of the current release has its snapshot. */
  hasSnapshot: boolean
  /** The plan of the next release, if a run has begun it. */
  begun: ReadablePlan | undefined
}

export async function readReleaseState(store: Store): Promise<ReleaseState> {
  const number = await currentRelease(store)
  const manifest = number > 0 ? await readManifest(store, number) : undefined
  return {
    number,
    manifest,
    hasSnapshot: manifest !== undefined && (await hasSnapshot(store, snapshotDate(manifest.as_of))),
    begun: await readPlan(store, number + 1),
  }
}

export async function readPlan(store: Store, release: number): Promise<ReadablePlan | undefined> {
  return readRecord(store, planPath(release), readablePlan)
}
