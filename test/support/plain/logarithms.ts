// The scores by logarithms of one entity on one question: log, baseline and peer score (METHODOLOGY §2).
import { mean, sum } from './rounding.ts'

/** A span of time, and everybody's forecasts in it. */
interface Span {
  spanMs: number
  standing: readonly { entity: string; ppm: number }[]
}

/** ln q̃ of q = ppm/1e6, rounded to 1e-9 (§7.1). */
function logarithm(ppm: number): number {
  return Math.round(Math.log(Math.min(Math.max(ppm / 1e6, 0.001), 0.999)) * 1e9) / 1e9
}

/** `spans` are those in which the entity has a forecast standing. */
export function logarithmicScores(
  spans: readonly Span[],
  entity: string,
  outcome: 0 | 1,
  horizonMs: number,
): { log_score: number; baseline_score: number; peer_score: number } {
  const held = spans.map(({ spanMs, standing }) => {
    const logs = standing.map(({ ppm }) => logarithm(outcome === 1 ? ppm : 1e6 - ppm))
    const own = logs[standing.findIndex((other) => other.entity === entity)]!
    const n = standing.length
    const peer = n === 1 ? 0 : 100 * (n / (n - 1)) * (own - mean(logs))
    return { spanMs, own, peer }
  })
  const integral = (of: (span: (typeof held)[number]) => number): number =>
    sum(held.map((span) => span.spanMs * of(span)))
  return {
    log_score: integral(({ own }) => -own) / sum(held.map(({ spanMs }) => spanMs)),
    baseline_score: integral(({ own }) => 100 * (1 + own / Math.LN2)) / horizonMs,
    peer_score: integral(({ peer }) => peer) / horizonMs,
  }
}
