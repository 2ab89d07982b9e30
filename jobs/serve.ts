// `fvs serve`: the API, what it follows in the background, and the scheduler beside it.
import { readFile } from 'node:fs/promises'
import { allRoutes, createApp } from '../api/app.ts'
import { Callers } from '../api/callers.ts'
import type { ApiContext } from '../api/context.ts'
import { History } from '../api/history.ts'
import { noLimits } from '../api/limits.ts'
import { Metrics } from '../api/metrics.ts'
import { PublishedReleases } from '../api/published.ts'
import { QuestionBook } from '../api/questions.ts'
import { type RunningServer, startServer } from '../api/server.ts'
import { GroupCommit } from '../pipeline/tables/group.ts'
import type { TableName } from '../schemas/tables.ts'
import { type Components, SERVICE_VERSION } from './components.ts'
import { Scheduler } from './scheduler.ts'

const METHODOLOGY = new URL('../docs/methodology.md', import.meta.url)
/** Longer than the 60 s for which proxies keep a connection, so that none sends into one that is just closing. */
const IDLE_MS = 65_000

export interface Service {
  url: string
  /** Stops accepting, answers what is under way, and leaves nothing behind that was acknowledged and not durable. */
  stop(): Promise<void>
}

export async function startService(
  components: Components,
  options: { scheduler: boolean },
): Promise<Service> {
  const { settings, store, local, registry, secrets, logger, now, newId } = components
  const metrics = new Metrics()
  const groupCommit = (table: TableName) =>
    new GroupCommit(
      table,
      { queueLimit: settings.COMMIT_QUEUE_LIMIT, timeoutMs: settings.COMMIT_TIMEOUT_MS },
      {
        store,
        newId,
        monotonicMs: () => performance.now(),
        onCommit: (rows, durationMs) => {
          metrics.commitRows.observe(rows)
          metrics.commitSeconds.observe(durationMs / 1000)
        },
      },
    )
  const forecasts = groupCommit('forecasts')
  const registrations = groupCommit('agents')
  const questions = new QuestionBook({ store, local, openDatabase: components.openDatabase })
  const releases = new PublishedReleases(store, secrets, settings.SHARD_CACHE_BYTES)
  const history = new History(store, settings.SHARD_CACHE_BYTES)
  const scheduler = new Scheduler(settings.RELEASE_SCHEDULE, options.scheduler, logger)
  let accepting = true

  const context: ApiContext = {
    secrets,
    registry,
    callers: new Callers(registry, settings.KEY_CACHE_MS),
    limits: noLimits,
    questions,
    releases,
    history,
    forecasts,
    registrations,
    metrics,
    logger,
    now,
    newId,
    nextReleaseAt: () => scheduler.nextRun(),
    accepting: () => accepting,
  }
  let server: RunningServer
  try {
    await Promise.all([questions.refresh(), releases.refresh(), history.refresh()])
    const routes = allRoutes({ version: SERVICE_VERSION, methodology: await readFile(METHODOLOGY) })
    server = await startServer(createApp(context, routes), {
      host: settings.HOST,
      port: settings.PORT,
      requestTimeoutMs: settings.REQUEST_TIMEOUT_MS,
      idleTimeoutMs: Math.max(IDLE_MS, 2 * settings.COMMIT_TIMEOUT_MS),
      maxConnections: settings.MAX_CONNECTIONS,
    })
  } catch (error) {
    // Its timer would keep a process alive that serves nothing.
    await scheduler.stop()
    throw error
  }
  let listedFor = releases.current?.release
  const follower = follow(settings.REFRESH_MS, async () => {
    try {
      await questions.refresh()
      await releases.refresh()
      const { current } = releases
      // A release may be of any day, and its snapshot comes after it.
      if (current && (current.release !== listedFor || !history.has(current.as_of.slice(0, 10)))) {
        await history.refresh()
        listedFor = current.release
      }
    } catch (error) {
      metrics.refreshFailures.inc()
      logger.warn({ err: error }, 'could not follow the store; serving what is known')
    }
  })
  logger.info({ url: server.url, store: store.url, release: releases.current?.release ?? 0 }, 'serving')

  return {
    url: server.url,
    stop: async () => {
      accepting = false
      logger.info('stopping: no new connections, answering what is under way')
      await Promise.all([server.close(settings.SHUTDOWN_TIMEOUT_MS), scheduler.stop(), follower.stop()])
      await Promise.all([forecasts.close(), registrations.close()])
      logger.info('stopped')
    },
  }
}

/** Runs `step` again and again, `pauseMs` after the last has ended. */
function follow(pauseMs: number, step: () => Promise<void>): { stop(): Promise<void> } {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let stopped = false
  const again = () => {
    timer = setTimeout(() => {
      running = step().finally(() => {
        if (!stopped) again()
      })
    }, pauseMs)
  }
  again()
  return {
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
