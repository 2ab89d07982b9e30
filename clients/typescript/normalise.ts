// Makes the probabilities of an event such that all of them can be right.
import type { EventKind } from './api.ts'

/**
 * Returns the probabilities of an event's questions as its kind allows. Of an `exclusive` event they are
 * divided by their sum, of an `at_most_one` event only if that is above 1. Of an `ordered` event, whose
 * questions are named from the lowest threshold to the highest, neighbours that rise are replaced by their
 * mean.
 */
export function normalise(
  probabilities: Readonly<Record<string, number>>,
  kind: EventKind,
): Record<string, number> {
  const entries = Object.entries(probabilities)
  const values = entries.map(([, value]) => value)
  const named = (changed: readonly number[]) =>
    Object.fromEntries(entries.map(([id], index) => [id, changed[index]!]))
  if (kind === 'independent') return named(values)
  if (kind === 'ordered') return named(falling(values))
  const sum = values.reduce((total, value) => total + value, 0)
  if (kind === 'at_most_one' && sum <= 1) return named(values)
  return named(values.map((value) => (sum === 0 ? 1 / values.length : value / sum)))
}

/** The values nearest to these that never rise (pool adjacent violators). */
function falling(values: readonly number[]): number[] {
  const pools: { sum: number; count: number }[] = []
  for (const value of values) {
    let pool = { sum: value, count: 1 }
    for (
      let last = pools.at(-1);
      last && last.sum / last.count < pool.sum / pool.count;
      last = pools.at(-1)
    ) {
      pools.pop()
      pool = { sum: last.sum + pool.sum, count: last.count + pool.count }
    }
    pools.push(pool)
  }
  return pools.flatMap(({ sum, count }) => Array.from({ length: count }, () => sum / count))
}
