// The published method as a value, which is passed to all scoring code.

/** A change of a parameter, or of a formula that reads it, needs a new version. */
const PARAMETERS = {
  /** Probabilities are limited to [floor, 1 - floor] before a logarithm is taken. */
  log_probability_floor: 0.001,
  /** A pair is contested when at least this many other voices took part in the question. */
  contest_voices: 5,
  /** A pair is contested only if it began this share of the horizon before the close. */
  latest_start: 0.25,
  /** With fewer voices that have a settled pair, every agent is a voice. */
  least_voices: 6,
  strength_passes: 20,
  strength_least: 0.05,
  strength_most: 10,
  /**
   * The number of imaginary questions with the reference Brier score `shrinkage_brier` that shrink a skill
   * toward 0.
   */
  shrinkage_questions: 10,
  shrinkage_brier: 0.25,
  /** Of the intervals of all of an owner's agents together, and of a forecaster's alone. */
  interval_level: 0.95,
  /** The number of clusters at which the boundary of the intervals is tightest. */
  interval_questions: 20,
  eligible_questions: 25,
  certified_questions: 50,
  certified_clusters: 25,
  silver_clusters: 10,
  /** The evidence that a certificate needs, in multiples of the imaginary questions. */
  least_evidence: 1,
  expert_questions: 100,
  platinum_percentile: 99,
  gold_percentile: 90,
  silver_percentile: 75,
  bronze_percentile: 50,
  /** A forecast that the operator sends is witnessed up to this many minutes after it was made. */
  witness_minutes: 10,
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

/**
 * The method of this version of the service. Only the code that starts the service imports it and passes it
 * on.
 */
export const METHODOLOGY: Methodology = {
  version: '3.0.0',
  effectiveFrom: '2026-11-25',
  parameters: PARAMETERS,
}
