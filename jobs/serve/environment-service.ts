// One environment of a serving process: the context of its calls, and its work in the background.
import { notCurrent } from '../../api/current-forecasts/current-forecasts.ts'
import type { ApiContext } from '../../api/http/context.ts'
import { assertEnvironment } from '../../pipeline/release/state.ts'
import type { Environment } from '../../schemas/values.ts'
import type { Components } from '../components/components.ts'
import { type ApiParts, type Serving, buildApiParts } from './api-parts.ts'
import {
  type Starting,
  followReleases,
  followForecasts,
  followStore,
  readLog,
  readPeople,
} from './following.ts'
import { InboxAge } from './inbox-age.ts'
import { repeat } from './repeat.ts'
import { Scheduler } from './scheduler.ts'
import { createTelling } from './telling.ts'

/** Look seldom: each look is a LIST of the bucket, and nothing depends on it. */
const INBOX_LOOK_MS = 60_000
/** A look for names is a LIST of the bucket, so only every so many looks for other news include one. */
const LOOKS_PER_LIST = 5

export interface RunningEnvironment {
  context: ApiContext
  /** Resolves once reading the questions and the current forecasts has succeeded or failed. */
  loaded: Promise<void>
  /** Stops the work in the background. */
  quiesce(): Promise<void>
  /** Makes all accepted rows durable. Call it only when no call is under way. */
  close(): Promise<void>
}

/**
 * @throws ServiceError `conflict` for the store of the other environment, because this one must not serve and
 *   sign its data. Also `conflict` if the log's origin is not that of the signing key.
 */
export async function startEnvironment(
  components: Components,
  serving: Serving,
): Promise<RunningEnvironment> {
  // Check the store, and read what the first calls need.
  await assertEnvironment(components)
  const { environment, settings, own, logger } = components
  const parts = buildApiParts(components, serving)
  const starting = { components, serving, parts }
  await followStore(parts)
  await readLog(starting)
  await readPeople(starting)
  // Start the scheduler first among the work in the background: it is the last step that may fail, so nothing
  // keeps running after its error.
  const scheduler = new Scheduler(environment, own.RELEASE_SCHEDULE, serving.scheduler, logger)
  // Begin the work in the background.
  const follower = followReleases(starting)
  const forecasting = followForecasts(starting)
  const flush = () => flushUsage(starting)
  const looking = repeat(settings.PROBE_MS, () => parts.health.look())
  const inboxAge = new InboxAge(components)
  const listing = repeat(INBOX_LOOK_MS, () => inboxAge.look())
  const naming = repeat(LOOKS_PER_LIST * settings.REFRESH_MS, () => readPeople(starting))
  const flushing = repeat(settings.USAGE_FLUSH_MS, flush)
  const telling = serving.scheduler ? [createTelling(components, () => parts.health.clock.ok)] : []
  measure(environment, parts, inboxAge)
  return {
    context: {
      ...parts,
      catchUp: () => follower.catchUp(),
      questionsRead: forecasting.questionsRead,
      catchUpForecasts: async () => {
        if (!(await forecasting.follower.catchUp())) throw notCurrent()
      },
      nextReleaseAt: () => scheduler.nextRun(),
      promisedReleaseAt: () => (serving.scheduler ? scheduler.nextRun() : undefined),
    },
    loaded: forecasting.follower.looked,
    quiesce: async () => {
      const stopped = [scheduler, follower, looking, listing, naming, flushing, ...telling].map((each) =>
        each.stop(),
      )
      // A long read must not delay the answers under way. Only `close` waits for it.
      void forecasting.follower.stop()
      await Promise.all(stopped)
    },
    close: async () => {
      await Promise.all([
        parts.forecasts.close(),
        parts.registrations.close(),
        parts.rationales.close(),
        flush(),
        parts.health.close(),
      ])
      parts.inbox.close()
      await forecasting.follower.stop()
    },
  }
}

async function flushUsage({ components, parts }: Starting): Promise<void> {
  const { environment, logger } = components
  try {
    await parts.usage.flush()
  } catch (error) {
    const { pending } = parts.usage
    logger.warn({ err: error, environment, pending }, 'could not write down usage; it is tried again')
  }
}

function measureQuestions(environment: Environment, { metrics, current, now }: ApiParts): void {
  const { questions } = current.manifest ?? {}
  if (!questions) return
  for (const state of ['open', 'overdue', 'annulled', 'early'] as const) {
    metrics.questions.set({ environment, state }, questions[state])
  }
  const { oldest_overdue_at: since } = questions
  const seconds = typeof since === 'string' ? (now().getTime() - Date.parse(since)) / 1000 : 0
  metrics.overdueSeconds.set({ environment }, Math.max(0, seconds))
}

function measure(environment: Environment, parts: ApiParts, inboxAge: InboxAge): void {
  const { metrics, forecasts, currentForecasts, current, usage, health } = parts
  // Create the counters at the start, so that the first failure shows as a rise.
  metrics.refreshFailures.inc({ environment }, 0)
  metrics.corrupt.inc({ environment }, 0)
  metrics.onCollect(() => {
    metrics.queued.set({ environment }, forecasts.queued)
    metrics.currentForecasts.set({ environment }, currentForecasts.size)
    metrics.release.set({ environment }, current.manifest?.release ?? 0)
    measureQuestions(environment, parts)
    metrics.inboxAge.set({ environment }, inboxAge.ms / 1000)
    metrics.usagePending.set({ environment }, usage.pending)
    for (const [check, { ok }] of Object.entries(health.checks)) {
      metrics.checks.set({ environment, check }, ok ? 1 : 0)
    }
    const { releaseAgeMs } = health
    if (releaseAgeMs !== undefined) metrics.releaseAge.set({ environment }, releaseAgeMs / 1000)
  })
}
