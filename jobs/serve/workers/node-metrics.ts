// Sums the measurements of all workers of a node and of their primary.
import { setTimeout as pause } from 'node:timers/promises'
import { Metrics } from '../../../api/http/metrics.ts'
import { SummedMetrics } from '../../../api/http/summed-metrics.ts'
import type { WorkerProcess } from './worker-process.ts'

/** A worker that takes longer counts with its last measurements. */
const PATIENCE_MS = 1_000
/** The number of the primary; those of workers begin with 1. */
const PRIMARY = 0

export class NodeMetrics {
  readonly #own = new Metrics()
  readonly #summed = new SummedMetrics()

  /** Returns the sums in the text format of Prometheus. */
  async text(workers: Iterable<WorkerProcess>): Promise<string> {
    const late = new AbortController()
    const patience = pause(PATIENCE_MS, undefined, { signal: late.signal }).catch(() => undefined)
    await Promise.all(
      [...workers].map(async (worker) => {
        const measured = await Promise.race([worker.measure(), patience])
        if (measured) this.#summed.measured(worker.id, measured)
      }),
    )
    late.abort()
    this.#summed.measured(PRIMARY, await this.#own.measured())
    return this.#summed.text()
  }

  ended({ id }: WorkerProcess): Promise<void> {
    return this.#summed.ended(id)
  }
}
