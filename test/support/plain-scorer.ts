// A small, slow scorer written straight from METHODOLOGY §2 to §5, in natural units and without rounding, to compare
// the fast scorer with. Also converts the raw rows of a question to the columns that the fast scorer takes.
import type { Decomposition } from '../../pipeline/scoring/calibration.ts'
import type { EntityScores } from '../../pipeline/scoring/entity.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import type { ForecastColumns, ResolvedQuestion } from '../../pipeline/scoring/question.ts'

/** A forecast of one question as it was recorded. Rows are in no order and may repeat. */
export interface RawForecast {
  forecastId: string
  entity: string
  atMs: number
  ppm: number
  recordedAtMs: number
  imported: boolean
}

/** The metrics of one entity on one question, unrounded, with the names of the catalogue of metrics. */
export interface PlainPair {
  entity: string
  forecasts: number
  imported: number
  closing_probability: number
  coverage: number
  brier: number
  reference_brier: number
  log_score: number
  baseline_score: number
  peer_score: number
  conviction: number
  updates: number
  moved: number
  toward: number
  /** Null with fewer than three forecasts. */
  flip_flop: number | null
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
const mean = (values: readonly number[]): number => sum(values) / values.length

/** One row for each forecast_id, the one recorded first, in the order (time, forecast_id). */
function distinctForecasts(rows: readonly RawForecast[]): RawForecast[] {
  return rows
    .filter((row) =>
      rows.every((other) => other.forecastId !== row.forecastId || other.recordedAtMs >= row.recordedAtMs),
    )
    .sort((a, b) => a.atMs - b.atMs || (a.forecastId < b.forecastId ? -1 : 1))
}

/** The forecasts as columns for the fast scorer. An entity's number is its index in `entities`. */
export function columnsOf(rows: readonly RawForecast[], entities: readonly string[]): ForecastColumns {
  const forecasts = distinctForecasts(rows)
  return {
    count: forecasts.length,
    entity: Int32Array.from(forecasts, ({ entity }) => entities.indexOf(entity)),
    atMs: Float64Array.from(forecasts, ({ atMs }) => atMs),
    ppm: Int32Array.from(forecasts, ({ ppm }) => ppm),
    imported: Int32Array.from(forecasts, ({ imported }) => (imported ? 1 : 0)),
  }
}

/** ln q̃, rounded to 1e-9 as METHODOLOGY §6.1 demands. */
function logarithm(q: number): number {
  return Math.round(Math.log(Math.min(Math.max(q, 0.001), 0.999)) * 1e9) / 1e9
}

/** METHODOLOGY §2, with every sum computed anew for each interval in which nothing changes. */
export function scoreQuestionPlainly(question: ResolvedQuestion, rows: readonly RawForecast[]): PlainPair[] {
  const { openedAtMs, closesAtMs, resolvedAtMs, outcome } = question
  const closeMs = Math.min(closesAtMs, resolvedAtMs)
  const horizonMs = closesAtMs - openedAtMs
  if (closeMs <= openedAtMs) return []
  const forecasts = distinctForecasts(rows).filter(({ atMs }) => atMs < closeMs)
  const entities = [...new Set(forecasts.map(({ entity }) => entity))]
  const changes = forecasts.map(({ atMs }) => Math.max(atMs, openedAtMs))
  const breakpoints = [...new Set([openedAtMs, ...changes, closeMs])].sort((a, b) => a - b)
  const intervals = breakpoints.slice(1).map((toMs, i) => {
    const fromMs = breakpoints[i]!
    const standing = entities.flatMap((name) => {
      const latest = forecasts.findLast(({ entity, atMs }) => entity === name && atMs <= fromMs)
      if (latest === undefined) return []
      const p = latest.ppm / 1e6
      const q = outcome === 1 ? p : 1 - p
      return [{ name, p, squaredError: (p - outcome) ** 2, log: logarithm(q) }]
    })
    return { spanMs: toMs - fromMs, standing }
  })

  return entities.map((entity): PlainPair => {
    const own = forecasts.filter((forecast) => forecast.entity === entity)
    const heldMs = closeMs - Math.max(own[0]!.atMs, openedAtMs)
    const integrals = { brier: 0, reference: 0, log: 0, baseline: 0, peer: 0, conviction: 0 }
    for (const { spanMs, standing } of intervals) {
      const mine = standing.find(({ name }) => name === entity)
      if (mine === undefined) continue
      const n = standing.length
      const others = standing.filter((other) => other !== mine)
      const meanLog = mean(standing.map(({ log }) => log))
      integrals.brier += spanMs * mine.squaredError
      integrals.reference += (spanMs * (sum(others.map(({ squaredError }) => squaredError)) + 0.25)) / n
      integrals.log += spanMs * -mine.log
      integrals.baseline += spanMs * 100 * (1 + mine.log / Math.LN2)
      integrals.peer += n === 1 ? 0 : spanMs * 100 * (n / (n - 1)) * (mine.log - meanLog)
      integrals.conviction += spanMs * Math.abs(2 * mine.p - 1)
    }
    const moves = own.slice(1).map(({ ppm }, i) => ppm - own[i]!.ppm)
    const moved = sum(moves.map(Math.abs))
    const range = Math.max(...own.map(({ ppm }) => ppm)) - Math.min(...own.map(({ ppm }) => ppm))
    return {
      entity,
      forecasts: own.length,
      imported: own.filter(({ imported }) => imported).length,
      closing_probability: own.at(-1)!.ppm,
      coverage: heldMs / horizonMs,
      brier: integrals.brier / heldMs,
      reference_brier: integrals.reference / heldMs,
      log_score: integrals.log / heldMs,
      baseline_score: integrals.baseline / horizonMs,
      peer_score: integrals.peer / horizonMs,
      conviction: integrals.conviction / heldMs,
      updates: moves.length,
      moved,
      toward: sum(moves.filter((move) => (outcome === 1 ? move > 0 : move < 0)).map(Math.abs)),
      flip_flop: own.length < 3 ? null : (moved - range) / 1e6 / (own.length - 2),
    }
  })
}

/** One question of an entity. */
export interface PlainQuestion {
  questionId: string
  resolvedAtMs: number
  outcome: 0 | 1
  pair: PlainPair
}

/** METHODOLOGY §3 to §5 for one entity. Its questions may be in any order. */
export function scoreEntityPlainly(given: readonly PlainQuestion[]): EntityScores {
  const questions = given.toSorted(
    (a, b) => a.resolvedAtMs - b.resolvedAtMs || (a.questionId < b.questionId ? -1 : 1),
  )
  const pairs = questions.map(({ pair }) => pair)
  const n = pairs.length
  const orNull = (value: number): number | null => (Number.isFinite(value) ? value : null)
  const total = (of: (pair: PlainPair) => number): number => sum(pairs.map(of))
  const coverage_sum = total(({ coverage }) => coverage)

  const xs = pairs.map(({ coverage, reference_brier, brier }) => coverage * (reference_brier - brier))
  const ys = pairs.map(({ coverage, reference_brier }) => coverage * reference_brier)
  const skill = sum(xs) / (sum(ys) + 10 * 0.25)
  const squares = sum(xs.map((x, i) => (x - skill * ys[i]!) ** 2))
  const margin = 1.959964 * Math.sqrt(((n / (n - 1)) * squares) / (sum(ys) + 2.5) ** 2)

  const windows: { x: number; y: number }[] = []
  for (let end = 25; n >= 50 && end <= n; end++) {
    windows.push({ x: sum(xs.slice(end - 25, end)), y: sum(ys.slice(end - 25, end)) })
  }
  const ratios = windows.map(({ x, y }) => x / y)

  const closes = questions.map(({ pair, outcome }) => ({ p: pair.closing_probability / 1e6, outcome }))
  const leaned = closes.map(({ p, outcome }) => (p === 0.5 ? 0.5 : p > 0.5 === (outcome === 1) ? 1 : 0))
  const flipFlops = pairs.flatMap(({ flip_flop }) => flip_flop ?? [])
  const curve = curvePlainly(closes)
  return {
    resolved_questions: n,
    forecasts: total(({ forecasts }) => forecasts),
    eligible: n >= 25,
    imported_share: orNull(total(({ imported }) => imported) / total(({ forecasts }) => forecasts)),
    coverage_sum,
    brier: orNull(total(({ coverage, brier }) => coverage * brier) / coverage_sum),
    log_score: orNull(total(({ coverage, log_score }) => coverage * log_score) / coverage_sum),
    baseline_score: orNull(mean(pairs.map(({ baseline_score }) => baseline_score))),
    peer_score: orNull(mean(pairs.map(({ peer_score }) => peer_score))),
    skill: n === 0 ? null : skill,
    skill_interval: n < 2 ? null : { lower: skill - margin, upper: skill + margin, level: 0.95 },
    calibration: decomposePlainly(closes),
    calibration_curve: curve,
    expected_calibration_error: orNull(
      sum(
        curve.map(
          ({ count, observed_frequency, mean_probability }) =>
            (count / n) * Math.abs((observed_frequency ?? 0) - (mean_probability ?? 0)),
        ),
      ),
    ),
    // A sum that differs from 0 only by the rounding of doubles is 0.
    skill_stability: orNull(windows.filter(({ x }) => x > 1e-11).length / windows.length),
    skill_deviation: orNull(Math.sqrt(mean(ratios.map((ratio) => (ratio - mean(ratios)) ** 2)))),
    windows: windows.length,
    conviction: orNull(mean(pairs.map(({ conviction }) => conviction))),
    conviction_gap: orNull(mean(closes.map(({ p }) => Math.max(p, 1 - p))) - mean(leaned)),
    responsiveness: orNull(total(({ toward }) => toward) / total(({ moved }) => moved)),
    updates: total(({ updates }) => updates),
    updates_per_question: orNull(mean(pairs.map(({ updates }) => updates))),
    flip_flop: orNull(mean(flipFlops)),
  }
}

interface Close {
  p: number
  outcome: number
}

/** CORP, with the isotonic fit by its max-min formula: the maximum over starts of the minimum mean over ends. */
function decomposePlainly(closes: readonly Close[]): Decomposition | null {
  if (closes.length === 0) return null
  const values = [...new Set(closes.map(({ p }) => p))].sort((a, b) => a - b)
  const meanOutcome = (low: number, high: number): number =>
    mean(closes.filter(({ p }) => p >= low && p <= high).map(({ outcome }) => outcome))
  const recalibrated = new Map(
    values.map((value) => {
      const starts = values.filter((start) => start <= value)
      const ends = values.filter((end) => end >= value)
      return [
        value,
        Math.max(...starts.map((low) => Math.min(...ends.map((high) => meanOutcome(low, high))))),
      ]
    }),
  )
  const meanBrier = (forecast: (p: number) => number): number =>
    mean(closes.map(({ p, outcome }) => (forecast(p) - outcome) ** 2))
  const brier = meanBrier((p) => p)
  const recalibratedBrier = meanBrier((p) => recalibrated.get(p)!)
  const uncertainty = meanBrier(() => meanOutcome(0, 1))
  return {
    brier,
    miscalibration: brier - recalibratedBrier,
    discrimination: uncertainty - recalibratedBrier,
    uncertainty,
  }
}

function curvePlainly(closes: readonly Close[]): EntityScores['calibration_curve'] {
  return Array.from({ length: 10 }, (_, bin) => {
    const members = closes.filter(({ p }) => p >= bin / 10 && (p < (bin + 1) / 10 || bin === 9))
    const range = { lower: bin / 10, upper: (bin + 1) / 10, count: members.length }
    if (members.length === 0) {
      return {
        ...range,
        mean_probability: null,
        observed_frequency: null,
        wilson_lower: null,
        wilson_upper: null,
      }
    }
    const observed = mean(members.map(({ outcome }) => outcome))
    // Wilson's bounds are the two roots π of (observed − π)² = z²·π·(1 − π)/count.
    const z2n = METHODOLOGY.parameters.interval_z ** 2 / members.length
    const [a, b, c] = [1 + z2n, -(2 * observed + z2n), observed ** 2]
    const root = Math.sqrt(b * b - 4 * a * c)
    return {
      ...range,
      mean_probability: mean(members.map(({ p }) => p)),
      observed_frequency: observed,
      wilson_lower: (-b - root) / (2 * a),
      wilson_upper: (-b + root) / (2 * a),
    }
  })
}
