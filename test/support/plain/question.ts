// Scores one question straight from METHODOLOGY §2: every sum is computed anew for each span in which nothing
// changes.
import { type Fraction, dividedBy, toNumber, wholeUnits } from './fraction.ts'
import { bigSum, sum } from './rounding.ts'
import { type HeldSpan, errorIntegrals } from './errors.ts'
import type { RawForecast } from './forecasts.ts'
import { logarithmicScores } from './logarithms.ts'
import { type PlainMoves, movesOf } from './moves.ts'
import { type PlainQuestion, rowsBeforeClose, spansOf } from './standing.ts'
import { type Measures, isMeasuredBy } from './voices.ts'

/** coverage · score, in whole 1e-12, rounded from exact fractions. */
export interface Pico {
  brier: bigint
  reference_brier: bigint
  crowd_brier: bigint
}

/** One entity on one question, unrounded, with the names of the catalogue of metrics. */
export interface PlainPair extends PlainMoves {
  entity: string
  settled: boolean
  settled_at_ms: number
  witnessed: boolean
  contested: boolean
  /** In milliseconds. */
  held: number
  coverage: number
  brier: number
  reference_brier: number
  crowd_brier: number
  log_score: number
  baseline_score: number
  peer_score: number
  voices: number
  /** The forecast that stands until c, in parts per million; null if it was withdrawn. */
  closing: number | null
  conviction: number
  forecasts: number
  imported: number
  /** In whole 1e-12. */
  pico: Pico & { coverage: bigint }
  /** The same if the question had ended the other way. */
  other_pico: Pico
}

const CONTEST_VOICES = 5
const PPM = 10n ** 6n
const PICO = 10n ** 12n

/** Every entity that took part. */
export function scoreQuestionPlainly(
  question: PlainQuestion,
  rows: readonly RawForecast[],
  measures: Measures,
  asOfMs: number,
): PlainPair[] {
  const { openedAtMs, closesAtMs, resolvedAtMs, outcome } = question
  const horizonMs = closesAtMs - openedAtMs
  const settled = closesAtMs <= asOfMs
  const counted = rowsBeforeClose(question, rows)
  const spans = spansOf(question, counted)
  const entities = [...new Set(spans.flatMap(({ standing }) => standing.map(({ entity }) => entity)))]
  return entities.map((entity): PlainPair => {
    const own = counted.filter((row) => row.entity === entity)
    const forecasts = own.filter(({ ppm }) => ppm !== null)
    const spansHeld = spans.filter(({ standing }) => standing.some((other) => other.entity === entity))
    const held = spansHeld.map(({ spanMs, standing }): HeldSpan => ({
      spanMs,
      own: standing.find((other) => other.entity === entity)!.ppm,
      others: standing.filter((other) => isMeasuredBy(measures, entity, other.entity)).map(({ ppm }) => ppm),
    }))
    const heldMs = sum(held.map(({ spanMs }) => spanMs))
    const integrals = errorIntegrals(held, outcome)
    const otherIntegrals = errorIntegrals(held, outcome === 1 ? 0 : 1)
    const whileHeld = (integral: Fraction) => toNumber(dividedBy(integral, heldMs))
    const weighted = (integral: Fraction) => wholeUnits(dividedBy(integral, horizonMs), PICO)
    const coverage = { over: BigInt(heldMs), under: BigInt(horizonMs) }
    const voices = entities.filter((other) => isMeasuredBy(measures, entity, other)).length
    const certainty = bigSum(
      held.map((span) => BigInt(span.spanMs) * BigInt(Math.abs(2 * span.own - Number(PPM)))),
    )
    const startedInTime = 4 * (closesAtMs - spansHeld[0]!.fromMs) >= horizonMs
    return {
      entity,
      settled,
      settled_at_ms: Math.max(closesAtMs, resolvedAtMs),
      witnessed: own.every(({ witnessed }) => witnessed),
      contested: settled && voices >= CONTEST_VOICES && startedInTime,
      held: heldMs,
      coverage: toNumber(coverage),
      brier: whileHeld(integrals.brier),
      reference_brier: whileHeld(integrals.reference_brier),
      crowd_brier: whileHeld(integrals.crowd_brier),
      ...logarithmicScores(spansHeld, entity, outcome, horizonMs),
      voices,
      closing: own.at(-1)!.ppm,
      conviction: toNumber({ over: certainty, under: BigInt(heldMs) * PPM }),
      forecasts: forecasts.length,
      imported: forecasts.filter(({ imported }) => imported).length,
      ...movesOf(
        forecasts.map(({ ppm }) => ppm!),
        outcome,
      ),
      pico: { coverage: wholeUnits(coverage, PICO), ...picoOf(weighted, integrals) },
      other_pico: picoOf(weighted, otherIntegrals),
    }
  })
}

function picoOf(weighted: (integral: Fraction) => bigint, integrals: Record<keyof Pico, Fraction>): Pico {
  return {
    brier: weighted(integrals.brier),
    reference_brier: weighted(integrals.reference_brier),
    crowd_brier: weighted(integrals.crowd_brier),
  }
}
