// Pins a call to one release, so that no answer mixes two.
import { ServiceError } from '../../schemas/errors.ts'
import type { CurrentRelease } from '../published/current-release.ts'
import type { Release } from '../published/release-payloads.ts'
import { noSuchRelease } from './not-published.ts'

/**
 * Answers from the release that the call names. Otherwise it answers from the current release, or from the
 * next one if retention thins the current one during the call. Retention thins a release only when there is a
 * newer one.
 *
 * @throws ServiceError `notFound` for a named release that does not exist or was thinned.
 */
export async function ofOneRelease<T>(
  current: CurrentRelease,
  named: number | undefined,
  answer: (release: Release) => T | Promise<T>,
): Promise<T> {
  const { now } = current
  if (named !== undefined) {
    const last = now.manifest?.release ?? 0
    if (named > last) throw noSuchRelease(named, last)
    return answer(named === last ? now : await current.at(named))
  }
  try {
    return await answer(now)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.type !== 'release-thinned') throw error
    await current.refresh()
    if (current.now === now) throw error
    return answer(current.now)
  }
}
