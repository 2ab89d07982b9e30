// Combines the measurements of several processes: it adds up their counts, and combines gauges by their
// `aggregator`.
import { AggregatorRegistry } from 'prom-client'
import type { Measured } from './metrics.ts'

export class SummedMetrics {
  /** The last measurements of each running process. */
  readonly #running = new Map<number, Measured>()
  /**
   * The counts of ended processes. They keep a sum from falling, which Prometheus would take for a restart.
   */
  #ended: Measured = []

  measured(process: number, measured: Measured): void {
    this.#running.set(process, measured)
  }

  /**
   * Keeps the counts of a process that has ended, except those since its last measurement, which are lost.
   */
  async ended(process: number): Promise<void> {
    const last = this.#running.get(process)
    if (!last) return
    this.#running.delete(process)
    const counted = last.filter(({ type }) => isCounted(String(type)))
    this.#ended = await summed([this.#ended, counted]).getMetricsAsJSON()
  }

  /** Returns the combined measurements in the text format of Prometheus. */
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
