// Updates a node's knowledge of its store, in steps that fail separately.
import { dayOf } from '../../api/limits/calendar.ts'
import { readMonthlyUsage } from '../../pipeline/access/usage.ts'
import { datesInQuarantine, snapshotDate } from '../../pipeline/release/read.ts'
import { assertOwnLog } from '../../pipeline/transparency/publish.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Components } from '../components/components.ts'
import type { ApiParts, Serving } from './api-parts.ts'
import { Follower } from './follower.ts'
import { pauseFor } from './repeat.ts'

/**
 * The longest wait for current forecasts. A rested node may first have to read thousands of forecasts, and a
 * starting node all questions.
 */
const FORECASTS_PATIENCE_MS = 2_000

/** The arguments of the steps of the start. */
export interface Starting {
  components: Components
  serving: Serving
  parts: ApiParts
}

/** Takes a step. Counts and logs its failure; the node then serves what it has. */
async function attempt({ components, parts }: Starting, step: () => Promise<void>): Promise<void> {
  const { environment, logger } = components
  try {
    await step()
  } catch (error) {
    parts.metrics.refreshFailures.inc({ environment })
    if (error instanceof ServiceError && error.kind === 'corrupt') parts.metrics.corrupt.inc({ environment })
    logger.warn({ err: error, environment }, 'could not follow the store; serving what is known')
  }
}

/** @throws ServiceError `conflict` if the log's origin is not that of the signing key. */
export async function readLog(starting: Starting): Promise<void> {
  const { components, parts } = starting
  await attempt(starting, () => parts.credentials.refresh())
  await attempt(starting, () => parts.publicLog.refresh())
  const { head } = parts.publicLog
  if (head) assertOwnLog(head, components.signers)
}

/** Reads changed names of people. */
export function readPeople(starting: Starting): Promise<void> {
  return attempt(starting, () => starting.parts.people.refresh())
}

export function followReleases(starting: Starting): Follower {
  const { components, parts } = starting
  const follower = new Follower({
    refreshMs: components.settings.REFRESH_MS,
    pause: pauseFor,
    follow: async () => {
      // Do not warm caches on a resting node: a call may wait for this look, and there were no calls lately.
      await attempt(starting, () => followStore(parts, { warmFirst: !follower.isResting }))
      // Read the log in a separate step, so that a damaged log stops nothing else.
      await attempt(starting, () => parts.publicLog.refresh())
      await attempt(starting, () => parts.credentials.refresh())
    },
  })
  return follower
}

/**
 * Restores the counts of calls, reads the questions, and then follows the current forecasts. Runs apart from
 * the releases, because the first look may read for minutes.
 */
export function followForecasts(starting: Starting) {
  const { components, serving, parts } = starting
  const { questions, limits, currentForecasts } = parts
  const restored = Promise.withResolvers<void>()
  // A process with its own counters starts from this month's stored calls.
  let isRestored = serving.quotas.shared
  const restore = async () => {
    if (isRestored) return
    const { month } = dayOf(components.now())
    await limits.monthlyCalls.restore(month, await readMonthlyUsage(components, month))
    isRestored = true
    restored.resolve()
  }
  const follower = new Follower({
    // A forecast written just after a look began is known after a pause and two looks. That must not take
    // longer than `REFRESH_MS`.
    refreshMs: components.settings.REFRESH_MS / 2,
    pause: pauseFor,
    firstLookMs: serving.firstCallsMs,
    patienceMs: FORECASTS_PATIENCE_MS,
    follow: async () => {
      await attempt(starting, restore)
      await attempt(starting, async () => {
        if (!questions.isRead) await readQuestions(parts)
        if (serving.accepting()) await currentForecasts.refresh()
      })
    },
  })
  /** Waits until something has been read, or until the look that tries to read it has ended. */
  const isReadSoon = async (isRead: () => boolean, read: Promise<void>) => {
    if (!isRead()) await Promise.race([follower.catchUp(), read])
    return isRead()
  }
  if (!isRestored) limits.restoreFirst(() => isReadSoon(() => isRestored, restored.promise))
  return { follower, questionsRead: () => isReadSoon(() => questions.isRead, questions.firstRead) }
}

/**
 * @throws any error of reading the questions. The next look tries again; until then the node serves published
 *   data.
 */
async function readQuestions({ questions, health }: ApiParts): Promise<void> {
  try {
    await questions.refresh()
    health.triedQuestions()
  } catch (error) {
    health.triedQuestions({ error })
    throw error
  }
}

/**
 * Updates the served releases, and the questions once they have been read for the first time. Lists snapshots
 * until it finds that of the current release's day.
 */
export async function followStore(
  { questions, current, history, health }: ApiParts,
  how?: { warmFirst: boolean },
): Promise<void> {
  if (questions.isRead) await questions.refresh()
  await current.refresh(how)
  const { manifest } = current
  if (manifest && !history.has(snapshotDate(manifest.as_of))) await history.refresh()
  history.include(datesInQuarantine(manifest?.quarantined ?? []))
  health.followed(manifest)
}
