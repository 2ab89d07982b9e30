// What several processes measure, as one: sums of what they count, and of each gauge what its `aggregator`
// says.
import { AggregatorRegistry } from 'prom-client'
import type { Measured } from './metrics.ts'

export class SummedMetrics {
  /** What each process that runs measured last. */
  readonly #running = new Map<number, Measured>()
  /**
   * What those that have ended counted, so that no sum ever falls: for Prometheus that would be a restart.
   */
  #ended: Measured = []

  measured(process: number, measured: Measured): void {
    this.#running.set(process, measured)
  }

  /** What it counted since it last measured is lost. */
  async ended(process: number): Promise<void> {
    const last = this.#running.get(process)
    if (!last) return
    this.#running.delete(process)
    const counted = last.filter(({ type }) => isCounted(String(type)))
    this.#ended = await summed([this.#ended, counted]).getMetricsAsJSON()
  }

  /** In the text format of Prometheus. */
  text(): Promise<string> {
    return summed([...this.#running.values(), this.#ended]).metrics()
  }
}

function isCounted(type: string): boolean {
  return type === 'counter' || type === 'histogram'
}

function summed(parts: readonly Measured[]) {
  return AggregatorRegistry.aggregate([...parts])
}
