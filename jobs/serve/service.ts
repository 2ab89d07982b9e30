// Serves the API of every environment in one process, with a scheduler for each environment.
import { readFile } from 'node:fs/promises'
import { addressesBehind } from '../../api/limits/addresses.ts'
import { createListener } from '../../api/http/app.ts'
import type { Counters } from '../../api/limits/counters.ts'
import { countInMemory } from '../../api/limits/memory-counter.ts'
import { countInRedis } from '../../api/limits/redis-counters.ts'
import { Metrics } from '../../api/http/metrics.ts'
import { allRoutes } from '../../api/routes/all.ts'
import { startServer } from '../../api/http/server.ts'
import { beginYoung, holdTickShape } from '../../api/http/v8.ts'
import { ENVIRONMENTS, type Environment } from '../../schemas/values.ts'
import { type Components, SERVICE_VERSION } from '../components/components.ts'
import { type RunningEnvironment, startEnvironment } from './environment-service.ts'

const METHODOLOGY_TEXT = new URL('../../docs/methodology.md', import.meta.url)
/**
 * Longer than the 60 s for which proxies keep a connection: no proxy must send into a connection that is just
 * closing.
 */
const IDLE_MS = 65_000
/**
 * The pause before reading questions. That loads DuckDB, which stops all else for some tens of milliseconds.
 */
const FIRST_CALLS_MS = 100

export interface Service {
  url: string
  /** Resolves once the service has tried to read the questions and the current forecasts. */
  loaded: Promise<unknown>
  /** Accepts no more calls, answers those under way, and resolves once all acknowledged rows are durable. */
  stop(): Promise<void>
}

export interface ServiceOptions {
  scheduler: boolean
  /** Whether other processes may serve on the same port. */
  sharePort?: boolean
  /** Whether pages name the service's own address if PUBLIC_URL is not set. */
  ownAddress?: boolean
  /** How long the node answers its first calls before it reads questions. */
  firstCallsMs?: number
}

export async function startService(
  components: Record<Environment, Components>,
  { scheduler, sharePort = false, ownAddress = false, firstCallsMs = FIRST_CALLS_MS }: ServiceOptions,
): Promise<Service> {
  // Prepare the process, and what both environments share.
  beginYoung()
  await holdTickShape()
  const { settings, logger, newRequestId, monotonicMs } = components.production
  const addresses = addressesBehind(settings.TRUSTED_PROXIES, settings)
  const metrics = new Metrics()
  const quotas = await quotasOf(components.production, metrics)
  let accepting = true
  const running: RunningEnvironment[] = []
  const isSandboxSeeded = () =>
    running.some(({ context }) => context.site.environment === 'sandbox' && context.current.manifest)
  const start = async (environment: Environment) => {
    const serving = {
      metrics,
      quotas,
      scheduler,
      firstCallsMs,
      accepting: () => accepting,
      isSandboxSeeded,
    }
    const started = await startEnvironment(components[environment], serving)
    running.push(started)
    return started.context
  }
  const quiesce = () => Promise.all(running.map((each) => each.quiesce()))

  try {
    // Start both environments, and one server for both.
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
      monotonicMs,
      networksOf: addresses.ofRequest,
      accepting: () => accepting,
      about: contexts.production.site.about,
    }
    const server = await startServer(
      createListener(contexts, shared),
      {
        host: settings.HOST,
        port: settings.PORT,
        sharePort,
        requestTimeoutMs: settings.REQUEST_TIMEOUT_MS,
        idleTimeoutMs: Math.max(IDLE_MS, 2 * settings.COMMIT_TIMEOUT_MS),
        maxConnections: settings.MAX_CONNECTIONS,
        maxConnectionsOfAddress: settings.MAX_CONNECTIONS_OF_ADDRESS,
      },
      addresses.ofConnection,
    )
    if (ownAddress) for (const { site } of Object.values(contexts)) site.publicUrl ??= server.url
    // Tell that the service is up.
    const { store, secrets } = components.production
    const release = contexts.production.current.manifest?.release ?? 0
    logger.info({ url: server.url, store: store.url, release, signed: secrets !== undefined }, 'serving')
    return {
      url: server.url,
      loaded: Promise.all(running.map((each) => each.loaded)),
      stop: async () => {
        accepting = false
        logger.info('stopping: no new connections, answering what is under way')
        await Promise.all([server.close(settings.SHUTDOWN_TIMEOUT_MS), quiesce()])
        await Promise.all(running.map((each) => each.close()))
        await quotas.close()
        logger.info('stopped')
      },
    }
  } catch (error) {
    // Stop the timers of started environments: they would keep a process alive that serves nothing.
    await quiesce()
    await quotas.close()
    throw error
  }
}

/** Returns counters of quotas: in Redis if nodes share one, otherwise in the memory of this process. */
async function quotasOf(components: Components, metrics: Metrics): Promise<Counters> {
  const { REDIS_URL } = components.settings
  if (REDIS_URL === undefined) return countInMemory(components.monotonicMs)
  const quotas = await countInRedis(REDIS_URL, components)
  metrics.onCollect(() => {
    for (const environment of ENVIRONMENTS) {
      metrics.quotaStore.set({ environment }, quotas.isReached() ? 1 : 0)
    }
  })
  return quotas
}
