// Serves the API of every environment in one process, which may be one of several workers, with a scheduler
// for each environment.
import { readFile } from 'node:fs/promises'
import { addressesBehind } from '../../api/limits/addresses.ts'
import { createApp } from '../../api/http/app.ts'
import type { CallCounters } from '../../api/limits/counters.ts'
import { countInMemory } from '../../api/limits/memory-counter.ts'
import { countInRedis } from '../../api/limits/redis-counters.ts'
import { Metrics } from '../../api/http/metrics.ts'
import { allRoutes } from '../../api/routes/all.ts'
import { answerFirst as answeredFirst } from '../../api/http/fast/answer-first.ts'
import { type AnswerFirst, startServer } from '../../api/http/server.ts'
import { beginYoung, holdTickShape } from '../../api/http/v8.ts'
import { ENVIRONMENTS, type Environment } from '../../schemas/values.ts'
import { type Components, SERVICE_VERSION } from '../components/components.ts'
import { type RunningEnvironment, startEnvironment } from './environment-service.ts'
import type { News } from './workers/messages.ts'
import type { PrimaryLink } from './workers/primary-link.ts'

const METHODOLOGY_TEXT = new URL('../../docs/methodology.md', import.meta.url)
/**
 * Longer than the 60 s for which proxies keep a connection, so that no proxy sends into a connection that is
 * just closing.
 */
const IDLE_MS = 65_000
/** Reading questions loads DuckDB, which stops all else for some tens of milliseconds. */
const FIRST_CALLS_MS = 100

export interface Service {
  url: string
  /** The release of production at the start; 0 if there was none. */
  release: number
  /**
   * Accepts no more calls, answers those under way, and resolves once everything that was acknowledged is
   * durable.
   */
  stop(): Promise<void>
}

/** A service of this process. */
interface OwnService extends Service {
  /** Resolves once the service has tried to read the questions and the current forecasts. */
  loaded: Promise<unknown>
}

export interface ServiceOptions {
  scheduler: boolean
  /** Whether releases are made on schedule, as `scheduler` unless a primary makes them. */
  releases?: boolean
  /** Whether pages name the address at which the service listens if PUBLIC_URL names none. */
  ownAddress?: boolean
  /** How long the node answers its first calls before it reads questions. */
  firstCallsMs?: number
  /** A worker's link to its primary. */
  link?: PrimaryLink
  /**
   * Replaces the answers before Koa in a test that compares or counts. It returns undefined to put nothing
   * before Koa.
   */
  answerFirst?: (prepared: AnswerFirst) => AnswerFirst | undefined
}

export async function startService(
  components: Record<Environment, Components>,
  {
    scheduler,
    releases = scheduler,
    ownAddress = false,
    firstCallsMs = FIRST_CALLS_MS,
    link,
    answerFirst = (prepared) => prepared,
  }: ServiceOptions,
): Promise<OwnService> {
  beginYoung()
  await holdTickShape()
  const { settings, logger, newRequestId } = components.production
  const addresses = addressesBehind(settings.TRUSTED_PROXIES, settings)
  const metrics = new Metrics(link && (() => link.measurements()))
  const counters = await countersOf(components.production, metrics, link)
  let accepting = true
  const running: RunningEnvironment[] = []
  const isSandboxSeeded = () =>
    running.some(({ context }) => context.site.environment === 'sandbox' && context.releases.current)
  const start = async (environment: Environment) => {
    const tell = link && ((news: News) => link.tell(news))
    const latest = link && (() => link.latest())
    const serving = {
      metrics,
      counters,
      tell,
      latest,
      scheduler,
      releases,
      firstCallsMs,
      accepting: () => accepting,
      isSandboxSeeded,
    }
    const started = await startEnvironment(components[environment], serving)
    running.push(started)
    return started.context
  }
  link?.serve(
    (news) => running.find(({ context }) => context.site.environment === news.environment)?.learn(news),
    () => metrics.measured(),
  )
  const quiesce = () => Promise.all(running.map((each) => each.quiesce()))

  try {
    const contexts = { production: await start('production'), sandbox: await start('sandbox') }
    const routes = allRoutes({
      version: SERVICE_VERSION,
      methodology: components.production.methodology,
      methodologyText: await readFile(METHODOLOGY_TEXT),
    })
    const shared = {
      routes,
      logger,
      metrics,
      newRequestId,
      networksOf: addresses.ofRequest,
      accepting: () => accepting,
      about: contexts.production.site.about,
    }
    const server = await startServer(
      createApp(contexts, shared),
      {
        host: settings.HOST,
        port: settings.PORT,
        requestTimeoutMs: settings.REQUEST_TIMEOUT_MS,
        idleTimeoutMs: Math.max(IDLE_MS, 2 * settings.COMMIT_TIMEOUT_MS),
        maxConnections: ofEachWorker(settings.MAX_CONNECTIONS, link),
        maxConnectionsOfAddress: ofEachWorker(settings.MAX_CONNECTIONS_OF_ADDRESS, link),
      },
      addresses.ofConnection,
      answerFirst(answeredFirst(contexts, shared)),
    )
    if (ownAddress) for (const { site } of Object.values(contexts)) site.publicUrl ??= server.url
    const { store, secrets } = components.production
    const release = contexts.production.releases.current?.release ?? 0
    // With workers, the primary says so once for all of them.
    const level = link ? 'debug' : 'info'
    logger[level]({ url: server.url, store: store.url, release, signed: secrets !== undefined }, 'serving')
    return {
      url: server.url,
      release,
      loaded: Promise.all(running.map((each) => each.loaded)),
      stop: async () => {
        accepting = false
        logger.info('stopping: no new connections, answering what is under way')
        await Promise.all([server.close(settings.SHUTDOWN_TIMEOUT_MS), quiesce()])
        await Promise.all(running.map((each) => each.close()))
        await counters.quotas.close()
        logger.info('stopped')
      },
    }
  } catch (error) {
    // The timers of a started environment would keep alive a process that serves nothing.
    await quiesce()
    await counters.quotas.close()
    throw error
  }
}

/** Returns the share of one worker. The primary hands out connections by turns. */
function ofEachWorker(most: number, link: PrimaryLink | undefined): number {
  return Math.ceil(most / (link?.workers ?? 1))
}

/**
 * Returns counters that count quotas in Redis if nodes share one, and everything else on this machine, in one
 * process for all workers.
 */
async function countersOf(
  { settings, logger }: Components,
  metrics: Metrics,
  link: PrimaryLink | undefined,
): Promise<CallCounters> {
  const own = countInMemory()
  const here = link?.counters ?? { quotas: own, reads: own, attempts: own }
  if (settings.REDIS_URL === undefined) return here
  const quotas = await countInRedis(settings.REDIS_URL, logger)
  metrics.onCollect(() => {
    for (const environment of ENVIRONMENTS) {
      metrics.quotaStore.set({ environment }, quotas.isReached() ? 1 : 0)
    }
  })
  return { ...here, quotas }
}
