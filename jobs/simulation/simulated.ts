// What simulated worlds are made of: questions, people who read them more or less well, and their rows for an import.
import { type Random, logistic, normal } from './random.ts'

/** Of the true log-odds over questions. */
export const SPREAD = 1.8
/** What is left of a reader's error at its first, second and third forecast on a question. */
export const ERROR_LEFT = [1, 0.75, 0.55] as const

export interface SimulatedQuestion {
  questionId: string
  title: string
  category: string
  openedAt: Date
  closesAt: Date
  outcome: 'yes' | 'no'
  logOdds: number
}

export interface SimulatedForecast {
  userId: string
  questionId: string
  probability: number
  forecastAt: Date
}

export interface SimulatedForecaster {
  userId: string
  name: string
  /** The standard deviation of its error, in log-odds. */
  noise: number
}

/** Two forecasts on a question: one in the first, one in the second of the `parts` that its time is divided into. */
export function forecastTwice(
  { userId, noise }: SimulatedForecaster,
  { questionId, openedAt, closesAt, logOdds }: SimulatedQuestion,
  parts: 2 | 3,
  random: Random,
): SimulatedForecast[] {
  const horizonMs = closesAt.getTime() - openedAt.getTime()
  const error = noise * normal(random)
  return ERROR_LEFT.slice(0, 2).map((left, part) => ({
    userId,
    questionId,
    probability: said(logOdds + left * error),
    forecastAt: new Date(openedAt.getTime() + Math.floor(((part + random()) * horizonMs) / parts)),
  }))
}

/** A probability as one says it: whole percents, never certain. */
export function said(logOdds: number): number {
  return Math.min(99, Math.max(1, Math.round(100 * logistic(logOdds)))) / 100
}

export function questionRow({ questionId, title, category, openedAt, closesAt }: SimulatedQuestion) {
  return {
    question_id: questionId,
    title,
    category,
    opened_at: openedAt.toISOString(),
    closes_at: closesAt.toISOString(),
  }
}

export function resolutionRow({ questionId, outcome, closesAt }: SimulatedQuestion) {
  return { question_id: questionId, outcome, resolved_at: closesAt.toISOString() }
}

export function forecasterRow({ userId, name }: SimulatedForecaster) {
  return { user_id: userId, display_name: name }
}

export function forecastRow({ userId, questionId, probability, forecastAt }: SimulatedForecast) {
  return {
    entity_type: 'forecaster',
    entity_id: userId,
    question_id: questionId,
    probability,
    forecast_at: forecastAt.toISOString(),
  }
}
