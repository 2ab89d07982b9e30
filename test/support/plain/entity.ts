// What is published of one entity, apart from its standing among others (METHODOLOGY §§3 and 4).
import { type Close, curvePlainly, decomposePlainly, expectedCalibrationErrorPlainly } from './calibration.ts'
import { inByteOrder } from './order.ts'
import { bigSum, mean, published, sum } from './rounding.ts'
import { type Gain, type Yardstick, gainOver } from './judged.ts'
import type { Pair } from './pair.ts'
import { alphaOf, intervalOf, skillOf } from './skill.ts'
import type { Attempt } from './voices.ts'

const RECENT_UNITS = 100
const WINDOW = 25

export const orNull = (value: number | null): number | null =>
  value === null || !Number.isFinite(value) ? null : published(value)

const bySettlement = (a: Pair, b: Pair): number =>
  a.asked.settledAtMs - b.asked.settledAtMs || inByteOrder(a.asked.id, b.asked.id)

export interface Declaration {
  atMs: number
  model: string
}

/** `pairs` are all scored pairs of the entity; `attempt` is null of a forecaster. */
export function recordOf(
  pairs: readonly Pair[],
  kind: 'agent' | 'forecaster',
  attempt: Attempt | null,
  declarations: readonly Declaration[],
) {
  const settled = pairs.filter(({ asked }) => asked.isSettled).toSorted(bySettlement)
  const contested = settled.filter(({ isContested }) => isContested)
  const alpha = alphaOf(attempt?.attempt ?? null)
  const over = (yardstick: Yardstick) => skillOf(gainsOver(contested, yardstick))
  const [average, median, market] = [over('K'), over('M'), over('Q')]
  const priced = contested.filter(({ isPriced }) => isPriced)
  const ifPriced = <T>(value: T): T | null => (priced.length === 0 ? null : value)
  const part = (of: readonly Pair[]) => {
    const skill = skillOf(gainsOver(of, 'K'))
    return { questions: skill.units, skill: orNull(skill.skill), skill_interval: intervalOf(skill, alpha) }
  }
  const declaration = declarations.at(-1)
  const counted = settled.flatMap(({ forecasts }) => forecasts.map(({ atMs }) => atMs))
  return {
    skill: orNull(average.skill),
    median_skill: orNull(median.skill),
    market_skill: ifPriced(orNull(market.skill)),
    skill_interval: intervalOf(average, alpha),
    median_skill_interval: intervalOf(median, alpha),
    market_skill_interval: ifPriced(intervalOf(market, alpha)),
    evidence: published(average.evidence),
    variances: { K: average.variances, M: median.variances, Q: ifPriced(market.variances) },
    attempt: attempt?.attempt ?? null,
    alpha,
    owner_agents: attempt?.ownerAgents ?? null,
    contested_questions: average.units,
    clusters: average.clusters,
    priced_questions: new Set(priced.map(({ asked }) => asked.unit)).size,
    priced_clusters: new Set(priced.map(({ asked }) => asked.cluster)).size,
    resolved_questions: new Set(settled.map(({ asked }) => asked.unit)).size,
    pending_questions: pairs.length - settled.length,
    forecasts: counted.length,
    last_forecast_at_ms: counted.length === 0 ? null : Math.max(...counted),
    coverage: orNull(mean(contested.map(({ judgedMs, asked }) => judgedMs / asked.lifeMs))),
    witnessed_share: orNull(mean(settled.map(({ isWitnessed }) => Number(isWitnessed)))),
    ...meansOf(settled),
    declaration: declaration ? { model: declaration.model, since_ms: declaration.atMs } : null,
    since_declaration:
      kind === 'forecaster'
        ? null
        : part(contested.filter(({ forecasts }) => forecasts[0]!.atMs >= (declaration?.atMs ?? -Infinity))),
    recent: part(lastUnits(contested)),
    calibration: calibrationOf(settled),
    skill_stability: stabilityOf(gainsOver(contested, 'K')),
    lean: orNull(mean(contested.flatMap(({ lean }) => (lean === null ? [] : [lean])))),
    conviction: orNull(mean(settled.map(({ conviction }) => conviction))),
    ...movesOf(settled),
  }
}

