// The parts for the calls of one environment. Each group of parts is built in a file of its own.
import type { Metrics } from '../../api/http/metrics.ts'
import { Callers } from '../../api/limits/callers.ts'
import type { Counters } from '../../api/limits/counters.ts'
import { Limits } from '../../api/limits/limits.ts'
import { UsageLog } from '../../pipeline/access/usage.ts'
import type { Components } from '../components/components.ts'
import { Health } from './health.ts'
import { intakeParts } from './intake-parts.ts'
import { publishedParts } from './published-parts.ts'

/** The parts that all environments of a serving process share. */
export interface Serving {
  metrics: Metrics
  /** The counters of quotas. */
  quotas: Counters
  /** Whether this process also makes releases. */
  scheduler: boolean
  /** The pause before the first reading of questions, for answering the first calls. */
  firstCallsMs: number
  /** False once the process is shutting down. */
  accepting: () => boolean
  /** Whether the served sandbox has a release. */
  isSandboxSeeded: () => boolean
}

export type ApiParts = ReturnType<typeof buildApiParts>

export function buildApiParts(components: Components, serving: Serving) {
  const published = publishedParts(components, serving.isSandboxSeeded)
  return {
    ...intakeParts(components, serving.metrics, published.current),
    ...published,
    ...nodeParts(components, serving),
  }
}

/** Returns the node itself: its callers, its limits and its health. */
function nodeParts(components: Components, { metrics, quotas, accepting }: Serving) {
  const { environment, settings, own, store, registry, clockAheadMs, logger } = components
  const { now, newId, monotonicMs } = components
  const timeoutMs = settings.COMMIT_TIMEOUT_MS
  return {
    callers: new Callers(registry, settings.KEY_CACHE_MS, now),
    limits: new Limits({ environment, settings: own, quotas, now, monotonicMs }),
    usage: new UsageLog({ store, newId, now }),
    health: new Health({ environment, store, now, logger, id: newId(), timeoutMs, clockAheadMs }),
    metrics,
    now,
    accepting,
  }
}
