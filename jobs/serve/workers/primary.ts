// The process that keeps the workers of `fvs serve --workers`. It makes releases on schedule, tells what
// happens and counts calls, but answers none.
import { Limits } from '../../../api/limits/limits.ts'
import { CounterTable } from '../../../api/limits/counter-table.ts'
import { ENVIRONMENTS, type Environment } from '../../../schemas/values.ts'
import type { Components } from '../../components/components.ts'
import { MOST_APART_MS } from '../../../pipeline/store/clock.ts'
import { restoreCalls } from '../restored-calls.ts'
import { Scheduler } from '../scheduler.ts'
import type { Service } from '../service.ts'
import { tell } from '../telling.ts'
import { Workers } from './workers.ts'

/** @throws whatever keeps a worker from starting. */
export async function startWorkers(
  components: Record<Environment, Components>,
  options: { scheduler: boolean; workers: number },
): Promise<Service> {
  const { settings, logger, store, secrets } = components.production
  const counters = new CounterTable()
  if (settings.REDIS_URL === undefined) {
    for (const environment of ENVIRONMENTS) await restore(components[environment], counters)
  }
  const schedulers = ENVIRONMENTS.map((environment) => {
    const { RELEASE_SCHEDULE } = components[environment].own
    return new Scheduler(environment, RELEASE_SCHEDULE, options.scheduler, logger)
  })
  const telling = options.scheduler
    ? ENVIRONMENTS.map((environment) => tell(components[environment], () => isRight(components[environment])))
    : []
  const quiesce = () => Promise.all([...schedulers, ...telling].map((each) => each.stop()))
  const workers = new Workers(options.workers, { logger, counters, releases: options.scheduler })
  try {
    const { url, release } = await workers.started()
    const signed = secrets !== undefined
    logger.info({ url, store: store.url, release, signed, workers: options.workers }, 'serving')
    return {
      url,
      release,
      stop: async () => {
        logger.info('stopping: no new connections, answering what is under way')
        await Promise.all([workers.stop(), quiesce()])
        logger.info('stopped')
      },
    }
  } catch (error) {
    await quiesce()
    throw error
  }
}

/** Whether the clock was about that of the store when the store was opened. */
function isRight({ clockAheadMs = 0 }: Components): boolean {
  return Math.abs(clockAheadMs) <= MOST_APART_MS
}

/** Restores the calls of this month from before this process started. */
async function restore(components: Components, table: CounterTable): Promise<void> {
  const { environment, own, now } = components
  const counters = { quotas: table, reads: table, attempts: table }
  await restoreCalls(components, new Limits({ environment, settings: own, counters, now }))
}
