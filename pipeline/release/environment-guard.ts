// Keeps the environments apart: nothing of one environment's store may be published as the other's.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest } from '../../schemas/payloads.ts'
import { ENVIRONMENTS, type Environment } from '../../schemas/values.ts'
import { currentRelease, readManifest } from './read.ts'
import { SIMULATION_PATH, planPath } from '../store/paths.ts'
import { readRecord } from '../store/records.ts'
import type { Store } from '../store/store.ts'

const plannedFor = z.looseObject({ environment: z.enum(ENVIRONMENTS) })

/**
 * Looks at whose the store is, before anything is written to it, and returns its current release, if it has one.
 *
 * @throws ServiceError `conflict` where its last release or plan is of the other environment,
 *   or where the simulation of the sandbox fills it.
 */
export async function assertEnvironment({
  store,
  environment,
}: {
  store: Store
  environment: Environment
}): Promise<ReleaseManifest | undefined> {
  const last = await currentRelease(store)
  const plan = await readRecord(store, planPath(last + 1), plannedFor)
  const manifest = last > 0 ? await readManifest(store, last) : undefined
  const isSimulated = (await store.range(SIMULATION_PATH, 0, 1)) !== undefined
  for (const found of [plan?.environment, manifest?.environment, isSimulated ? 'sandbox' : undefined]) {
    if (found === undefined || found === environment) continue
    throw new ServiceError(
      'conflict',
      `${store.url} is a store of the environment ${found}: nothing of it is published as ${environment}`,
    )
  }
  return manifest
}
