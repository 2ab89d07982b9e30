// The parameters of the published method. A change here is a new version of the methodology.

export const METHODOLOGY_VERSION = '1.0.0'
export const METHODOLOGY_EFFECTIVE_FROM = '2026-01-01'

export const PARAMETERS = {
  /** Probabilities are limited to [floor, 1 - floor] before a logarithm is taken. */
  log_probability_floor: 0.001,
  /** The house forecaster's constant probability and the Brier score it gets. */
  house_probability: 0.5,
  house_brier: 0.25,
  /** Imaginary questions, each of reference Brier `house_brier`, that shrink a skill toward 0. */
  shrinkage_questions: 10,
  interval_level: 0.95,
  interval_z: 1.959964,
  eligible_questions: 25,
  certified_questions: 50,
  expert_questions: 100,
  expert_percentile: 90,
  platinum_percentile: 99,
  gold_percentile: 90,
  silver_percentile: 75,
  bronze_percentile: 50,
  calibration_bins: 10,
  stability_window: 25,
  stability_questions: 50,
} as const
