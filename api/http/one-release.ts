// Pins a call to one release, so that no answer mixes two.
import { ServiceError } from '../../schemas/errors.ts'
import type { ApiContext, NodeContext } from './context.ts'
import { noSuchRelease } from './not-published.ts'
import type { Release } from '../published/release-payloads.ts'

const contexts = new WeakMap<Release, ApiContext>()

/** Returns the context of a call that is answered from this release. */
export function contextOf(context: ApiContext, release: Release): ApiContext {
  const known = contexts.get(release) ?? { ...context, releases: release }
  contexts.set(release, known)
  return known
}

/**
 * Answers from the release that the call names. Otherwise it answers from the current release, or from the
 * next one if retention thins the current one during the call. Retention thins a release only when there is a
 * newer one.
 *
 * @throws ServiceError `notFound` for a named release that does not exist or was thinned.
 */
export async function ofOneRelease<T>(
  context: NodeContext,
  named: number | undefined,
  answer: (context: ApiContext) => T | Promise<T>,
): Promise<T> {
  if (named !== undefined) return answer(await contextOfNamed(context, named))
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

async function contextOfNamed(context: NodeContext, named: number): Promise<ApiContext> {
  const { site } = context
  const { now } = context.releases
  const { current } = now
  if (!current || named > current.release) throw noSuchRelease(named, current?.release ?? 0)
  if (named === current.release) return contextOf(context, now)
  const release = await context.releases.at(named)
  const shown = { release: named, asOf: release.current!.as_of, current: current.release }
  return { ...context, releases: release, earlierThan: now, site: { ...site, earlier: shown } }
}
