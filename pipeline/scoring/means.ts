// The mean scores of an entity over its settled questions (METHODOLOGY §3).
import { exactSum } from './exact-sum.ts'
import type { EntityPairs } from './pairs.ts'
import { PICO, ratio, roundHalfEven } from './round.ts'

/**
 * Means over questions, each with a weight of 1/k, where k is the number of questions of its unit. Sums are
 * exact for each k, and are added up in the order of k.
 */
export function meansOf({ rowCount, columns }: EntityPairs) {
  const byUnit = new Map<number, number[]>()
  for (let row = 0; row < rowCount; row++) {
    const k = columns.unit_questions[row]!
    const rows = byUnit.get(k)
    if (rows) rows.push(row)
    else byUnit.set(k, [row])
  }
  const groups = [...byUnit]
    .sort(([a], [b]) => a - b)
    .map(([k, rows]) => ({ k, rows: Int32Array.from(rows) }))
  const weighted = (valueOf: (row: number) => number) =>
    groups.reduce((sum, { k, rows }) => sum + exactSum(Float64Array.from(rows, valueOf)) / k, 0)
  const whileHeld = (score: ArrayLike<number>) => (row: number) =>
    roundHalfEven((columns.coverage[row]! / PICO) * score[row]!)
  const coverage = weighted((row) => columns.coverage[row]!)
  const units = groups.reduce((sum, { k, rows }) => sum + rows.length / k, 0)
  return {
    brier: ratio(weighted(whileHeld(columns.brier)), coverage),
    log_score: ratio(weighted(whileHeld(columns.log_score)), coverage),
    baseline_score: ratio(weighted((row) => columns.baseline_score[row]!) / PICO, units),
    peer_score: ratio(weighted((row) => columns.peer_score[row]!) / PICO, units),
  }
}
