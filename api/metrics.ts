// What this process measures, for an operator's Prometheus.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

export class Metrics {
  readonly registry = new Registry()
  readonly requests: Histogram<'method' | 'route' | 'status'>
  readonly commitRows: Histogram<'environment'>
  readonly commitSeconds: Histogram<'environment'>
  readonly queued: Gauge<'environment'>
  readonly release: Gauge<'environment'>
  readonly usagePending: Gauge<'environment'>
  readonly refreshFailures: Counter<'environment'>
  readonly #collectors: (() => void)[] = []

  constructor() {
    const registers = [this.registry]
    const labelNames = ['environment'] as const
    collectDefaultMetrics({ register: this.registry })
    this.requests = new Histogram({
      name: 'fvs_http_request_seconds',
      help: 'Time to answer a request, by route and status',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    })
    this.commitRows = new Histogram({
      name: 'fvs_commit_rows',
      labelNames,
      help: 'Rows written to the inbox in one object',
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
      registers,
    })
    this.commitSeconds = new Histogram({
      name: 'fvs_commit_seconds',
      labelNames,
      help: 'Time to make one inbox object durable',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    })
    this.queued = new Gauge({
      name: 'fvs_commit_queued',
      help: 'Rows that wait to be written',
      labelNames,
      registers,
    })
    this.release = new Gauge({
      name: 'fvs_release',
      help: 'The release that this node serves',
      labelNames,
      registers,
    })
    this.usagePending = new Gauge({
      name: 'fvs_usage_pending',
      help: 'Counted calls that are not durable yet',
      labelNames,
      registers,
    })
    this.refreshFailures = new Counter({
      name: 'fvs_refresh_failures_total',
      help: 'Failed attempts to follow the tables and releases',
      labelNames,
      registers,
    })
  }

  /** Calls `collect` before each reading, to set the gauges. */
  onCollect(collect: () => void): void {
    this.#collectors.push(collect)
  }

  /** In the text format of Prometheus. */
  text(): Promise<string> {
    for (const collect of this.#collectors) collect()
    return this.registry.metrics()
  }
}
