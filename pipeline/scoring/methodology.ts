// The published method as a value, which is passed to all scoring code.

/** A change of a parameter, or of a formula that reads it, needs a new version. */
const PARAMETERS = {
  /** Probabilities are limited to [floor, 1 - floor] before a logarithm is taken. */
  log_probability_floor: 0.001,
  /** The house forecaster's constant probability, and its Brier score. */
  house_probability: 0.5,
  house_brier: 0.25,
  /** The number of imaginary questions with the reference Brier score `house_brier` that shrink a skill toward 0. */
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
}

export interface Methodology {
  readonly version: string
  /** The first day of the version, as YYYY-MM-DD. */
  readonly effectiveFrom: string
  readonly parameters: Readonly<typeof PARAMETERS>
}

/** The method of this version of the service. Only the code that starts the service imports it and passes it on. */
export const METHODOLOGY: Methodology = {
  version: '1.0.0',
  effectiveFrom: '2026-01-01',
  parameters: PARAMETERS,
}
