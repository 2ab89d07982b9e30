// One environment of a serving process: what its calls work on, and what goes on in the background.
import { setTimeout as pause } from 'node:timers/promises'
import type { NodeContext } from '../../api/http/context.ts'
import { datesInQuarantine, snapshotDate } from '../../pipeline/release/read.ts'
import { assertEnvironment } from '../../pipeline/release/state.ts'
import { assertOwnLog } from '../../pipeline/transparency/publish.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Environment } from '../../schemas/values.ts'
import type { Components } from '../components/components.ts'
import { type ApiParts, type Serving, buildApiParts } from './api-parts.ts'
import { Follower, type Pause } from './follower.ts'
import { restoreCalls } from './restored-calls.ts'
import { Scheduler } from './scheduler.ts'
import { type News, receivedForecast } from './workers/messages.ts'

/** A node that has rested may have to read thousands of forecasts before it can tell what stands, and one that starts all questions. */
const STANDING_PATIENCE_MS = 2_000

export interface RunningEnvironment {
  context: NodeContext
  /** Resolves once the questions and the forecasts that stand have been read, or could not be. */
  loaded: Promise<void>
  /** Takes in what another worker did. */
  learn(news: News): void
  /** Stops what goes on in the background. */
  quiesce(): Promise<void>
  /** Makes durable what was accepted, once no call is under way. */
  close(): Promise<void>
}

/**
 * @throws ServiceError `conflict` for the store of the other environment: what it holds must not be served, and
 *   signed, as this one's. The same for the log of another origin than the key's.
 */
export async function startEnvironment(
  components: Components,
  serving: Serving,
): Promise<RunningEnvironment> {
  await assertEnvironment(components)
  const { environment, settings, own, logger } = components
  const parts = buildApiParts(components, serving)
  await followStore(parts)
  const scheduler = new Scheduler(environment, own.RELEASE_SCHEDULE, serving.scheduler, logger)
  const following = (step: () => Promise<void>) => async () => {
    try {
      await step()
    } catch (error) {
      parts.metrics.refreshFailures.inc({ environment })
      if (error instanceof ServiceError && error.kind === 'corrupt')
        parts.metrics.corrupt.inc({ environment })
      logger.warn({ err: error, environment }, 'could not follow the store; serving what is known')
    }
  }
  // A call that wakes a resting node waits for this look, and nobody has asked the node for anything lately.
  const followed = following(() => followStore(parts, { warmFirst: !follower.isResting }))
  // Apart from the rest, so that a log that is damaged stops nothing but itself.
  const followedLog = following(() => parts.publicLog.refresh())
  await followedLog()
  const { head } = parts.publicLog
  if (head) assertOwnLog(head, components.signers)
  const pace = { refreshMs: settings.REFRESH_MS, pause: pauseFor }
  const follower = new Follower({
    ...pace,
    follow: async () => {
      await followed()
      await followedLog()
    },
  })
  const { questions, limits } = parts
  // A process that counts by itself continues from what was written down before it started.
  const restored = Promise.withResolvers<void>()
  let isRestored = serving.counters.quotas.shared
  const followedCalls = following(async () => {
    if (isRestored) return
    await restoreCalls(components, limits)
    isRestored = true
    restored.resolve()
  })
  if (!isRestored) limits.restoreFirst(() => isReadSoon(() => isRestored, restored.promise))
  const followedStanding = following(async () => {
    if (!questions.isRead) await readQuestions(parts)
    if (serving.accepting()) await parts.standing.refresh()
  })
  // Apart from the rest, because at the start it may read for minutes.
  const standingFollower = new Follower({
    ...pace,
    // What was written just after a look began is known after a pause and two looks, which must not take longer than `REFRESH_MS`.
    refreshMs: settings.REFRESH_MS / 2,
    firstLookMs: serving.firstCallsMs,
    patienceMs: STANDING_PATIENCE_MS,
    follow: async () => {
      await followedCalls()
      await followedStanding()
    },
  })
  /** Whether what a node reads once has been read: a call waits for that, or for the end of the look that tries it. */
  const isReadSoon = async (isRead: () => boolean, read: Promise<void>) => {
    if (!isRead()) await Promise.race([standingFollower.catchUp(), read])
    return isRead()
  }
  const flush = async () => {
    try {
      await parts.usage.flush()
    } catch (error) {
      const { pending } = parts.usage
      logger.warn({ err: error, environment, pending }, 'could not write down usage; it is tried again')
    }
  }
  const looking = repeat(settings.PROBE_MS, () => parts.health.look())
  const flushing = repeat(settings.USAGE_FLUSH_MS, flush)
  measure(environment, parts)
  return {
    context: {
      ...parts,
      catchUp: () => follower.catchUp(),
      isFollowing: () => !follower.isResting,
      questionsRead: () => isReadSoon(() => questions.isRead, questions.firstRead),
      catchUpStanding: async () => {
        await serving.latest?.()
        return standingFollower.catchUp()
      },
      nextReleaseAt: () => scheduler.nextRun(),
    },
    loaded: standingFollower.looked,
    learn: (news) => {
      if (news.kind === 'retired') parts.callers.learnRetired(news.agentId, news.at)
      else parts.standing.wrote(news.path, news.forecasts.map(receivedForecast))
    },
    quiesce: async () => {
      const stopped = [scheduler.stop(), follower.stop(), looking.stop(), flushing.stop()]
      // What is acknowledged does not wait for the end of a long read, which the process waits for all the same.
      void standingFollower.stop()
      await Promise.all(stopped)
    },
    close: async () => {
      await Promise.all([parts.forecasts.close(), parts.registrations.close(), flush(), parts.health.close()])
      parts.inbox?.close()
      await standingFollower.stop()
    },
  }
}