const gainsOver = (pairs: readonly Pair[], yardstick: Yardstick): Gain[] =>
  pairs.map((pair) => gainOver(pair.asked, pair, yardstick))

/** The questions of a unit weigh as much as one question, those of a short cover less. */
function meansOf(settled: readonly Pair[]) {
  const weighted = (value: (pair: Pair) => number, weight: (pair: Pair) => number) =>
    orNull(sum(settled.map((pair) => weight(pair) * value(pair))) / sum(settled.map(weight)))
  const inUnit = ({ asked }: Pair) => 1 / asked.unitQuestions
  const whileHeld = ({ coverage, asked }: Pair) => coverage / asked.unitQuestions
  return {
    brier: weighted(({ brier }) => brier, whileHeld),
    log_score: weighted(({ log_score }) => log_score, whileHeld),
    baseline_score: weighted(({ baseline_score }) => baseline_score, inUnit),
    peer_score: weighted(({ peer_score }) => peer_score, inUnit),
  }
}

/** The pairs of the units that were settled last, of those settled together the last by name. */
function lastUnits(contested: readonly Pair[]): Pair[] {
  const units = [...Map.groupBy(contested, ({ asked }) => asked.unit)].map(([name, members]) => ({
    name,
    members,
    settledAtMs: Math.max(...members.map(({ asked }) => asked.settledAtMs)),
  }))
  const inOrder = units.sort((a, b) => a.settledAtMs - b.settledAtMs || inByteOrder(a.name, b.name))
  return inOrder.slice(-RECENT_UNITS).flatMap(({ members }) => members)
}

function calibrationOf(settled: readonly Pair[]) {
  const closes = settled.flatMap(({ closing, asked }): Close[] =>
    closing === null ? [] : [{ ppm: closing, outcome: asked.outcome }],
  )
  const decomposed = decomposePlainly(closes)
  if (decomposed === null) return null
  const { miscalibration, discrimination, uncertainty } = decomposed.calibration
  return {
    questions: closes.length,
    miscalibration: published(miscalibration),
    discrimination: published(discrimination),
    uncertainty: published(uncertainty),
    expected_calibration_error: published(expectedCalibrationErrorPlainly(closes)!),
    corp: decomposed.corp.map(({ lower, upper, count, frequency }) => ({
      least: lower,
      most: upper,
      count,
      observed: published(frequency),
    })),
    calibration_curve: curvePlainly(closes).map((bin) => ({
      count: bin.count,
      mean: orNull(bin.mean_probability),
      observed: orNull(bin.observed_frequency),
      lower: orNull(bin.wilson_lower),
      upper: orNull(bin.wilson_upper),
    })),
  }
}

/** `gains` are in the order in which their questions were settled. */
function stabilityOf(gains: readonly Gain[]): number | null {
  if (gains.length < 2 * WINDOW) return null
  const windows = Array.from({ length: gains.length - WINDOW + 1 }, (_, from) =>
    bigSum(gains.slice(from, from + WINDOW).map(({ gain }) => gain)),
  )
  return published(mean(windows.map((gained) => Number(gained > 0n))))
}

/** The probability mass that was moved toward the outcome, of all that was moved. */
function movesOf(settled: readonly Pair[]) {
  const moves = settled.flatMap(({ forecasts, asked }) =>
    forecasts.slice(1).map(({ ppm }, i) => {
      const move = ppm! - forecasts[i]!.ppm!
      return { mass: Math.abs(move), isToward: asked.outcome === 1 ? move > 0 : move < 0 }
    }),
  )
  const toward = moves.filter(({ isToward }) => isToward)
  const massOf = (of: typeof moves) => sum(of.map(({ mass }) => mass))
  return { updates: moves.length, responsiveness: orNull(massOf(toward) / massOf(moves)) }
}
