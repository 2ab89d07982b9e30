// The measurements of this process, for an operator's Prometheus.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

const labelNames = ['environment'] as const
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Returns a registry with the measurements of Node itself. */
function newRegistry(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return registry
}

export class Metrics {
  readonly registry = newRegistry()
  readonly #registers = [this.registry]
  readonly #collectors: (() => void)[] = []

  readonly requests = new Histogram({
    name: 'fvs_http_request_seconds',
    help: 'Time to answer a request, by route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [...SECONDS, 10],
    registers: this.#registers,
  })
  readonly commitRows = new Histogram({
    name: 'fvs_commit_rows',
    labelNames,
    help: 'Rows written to the inbox in one object',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
    registers: this.#registers,
  })
  readonly commitSeconds = new Histogram({
    name: 'fvs_commit_seconds',
    labelNames,
    help: 'Time to make one inbox object durable',
    buckets: SECONDS,
    registers: this.#registers,
  })
  readonly queued = this.#gauge('fvs_commit_queued', 'Rows that wait to be written')
  readonly currentForecasts = this.#gauge(
    'fvs_current_forecasts',
    'Forecasts in memory that stand on open questions',
  )
  readonly release = this.#gauge('fvs_release', 'The release that this node serves')
  readonly releaseAge = this.#gauge('fvs_release_age_seconds', 'How long ago the as_of of that release is')
  readonly questions = this.#gauge('fvs_questions', 'Questions by their state as of that release', 'state')
  readonly overdueSeconds = this.#gauge(
    'fvs_question_overdue_seconds',
    'How long ago the question closed that has been without an outcome for longest; 0 if none is overdue',
  )
  readonly checks = this.#gauge(
    'fvs_check_ok',
    'What /readyz answers for each check: 1 if it is well, 0 otherwise',
    'check',
  )
  readonly inboxAge = this.#gauge(
    'fvs_inbox_oldest_seconds',
    'How long the oldest forecast in the inbox has waited for a release to take it in; 0 if none waits',
  )
  readonly usagePending = this.#gauge('fvs_usage_pending', 'Counted calls that are not durable yet')
  readonly quotaStore = this.#gauge(
    'fvs_quota_store_ok',
    'Where nodes count calls together in Redis: 1 if it answers, 0 if this node counts by itself',
  )
  readonly refreshFailures = this.#counter(
    'fvs_refresh_failures_total',
    'Failed attempts to follow the tables and releases',
  )
  readonly corrupt = this.#counter('fvs_corrupt_total', 'Damaged objects that were met, once for each time')

  #counter(name: string, help: string) {
    return new Counter({ name, help, labelNames, registers: this.#registers })
  }

  /** `label` is a label besides the environment. */
  #gauge<Label extends string = never>(name: string, help: string, ...label: Label[]) {
    return new Gauge({ name, help, labelNames: [...labelNames, ...label], registers: this.#registers })
  }

  /** Calls `collect` before each reading, to set the gauges. */
  onCollect(collect: () => void): void {
    this.#collectors.push(collect)
  }

  /** Returns the measurements in the text format of Prometheus. */
  text(): Promise<string> {
    for (const collect of this.#collectors) collect()
    return this.registry.metrics()
  }
}
