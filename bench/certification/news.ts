// Questions on which news comes in: the log-odds walk from the opening to the close, and half of their
// variance is news.
import { type Random, logistic, normal } from '../../jobs/sandbox/random.ts'
import { type Reader, type SimulatedForecast, TRUTH_SPREAD, drawOutcome, saying } from './questions.ts'

const STEPS = 40

export interface News {
  outcome: 0 | 1
  /** The log-odds at this share of the question's life. */
  at: (share: number) => number
}

export function drawNews(random: Random): News {
  const spread = TRUTH_SPREAD * Math.SQRT1_2
  const path = [spread * normal(random)]
  for (let step = 1; step <= STEPS; step++) {
    path.push(path.at(-1)! + (spread / Math.sqrt(STEPS)) * normal(random))
  }
  return {
    outcome: drawOutcome(random, path.at(-1)!),
    at: (share) => path[Math.floor(share * STEPS)]!,
  }
}

/** A reading of the news at this share of the question's life. */
export function readNews(
  random: Random,
  news: News,
  { entity, noise }: Reader,
  share: number,
): SimulatedForecast {
  return saying(entity, share, logistic(news.at(share) + noise * normal(random)))
}

/** Everyone reads once in the first half, and again this many times before the close. */
export function updating(
  random: Random,
  news: News,
  all: readonly Reader[],
  updates: number,
): SimulatedForecast[] {
  return all.flatMap((reader) => {
    const first = random() / 2
    const later = Array.from({ length: updates }, () => first + (1 - first) * random())
    return [first, ...later].map((share) => readNews(random, news, reader, share))
  })
}
