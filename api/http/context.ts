// The parts that the routes of one environment work with: they are passed in, so that tests can pass their
// own.
import type { UsageLog } from '../../pipeline/access/usage.ts'
import type { Check, Checks } from '../../schemas/answers.ts'
import type { Callers } from '../limits/callers.ts'
import type { Limits } from '../limits/limits.ts'
import type { Metrics } from './metrics.ts'
import type { Published } from '../published/published.ts'
import type { Intake } from './intake.ts'

/** The node itself: its callers, its limits and its health. */
export interface Node {
  callers: Callers
  limits: Limits
  usage: Pick<UsageLog, 'count'>
  /** The results of this node's last look at its store. */
  health: { readonly checks: Checks; readonly clock: Check }
  metrics: Metrics
  now: () => Date
  /** False once the service is shutting down. */
  accepting: () => boolean
}

export interface ApiContext extends Intake, Published, Node {}
