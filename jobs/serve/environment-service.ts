// One environment of a serving process: the context of its calls, and its work in the background.
import { notCurrent } from '../../api/current-forecasts/current-forecasts.ts'
import type { NodeContext } from '../../api/http/context.ts'
import { assertEnvironment } from '../../pipeline/release/state.ts'
import type { Environment } from '../../schemas/values.ts'
import type { Components } from '../components/components.ts'
import { type ApiParts, type Serving, buildApiParts } from './api-parts.ts'
import { type Starting, followReleases, followForecasts, followStore, readLog } from './following.ts'
import { Deliverer } from '../../pipeline/webhooks/deliver.ts'
import { TIMEOUT_MS, lookUpAll } from '../../pipeline/webhooks/send.ts'
import { Webhooks } from '../../pipeline/webhooks/webhooks.ts'
import { FeedWriter } from '../../pipeline/events/feed.ts'
import { repeat } from './repeat.ts'
import { Scheduler } from './scheduler.ts'
import { type News, receivedForecast } from './workers/messages.ts'

export interface RunningEnvironment {
  context: NodeContext
  /** Resolves once the questions and the current forecasts have been read, or reading them has failed. */
  loaded: Promise<void>
  /** Takes in news from another worker. */
  learn(news: News): void
  /** Stops the work in the background. */
  quiesce(): Promise<void>
  /** Makes everything durable that was accepted. Must be called only when no call is under way. */
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
  await assertEnvironment(components)
  const { environment, settings, own, logger } = components
  const parts = buildApiParts(components, serving)
  const starting = { components, serving, parts }
  await followStore(parts)
  await readLog(starting)
  // The scheduler is the first work in the background and the last step that may fail, so nothing keeps
  // running after its error.
  const scheduler = new Scheduler(environment, own.RELEASE_SCHEDULE, serving.scheduler, logger)
  const follower = followReleases(starting)
  const forecasting = followForecasts(starting)
  const flush = () => flushUsage(starting)
  const looking = repeat(settings.PROBE_MS, () => parts.health.look())
  const flushing = repeat(settings.USAGE_FLUSH_MS, flush)
  const telling = tellEvents(starting)
  const delivering = deliverEvents(starting)
  measure(environment, parts)
  return {
    context: {
      ...parts,
      catchUp: () => follower.catchUp(),
      isFollowing: () => !follower.isResting,
      questionsRead: forecasting.questionsRead,
      catchUpForecasts: async () => {
        await serving.latest?.()
        if (!(await forecasting.follower.catchUp())) throw notCurrent()
      },
      nextReleaseAt: () => scheduler.nextRun(),
    },
    loaded: forecasting.follower.looked,
    learn: (news) => {
      learn(news, parts)
    },
    quiesce: async () => {
      const stopped = [
        scheduler.stop(),
        follower.stop(),
        looking.stop(),
        flushing.stop(),
        telling.stop(),
        delivering.stop(),
      ]
      // A long read must not delay the answers under way. Only `close` waits for it.
      void forecasting.follower.stop()
      await Promise.all(stopped)
    },
    close: async () => {
      await Promise.all([parts.forecasts.close(), parts.registrations.close(), flush(), parts.health.close()])
      parts.inbox?.close()
      await forecasting.follower.stop()
    },
  }
}

/** The process that makes releases also writes the feed of events, unless its clock is wrong. */
function tellEvents({ components, serving, parts }: Starting): { stop: () => Promise<void> } {
  if (!serving.scheduler) return { stop: () => Promise.resolve() }
  const { environment, settings, logger } = components
  const writer = new FeedWriter(components)
  const stopping = new AbortController()
  const repeated = repeat(settings.REFRESH_MS, async () => {
    try {
      if (parts.health.clock.ok) await writer.write(stopping.signal)
    } catch (error) {
      logger.warn({ err: error, environment }, 'could not write the feed of events; it is tried again')
    }
  })
  return {
    stop: () => {
      stopping.abort()
      return repeated.stop()
    },
  }
}

/** The same process delivers the events to webhooks. */
function deliverEvents({ components, serving, parts }: Starting): { stop: () => Promise<void> } {
  if (!serving.scheduler) return { stop: () => Promise.resolve() }
  const { environment, settings, store, now, logger, log } = components
  const deliverer = new Deliverer({
    webhooks: new Webhooks(store),
    events: parts.events,
    now,
    log,
    isPrivateAllowed: settings.WEBHOOKS_PRIVATE,
    lookUp: lookUpAll,
    timeoutMs: TIMEOUT_MS,
  })
  const repeated = repeat(settings.REFRESH_MS, async () => {
    try {
      await deliverer.begin()
    } catch (error) {
      logger.warn({ err: error, environment }, 'could not read the webhooks; it is tried again')
    }
  })
  return {
    stop: async () => {
      await Promise.all([repeated.stop(), deliverer.stop()])
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

function learn(news: News, { currentForecasts }: ApiParts): void {
  currentForecasts.wrote(news.path, news.forecasts.map(receivedForecast))
}

function measureQuestions(environment: Environment, { metrics, releases, now }: ApiParts): void {
  const { questions } = releases.current ?? {}
  if (!questions) return
  for (const state of ['open', 'overdue', 'annulled', 'early'] as const) {
    metrics.questions.set({ environment, state }, questions[state])
  }
  const { oldest_overdue_at: since } = questions
  const seconds = typeof since === 'string' ? (now().getTime() - Date.parse(since)) / 1000 : 0
  metrics.overdueSeconds.set({ environment }, Math.max(0, seconds))
}

function measure(environment: Environment, parts: ApiParts): void {
  const { metrics, forecasts, currentForecasts, releases, usage, health } = parts
  // The counters exist from the start, so that the first failure shows as a rise.
  metrics.refreshFailures.inc({ environment }, 0)
  metrics.corrupt.inc({ environment }, 0)
  metrics.onCollect(() => {
    metrics.queued.set({ environment }, forecasts.queued)
    metrics.currentForecasts.set({ environment }, currentForecasts.size)
    metrics.release.set({ environment }, releases.current?.release ?? 0)
    measureQuestions(environment, parts)
    metrics.usagePending.set({ environment }, usage.pending)
    for (const [check, { ok }] of Object.entries(health.checks)) {
      metrics.checks.set({ environment, check }, ok ? 1 : 0)
    }
    const { releaseAgeMs } = health
    if (releaseAgeMs !== undefined) metrics.releaseAge.set({ environment }, releaseAgeMs / 1000)
  })
}
