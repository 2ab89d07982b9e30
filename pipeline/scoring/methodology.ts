// The published method as a value, which is passed to all scoring code.

/** A change of a parameter, or of a formula that reads it, needs a new version. */
const PARAMETERS = {
  /** Probabilities are limited to [floor, 1 - floor] before a logarithm is taken. */
  log_probability_floor: 0.001,
  /** Somebody is measured by the others' average while at least this many others stand. */
  least_others: 5,
  /** With fewer voices that have a settled pair, every agent is a voice. */
  least_voices: 6,
  /** The part of a question's life that titles look at, from its opening. */
  judged_share: 0.75,
  /** A price stands this long at most. */
  price_hours: 24,
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
  /** A gain against a loss this many times as great is one-sided. */
  one_sided_ratio: 3,
  eligible_questions: 25,
  certified_questions: 50,
  /** The evidence that a title needs, in multiples of the imaginary questions. */
  least_evidence: 1,
  least_skill: 0.02,
  least_coverage: 0.2,
  /** A forecast that the operator sends is witnessed up to this many minutes after it was made. */
  witness_minutes: 10,
  recent_questions: 100,
  calibration_bins: 10,
  stability_window: 25,
  /** A base rate is known from this many questions on. */
  base_rate_questions: 10,
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
  version: '4.0.0',
  effectiveFrom: '2026-11-29',
  parameters: PARAMETERS,
}
