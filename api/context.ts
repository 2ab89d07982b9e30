// What the API is built of: settings are values, components are passed in, so that tests pass their own.
import type { Idempotency } from '../pipeline/idempotency.ts'
import type { Registry } from '../pipeline/registry.ts'
import type { GroupCommit } from '../pipeline/tables/group.ts'
import type { UsageLog } from '../pipeline/usage.ts'
import type { ForecastRow, AgentRow } from '../schemas/tables.ts'
import type { Callers } from './callers.ts'
import type { History } from './history.ts'
import type { Limits } from './limits.ts'
import type { Metrics } from './metrics.ts'
import type { PublishedReleases } from './published.ts'
import type { QuestionBook } from './questions.ts'

export interface ApiContext {
  registry: Registry
  idempotency: Idempotency
  callers: Callers
  limits: Limits
  usage: Pick<UsageLog, 'count'>
  questions: QuestionBook
  releases: PublishedReleases
  history: History
  forecasts: Pick<GroupCommit, 'queued'> & {
    submit: (row: ForecastRow & Record<string, string | number | Date>) => Promise<void>
  }
  registrations: { submit: (row: AgentRow & Record<string, string | Date | null>) => Promise<void> }
  metrics: Metrics
  now: () => Date
  /** A new version 7 UUID; of two in the same millisecond the later sorts after the earlier. */
  newId: () => string
  /** When the next release is due; undefined where nobody knows. */
  nextReleaseAt: () => Date | undefined
  /** False once the service is shutting down. */
  accepting: () => boolean
}
