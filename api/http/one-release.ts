// Pins a call to one release, so that no answer mixes two.
import { ServiceError } from '../../schemas/errors.ts'
import type { ApiContext, NodeContext } from './context.ts'
import type { Release } from '../published/release-payloads.ts'

const contexts = new WeakMap<Release, ApiContext>()

/** Returns the context of a call that is answered from this release. */
export function contextOf(context: ApiContext, release: Release): ApiContext {
  const known = contexts.get(release) ?? { ...context, releases: release }
  contexts.set(release, known)
  return known
}

/**
 * Answers from the current release, or from the next one if retention thins the current one during the call.
 * Retention thins a release only when there is a newer one.
 */
export async function ofOneRelease<T>(
  context: NodeContext,
  answer: (context: ApiContext) => T | Promise<T>,
): Promise<T> {
  const { releases } = context
  const { now } = releases
  try {
    return await answer(contextOf(context, now))
  } catch (error) {
    if (!(error instanceof ServiceError) || error.type !== 'release-thinned') throw error
    await releases.refresh()
    if (releases.now === now) throw error
    return answer(contextOf(context, releases.now))
  }
}
