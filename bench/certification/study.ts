// A study of certificates: how it simulates a world, and which rows of the tables come of it.
import type { Random } from '../../jobs/sandbox/random.ts'
import type { SimulatedField } from './field.ts'
import type { SimulatedQuestion } from './questions.ts'

/** The numbers that are measured in one world, by name. */
export type Values = Readonly<Record<string, number>>

/** A row about certificates: after how many questions was one given? */
export interface Title {
  how: string
  /** The value with the number of questions, Infinity for never. */
  value: string
  range: Range
}

/** The share of worlds that have a certificate, which the Wilson interval of what is measured must meet. */
export interface Range {
  least: number
  most: number
  /** Why whoever is not better may have one. */
  open?: string
}

/** A row about another number: the mean over worlds. */
export interface Measure {
  about: string
  value: string
  shown: 'share' | 'number'
}

export interface Study {
  /** How many worlds the full form simulates, and the quick one. */
  worlds: number
  quick: number
  /** Why nobody who is judged is better than the others' average. */
  withoutSkill?: string
  simulate: (random: Random) => Values
  titles: readonly Title[]
  measures?: readonly Measure[]
}

/** An owner without skill may be certified with this probability, whatever he does. */
export const PROMISED: Range = { least: 0, most: 0.05 }

export const DAYS = 365
export const QUESTIONS_A_DAY = 2

/**
 * Looks at the world every day of a year, or of this many questions. Returns after how many questions
 * somebody was certified first; Infinity for never.
 */
export function dailyLooks(
  field: SimulatedField,
  ask: (question: number) => SimulatedQuestion,
  questions = DAYS * QUESTIONS_A_DAY,
): { certified: number } {
  for (let asked = 1; asked <= questions; asked++) {
    field.ask(ask(asked - 1))
    if (asked % QUESTIONS_A_DAY === 0 && field.certified().length > 0) return { certified: asked }
  }
  return { certified: Infinity }
}
