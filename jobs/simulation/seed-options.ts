// What the sandbox is seeded with.

export interface SeedOptions {
  seed: number
  /** How long a round of questions is open. */
  roundMinutes: number
  /** How many questions a round has. */
  questionsPerRound: number
}

export const SEED_DEFAULTS: SeedOptions = { seed: 1, roundMinutes: 5, questionsPerRound: 10 }
