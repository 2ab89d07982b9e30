// Scores one entity over its questions, from exact sums and from its questions in order (METHODOLOGY §3 to §5).
import {
  type CalibrationBin,
  type Decomposition,
  calibrationCurve,
  decompose,
  expectedCalibrationError,
} from './calibration.ts'
import { PPM } from './logarithm.ts'
import type { Methodology } from './methodology.ts'
import { fromPico } from './round.ts'

/** Exact sums over an entity's questions. Scores are integers of 1e-12, products of two of them of 1e-24. */
export interface EntitySums {
  questions: number
  forecasts: number
  imported: number
  coverage: bigint
  weightedBrier: bigint
  weightedReference: bigint
  weightedLog: bigint
  baselineScore: bigint
  peerScore: bigint
  /** Σx², Σxy and Σy² with x = coverage·(reference_brier − brier) and y = coverage·reference_brier. */
  xx: bigint
  xy: bigint
  yy: bigint
  conviction: bigint
  updates: number
  movedPpm: bigint
  towardPpm: bigint
  flipFlop: bigint
  flipFlopQuestions: number
}

/** An entity's questions in the order (resolved_at, question_id), as columns. */
export interface EntityQuestions {
  closingPpm: readonly number[]
  outcome: readonly number[]
  /** coverage · brier and coverage · reference_brier, integers of 1e-12. */
  weightedBrier: readonly number[]
  weightedReference: readonly number[]
}

export interface SkillInterval {
  lower: number
  upper: number
}

export interface EntityScores {
  questions: number
  forecasts: number
  eligible: boolean
  /** 0..1; null, like every score below, where there is nothing to average. */
  importedShare: number | null
  coverageSum: number
  /** Coverage-weighted mean, 0..1, lower is better. */
  brier: number | null
  /** Coverage-weighted mean in nats, 0..6.9078, lower is better. */
  logScore: number | null
  /** Means per question, higher is better. */
  baselineScore: number | null
  peerScore: number | null
  /** Shrunk Brier skill score, at most 1, higher is better; 0 = no better than its peers. */
  skill: number | null
  skillInterval: SkillInterval | null
  calibration: Decomposition | null
  calibrationCurve: CalibrationBin[]
  expectedCalibrationError: number | null
  skillStability: number | null
  skillDeviation: number | null
  windows: number
  conviction: number | null
  convictionGap: number | null
  responsiveness: number | null
  updates: number
  updatesPerQuestion: number | null
  flipFlop: number | null
}

const NO_SUMS: EntitySums = {
  questions: 0,
  forecasts: 0,
  imported: 0,
  coverage: 0n,
  weightedBrier: 0n,
  weightedReference: 0n,
  weightedLog: 0n,
  baselineScore: 0n,
  peerScore: 0n,
  xx: 0n,
  xy: 0n,
  yy: 0n,
  conviction: 0n,
  updates: 0,
  movedPpm: 0n,
  towardPpm: 0n,
  flipFlop: 0n,
  flipFlopQuestions: 0,
}
const NO_QUESTIONS: EntityQuestions = {
  closingPpm: [],
  outcome: [],
  weightedBrier: [],
  weightedReference: [],
}

/** Everything the method says of one entity, unrounded. Without sums: of one that took part in nothing. */
export function scoreEntity(
  methodology: Methodology,
  sums: EntitySums = NO_SUMS,
  questions: EntityQuestions = NO_QUESTIONS,
): EntityScores {
  const { parameters } = methodology
  const n = sums.questions
  const coverage = fromPico(sums.coverage)
  const closing = { ppm: questions.closingPpm, outcome: questions.outcome }
  const curve = calibrationCurve(closing, parameters.calibration_bins, parameters.interval_z)
  const ratio = (part: number, whole: number) => (whole === 0 ? null : part / whole)
  const moved = Number(sums.movedPpm)
  return {
    questions: n,
    forecasts: sums.forecasts,
    eligible: n >= parameters.eligible_questions,
    importedShare: ratio(sums.imported, sums.forecasts),
    coverageSum: coverage,
    brier: ratio(fromPico(sums.weightedBrier), coverage),
    logScore: ratio(fromPico(sums.weightedLog), coverage),
    baselineScore: ratio(fromPico(sums.baselineScore), n),
    peerScore: ratio(fromPico(sums.peerScore), n),
    ...skillOf(methodology, sums),
    calibration: decompose(closing),
    calibrationCurve: curve,
    expectedCalibrationError: expectedCalibrationError(curve),
    ...stabilityOf(methodology, questions),
    conviction: ratio(fromPico(sums.conviction), n),
    convictionGap: convictionGap(questions),
    responsiveness: ratio(Number(sums.towardPpm), moved),
    updates: sums.updates,
    updatesPerQuestion: ratio(sums.updates, n),
    flipFlop: ratio(fromPico(sums.flipFlop), sums.flipFlopQuestions),
  }
}

