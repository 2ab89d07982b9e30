// The options with which the sandbox is seeded.

export interface SeedOptions {
  seed: number
  /** The minutes for which a round of questions is open. */
  roundMinutes: number
  /** The number of questions in a round. */
  questionsPerRound: number
}

export const SEED_DEFAULTS: SeedOptions = { seed: 1, roundMinutes: 5, questionsPerRound: 10 }
