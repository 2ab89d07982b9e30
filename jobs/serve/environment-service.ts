// One environment of a serving process: what its calls work on, what it follows in its store, and its scheduler.
import { randomBytes } from 'node:crypto'
import type { ApiContext } from '../../api/context.ts'
import { Callers } from '../../api/limits/callers.ts'
import type { Counters } from '../../api/limits/counters.ts'
import { History } from '../../api/history.ts'
import { Limits } from '../../api/limits/limits.ts'
import type { Metrics } from '../../api/metrics.ts'
import { monthOf } from '../../api/limits/monthly-calls.ts'
import { CurrentRelease } from '../../api/current-release.ts'
import { QuestionBook } from '../../api/questions.ts'
import { Idempotency } from '../../pipeline/access/idempotency.ts'
import { assertEnvironment } from '../../pipeline/release/environment-guard.ts'
import { GroupCommit } from '../../pipeline/tables/group-commit.ts'
import { UsageLog, readMonthlyUsage } from '../../pipeline/access/usage.ts'
import type { ScoredTable } from '../../schemas/tables.ts'
import type { Components } from '../components.ts'
import { repeat } from './repeat.ts'
import { Scheduler } from './scheduler.ts'

export interface ServingComponents {
  metrics: Metrics
  counters: Counters
  /** Whether this process makes releases, too. */
  scheduler: boolean
  accepting: () => boolean
}

export interface RunningEnvironment {
  context: ApiContext
  /** Stops what goes on in the background. */
  quiesce(): Promise<void>
  /** Makes durable what was taken, once no call is under way. */
  close(): Promise<void>
}

/** @throws ServiceError `conflict` for the store of the other environment, of which nothing may be served as this one's. */
export async function startEnvironment(
  components: Components,
  serving: ServingComponents,
): Promise<RunningEnvironment> {
  const { environment, settings, own, store, local, registry, secrets, logger, now, newId } = components
  const { metrics, counters, accepting } = serving
  await assertEnvironment(components)
  const groupCommit = (table: ScoredTable) =>
    new GroupCommit(
      table,
      { queueLimit: settings.COMMIT_QUEUE_LIMIT, timeoutMs: settings.COMMIT_TIMEOUT_MS },
      {
        store,
        newId,
        monotonicMs: () => performance.now(),
        onCommit: (rows, durationMs) => {
          metrics.commitRows.observe({ environment }, rows)
          metrics.commitSeconds.observe({ environment }, durationMs / 1000)
        },
      },
    )
  const forecasts = groupCommit('forecasts')
  const registrations = groupCommit('agents')
  const questions = new QuestionBook({ store, local, openDatabase: components.openDatabase })
  const releases = new CurrentRelease(store, secrets, settings.SHARD_CACHE_BYTES)
  const history = new History(store, settings.SHARD_CACHE_BYTES)
  const limits = new Limits({ environment, settings: own, counters, now })
  const usage = new UsageLog({ store, newId, now })
  const idempotency = new Idempotency({
    store,
    newId,
    now,
    randomBytes,
    // A registration writes three objects and waits for a group commit, which may have to wait for another.
    leaseMs: 4 * settings.STORE_TIMEOUT_MS + 2 * settings.COMMIT_TIMEOUT_MS,
  })

  await Promise.all([questions.refresh(), releases.refresh(), history.refresh()])
  if (!counters.shared) {
    const month = monthOf(now())
    await limits.monthlyCalls.restore(month, await readMonthlyUsage(components, month))
  }
  const scheduler = new Scheduler(environment, own.RELEASE_SCHEDULE, serving.scheduler, logger)

  const following = repeat(settings.REFRESH_MS, async () => {
    try {
      await questions.refresh()
      await releases.refresh()
      const { current } = releases
      // The snapshot of a day comes after its first release.
      if (current && !history.has(current.as_of.slice(0, 10))) await history.refresh()
    } catch (error) {
      metrics.refreshFailures.inc({ environment })
      logger.warn({ err: error, environment }, 'could not follow the store; serving what is known')
    }
  })
  const flush = async () => {
    try {
      await usage.flush()
    } catch (error) {
      const { pending } = usage
      logger.warn({ err: error, environment, pending }, 'could not write down usage; it is tried again')
    }
  }
  const flushing = repeat(settings.USAGE_FLUSH_MS, flush)
  // There from the start, so that the first failure shows as a rise.
  metrics.refreshFailures.inc({ environment }, 0)
  metrics.onCollect(() => {
    metrics.queued.set({ environment }, forecasts.queued)
    metrics.release.set({ environment }, releases.current?.release ?? 0)
    metrics.usagePending.set({ environment }, usage.pending)
  })

  return {
    context: {
      registry,
      idempotency,
      callers: new Callers(registry, settings.KEY_CACHE_MS, now),
      limits,
      usage,
      questions,
      releases,
      history,
      forecasts,
      registrations,
      metrics,
      now,
      newId,
      nextReleaseAt: () => scheduler.nextRun(),
      accepting,
    },
    quiesce: async () => {
      await Promise.all([scheduler.stop(), following.stop(), flushing.stop()])
    },
    close: async () => {
      await Promise.all([forecasts.close(), registrations.close(), flush()])
    },
  }
}