/**
 * skill = Σx / (Σy + 10·0.25) and skill ± z·SE, SE² = n/(n−1) · Σ(x − skill·y)² / (Σy + 2.5)²: the
 * linearised variance of a ratio, with the prior in the denominator alone.
 */
function skillOf(
  { parameters }: Methodology,
  sums: EntitySums,
): { skill: number | null; skillInterval: SkillInterval | null } {
  const n = sums.questions
  if (n === 0) return { skill: null, skillInterval: null }
  const prior = parameters.shrinkage_questions * parameters.house_brier
  const denominator = fromPico(sums.weightedReference) + prior
  const skill = fromPico(sums.weightedReference - sums.weightedBrier) / denominator
  if (n < 2) return { skill, skillInterval: null }
  const xx = Number(sums.xx) / 1e24
  const xy = Number(sums.xy) / 1e24
  const yy = Number(sums.yy) / 1e24
  const residuals = Math.max(0, xx - 2 * skill * xy + skill * skill * yy)
  const error = Math.sqrt((n / (n - 1)) * residuals) / denominator
  const margin = parameters.interval_z * error
  return { skill, skillInterval: { lower: skill - margin, upper: skill + margin } }
}

/**
 * Slides a window of 25 questions by one question at a time: the share of windows with Σx > 0, and the
 * standard deviation (over all windows) of Σx/Σy. Null with fewer than 50 questions.
 */
function stabilityOf(
  { parameters }: Methodology,
  { weightedBrier, weightedReference }: EntityQuestions,
): {
  skillStability: number | null
  skillDeviation: number | null
  windows: number
} {
  const n = weightedBrier.length
  if (n < parameters.stability_questions) return { skillStability: null, skillDeviation: null, windows: 0 }
  const width = parameters.stability_window
  const ratios: number[] = []
  let ahead = 0
  let x = 0
  let y = 0
  for (let i = 0; i < n; i++) {
    x += weightedReference[i]! - weightedBrier[i]!
    y += weightedReference[i]!
    if (i >= width) {
      x -= weightedReference[i - width]! - weightedBrier[i - width]!
      y -= weightedReference[i - width]!
    }
    if (i >= width - 1) {
      if (x > 0) ahead += 1
      ratios.push(y === 0 ? 0 : x / y)
    }
  }
  const windows = ratios.length
  const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / windows
  const variance = ratios.reduce((sum, ratio) => sum + (ratio - mean) * (ratio - mean), 0) / windows
  return { skillStability: ahead / windows, skillDeviation: Math.sqrt(variance), windows }
}

/** Mean of max(p, 1 − p) at the close − share of closes that leaned the right way; positive = overconfident. */
function convictionGap({ closingPpm, outcome }: EntityQuestions): number | null {
  const n = closingPpm.length
  if (n === 0) return null
  let certainty = 0
  let halvesRight = 0
  for (let i = 0; i < n; i++) {
    const toward = outcome[i] === 1 ? closingPpm[i]! : PPM - closingPpm[i]!
    certainty += Math.max(toward, PPM - toward)
    halvesRight += toward * 2 === PPM ? 1 : toward * 2 > PPM ? 2 : 0
  }
  return certainty / PPM / n - halvesRight / 2 / n
}
