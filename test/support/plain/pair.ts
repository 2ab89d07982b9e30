// One entity on one question (METHODOLOGY §2).
import type { RawForecast } from './forecasts.ts'
import { logarithmicScores } from './logarithms.ts'
import { sum } from './rounding.ts'
import type { Asked } from './asked.ts'
import { type Held, type Judged, judge } from './judged.ts'
import { type Span, countedRows } from './spans.ts'
import type { Voices } from './voices.ts'

export interface Pair extends Judged {
  entity: string
  asked: Asked
  coverage: number
  brier: number
  log_score: number
  baseline_score: number
  peer_score: number
  /** The mean of |2p − 1|. */
  conviction: number
  isWitnessed: boolean
  isContested: boolean
  /** The forecasts that count, in order. */
  forecasts: RawForecast[]
  /** In ppm; null if none stands until c. */
  closing: number | null
}

/** Every entity that has a forecast standing at some instant. `rows` are those before c, in order. */
export function pairsOf(
  asked: Asked,
  rows: readonly RawForecast[],
  spans: readonly Span[],
  voices: Voices,
): Pair[] {
  const entities = [...new Set(spans.flatMap(({ standing }) => [...standing.keys()]))]
  return entities.map((entity): Pair => {
    const leftOut = new Set(voices.leftOut(entity))
    const held = spans.flatMap((span): Held[] => {
      const own = span.standing.get(entity)
      if (own === undefined) return []
      const heard = [...span.standing].filter(([id]) => voices.of.has(id))
      const others = heard.filter(([id]) => !leftOut.has(id)).map(([, ppm]) => ppm)
      return [{ span, own, against: { others, voices: heard.map(([, ppm]) => ppm) } }]
    })
    const heldMs = sum(held.map(({ span }) => span.spanMs))
    const whileHeld = (value: (ppm: number) => number) =>
      sum(held.map(({ span, own }) => span.spanMs * value(own))) / heldMs
    const own = rows.filter((row) => row.entity === entity)
    const judged = judge(asked, held)
    return {
      ...judged,
      entity,
      asked,
      coverage: heldMs / asked.lifeMs,
      brier: whileHeld((ppm) => (ppm / 1e6 - asked.outcome) ** 2),
      ...logarithmicScores(
        held.map(({ span }) => ({
          ...span,
          standing: [...span.standing].map(([id, ppm]) => ({ entity: id, ppm })),
        })),
        entity,
        asked.outcome,
        asked.lifeMs,
      ),
      conviction: whileHeld((ppm) => Math.abs(2 * ppm - 1e6) / 1e6),
      isWitnessed: own.every(({ witnessed }) => witnessed),
      isContested: asked.isSettled && judged.judgedMs > 0,
      forecasts: countedRows(asked, own),
      closing: spans.at(-1)?.standing.get(entity) ?? null,
    }
  })
}
