// The published method as a value, which is passed to all scoring code.

/** A change of a parameter, or of a formula that reads it, needs a new version. */
const PARAMETERS = {
  /** Probabilities are limited to [floor, 1 - floor] before a logarithm is taken. */
  log_probability_floor: 0.001,
  /** The others' average measures an entity while at least this many others have a standing forecast. */
  least_others: 5,
  /** If fewer voices have a settled pair, every agent is a voice. */
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
  /** The level of a forecaster's interval, and of the intervals of all agents of an owner together. */
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
  /** A base rate needs at least this many questions. */
  base_rate_questions: 10,
}

export interface Methodology {
  readonly version: string
  /** The first day of the version, as YYYY-MM-DD. */
  readonly effectiveFrom: string
  readonly parameters: Readonly<typeof PARAMETERS>
}

/** The method of this version of the service. Only the code that starts the service imports it. */
export const METHODOLOGY: Methodology = {
  version: '4.0.0',
  effectiveFrom: '2026-11-29',
  parameters: PARAMETERS,
}
