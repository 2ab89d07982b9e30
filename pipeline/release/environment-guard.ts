// Keeps the environments apart: nothing of one environment's store may be published as the other's.
import { ServiceError } from '../../schemas/errors.ts'
import type { Environment } from '../../schemas/values.ts'
import { type ReleaseState, readReleaseState } from './state.ts'
import { SIMULATION_PATH } from '../store/paths.ts'
import type { Store } from '../store/store.ts'

/**
 * Checks whose store it is before anything is written to it, and returns what has been released from it.
 *
 * @throws ServiceError `conflict` if the last release or plan is of the other environment, or if the simulation of the
 *   sandbox fills the store.
 */
export async function assertEnvironment({
  store,
  environment,
}: {
  store: Store
  environment: Environment
}): Promise<ReleaseState> {
  const state = await readReleaseState(store)
  const isSimulated = (await store.range(SIMULATION_PATH, 0, 1)) !== undefined
  const { begun, manifest } = state
  for (const found of [begun?.environment, manifest?.environment, isSimulated ? 'sandbox' : undefined]) {
    if (found === undefined || found === environment) continue
    throw new ServiceError(
      'conflict',
      `${store.url} is a store of the environment ${found}: nothing of it is published as ${environment}`,
    )
  }
  return state
}