/** @throws whatever keeps the node from reading them: it is tried again, and meanwhile the node serves what is published. */
async function readQuestions({ questions, health }: ApiParts): Promise<void> {
  try {
    await questions.refresh()
    health.triedQuestions()
  } catch (error) {
    health.triedQuestions({ error })
    throw error
  }
}

/** Brings up to date what a node serves: the questions only once they have been read beside. Snapshots are listed until that of the current release's day is known. */
async function followStore(
  { questions, releases, history, health }: ApiParts,
  how?: { warmFirst: boolean },
): Promise<void> {
  if (questions.isRead) await questions.refresh()
  await releases.refresh(how)
  const { current } = releases
  if (current && !history.has(snapshotDate(current.as_of))) await history.refresh()
  history.include(datesInQuarantine(current?.quarantined ?? []))
  health.followed(current)
}

const pauseFor: Pause = (milliseconds, signal) => pause(milliseconds, true, { signal }).catch(() => false)

/** Runs `step`, which handles its own failures, again and again: each time `pauseMs` after the last one has ended. */
function repeat(pauseMs: number, step: () => Promise<void>): { stop: () => Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const running = (async () => {
    while (await pauseFor(pauseMs, signal)) await step()
  })()
  return {
    /** Starts no other step, and waits for the one under way. */
    stop: () => {
      stopping.abort()
      return running
    },
  }
}

function measure(environment: Environment, parts: ApiParts): void {
  const { metrics, forecasts, standing, releases, usage, health } = parts
  // Present from the start, so that the first failure shows as a rise.
  metrics.refreshFailures.inc({ environment }, 0)
  metrics.corrupt.inc({ environment }, 0)
  metrics.onCollect(() => {
    metrics.queued.set({ environment }, forecasts.queued)
    metrics.standing.set({ environment }, standing.size)
    metrics.release.set({ environment }, releases.current?.release ?? 0)
    metrics.usagePending.set({ environment }, usage.pending)
    for (const [check, { ok }] of Object.entries(health.checks)) {
      metrics.checks.set({ environment, check }, ok ? 1 : 0)
    }
    const { releaseAgeMs } = health
    if (releaseAgeMs !== undefined) metrics.releaseAge.set({ environment }, releaseAgeMs / 1000)
  })
}
