// Scores one question straight from METHODOLOGY §2: every sum is computed anew for each interval in which
// nothing changes.
import { type RawForecast, distinctForecasts } from './forecasts.ts'
import { type Fraction, FractionSum, dividedBy, toNumber, wholeUnits } from './fraction.ts'
import { mean, sum } from './rounding.ts'

/** Times are integer milliseconds UTC; 1 = yes, 0 = no. */
export interface PlainQuestion {
  openedAtMs: number
  closesAtMs: number
  resolvedAtMs: number
  outcome: 0 | 1
}

/** One entity on one question, unrounded, with the names of the catalogue of metrics. */
export interface PlainPair {
  entity: string
  forecasts: number
  imported: number
  /** In parts per million. */
  closing_probability: number
  coverage: number
  brier: number
  reference_brier: number
  crowd_brier: number
  log_score: number
  baseline_score: number
  peer_score: number
  voices: number
  contested: boolean
  conviction: number
  updates: number
  moved: number
  toward: number
  /** Null with fewer than three forecasts. */
  flip_flop: number | null
  /** coverage, and coverage · score, in whole 1e-12, rounded from exact fractions. */
  pico: { coverage: bigint; brier: bigint; reference_brier: bigint; crowd_brier: bigint }
}

const CONTEST_VOICES = 5
const PPM = 1_000_000n
const PICO = 10n ** 12n

/** ln q̃ of q = ppm/1e6, rounded to 1e-9 (§7.1). */
function logarithm(ppm: number): number {
  return Math.round(Math.log(Math.min(Math.max(ppm / 1e6, 0.001), 0.999)) * 1e9) / 1e9
}

/** The forecasts that count, in order. Their entities are those that took part. */
export function countedForecasts(question: PlainQuestion, rows: readonly RawForecast[]): RawForecast[] {
  const closeMs = Math.min(question.closesAtMs, question.resolvedAtMs)
  if (closeMs <= question.openedAtMs) return []
  return distinctForecasts(rows).filter(({ atMs }) => atMs < closeMs)
}

interface Standing {
  name: string
  ppm: number
  /** p − o in whole parts per million. */
  error: bigint
  log: number
}

/** The spans of time in which no standing forecast changes, from opening to close. */
function intervalsOf(
  { openedAtMs, closesAtMs, resolvedAtMs, outcome }: PlainQuestion,
  forecasts: readonly RawForecast[],
) {
  const entities = [...new Set(forecasts.map(({ entity }) => entity))]
  const changes = forecasts.map(({ atMs }) => Math.max(atMs, openedAtMs))
  const ends = [openedAtMs, ...changes, Math.min(closesAtMs, resolvedAtMs)]
  const breakpoints = [...new Set(ends)].sort((a, b) => a - b)
  return breakpoints.slice(1).map((toMs, i) => {
    const fromMs = breakpoints[i]!
    const standing = entities.flatMap((name): Standing[] => {
      const latest = forecasts.findLast(({ entity, atMs }) => entity === name && atMs <= fromMs)
      if (latest === undefined) return []
      const { ppm } = latest
      const q = outcome === 1 ? ppm : 1e6 - ppm
      return [{ name, ppm, error: BigInt(ppm) - BigInt(outcome) * PPM, log: logarithm(q) }]
    })
    return { spanMs: toMs - fromMs, standing }
  })
}

/** Every entity that took part. `voices` holds the entities that others are measured against. */
export function scoreQuestionPlainly(
  question: PlainQuestion,
  rows: readonly RawForecast[],
  voices: ReadonlySet<string>,
): PlainPair[] {
  const { openedAtMs, closesAtMs, resolvedAtMs, outcome } = question
  const closeMs = Math.min(closesAtMs, resolvedAtMs)
  const horizonMs = closesAtMs - openedAtMs
  const forecasts = countedForecasts(question, rows)
  const intervals = intervalsOf(question, forecasts)
  const entities = [...new Set(forecasts.map(({ entity }) => entity))]

  return entities.map((entity): PlainPair => {
    const own = forecasts.filter((forecast) => forecast.entity === entity)
    const heldMs = closeMs - Math.max(own[0]!.atMs, openedAtMs)
    // Errors are whole parts per million, so these three are integrals in ms · 1e-12.
    const [brier, reference, crowd] = [new FractionSum(), new FractionSum(), new FractionSum()]
    const integrals = { log: 0, baseline: 0, peer: 0, conviction: 0 }
    for (const { spanMs, standing } of intervals) {
      const mine = standing.find(({ name }) => name === entity)
      if (mine === undefined) continue
      const others = standing.filter(({ name }) => name !== entity && voices.has(name))
      const errors = others.length === 0 ? [mine.error] : others.map(({ error }) => error)
      const p = BigInt(errors.length)
      const span = BigInt(spanMs)
      const total = errors.reduce((added, error) => added + error, 0n)
      brier.add(span * mine.error ** 2n, 1n)
      reference.add(span * errors.reduce((added, error) => added + error ** 2n, 0n), p)
      crowd.add(span * total ** 2n, p ** 2n)
      const n = standing.length
      integrals.log += spanMs * -mine.log
      integrals.baseline += spanMs * 100 * (1 + mine.log / Math.LN2)
      integrals.peer +=
        n === 1 ? 0 : spanMs * 100 * (n / (n - 1)) * (mine.log - mean(standing.map(({ log }) => log)))
      integrals.conviction += spanMs * Math.abs((2 * mine.ppm) / 1e6 - 1)
    }
    const held = (integral: FractionSum) => toNumber(dividedBy(picoOf(integral), heldMs))
    const weighted = (integral: FractionSum) => wholeUnits(dividedBy(picoOf(integral), horizonMs), PICO)
    const coverage = { over: BigInt(heldMs), under: BigInt(horizonMs) }
    const others = entities.filter((name) => name !== entity && voices.has(name)).length
    return {
      entity,
      forecasts: own.length,
      imported: own.filter(({ imported }) => imported).length,
      closing_probability: own.at(-1)!.ppm,
      coverage: toNumber(coverage),
      brier: held(brier),
      reference_brier: held(reference),
      crowd_brier: held(crowd),
      log_score: integrals.log / heldMs,
      baseline_score: integrals.baseline / horizonMs,
      peer_score: integrals.peer / horizonMs,
      voices: others,
      contested: others >= CONTEST_VOICES,
      conviction: integrals.conviction / heldMs,
      ...movesOf(own, outcome),
      pico: {
        coverage: wholeUnits(coverage, PICO),
        brier: weighted(brier),
        reference_brier: weighted(reference),
        crowd_brier: weighted(crowd),
      },
    }
  })
}

function picoOf(integral: FractionSum): Fraction {
  const { over, under } = integral.total()
  return { over, under: under * PICO }
}

/** How an entity's forecasts moved, in parts per million but for `flip_flop` (Griffiths et al. 2019). */
function movesOf(own: readonly RawForecast[], outcome: 0 | 1) {
  const moves = own.slice(1).map(({ ppm }, i) => ppm - own[i]!.ppm)
  const moved = sum(moves.map(Math.abs))
  const range = Math.max(...own.map(({ ppm }) => ppm)) - Math.min(...own.map(({ ppm }) => ppm))
  return {
    updates: moves.length,
    moved,
    toward: sum(moves.filter((move) => (outcome === 1 ? move > 0 : move < 0)).map(Math.abs)),
    flip_flop: own.length < 3 ? null : (moved - range) / 1e6 / (own.length - 2),
  }
}
