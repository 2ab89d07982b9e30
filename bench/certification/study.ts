// A study of certificates: how it simulates a world, and which rows of the tables come of it.
import type { Random } from '../../jobs/simulation/random.ts'
import type { Certified, SimulatedField } from './field.ts'
import type { SimulatedQuestion } from './questions.ts'

/** The numbers that are measured in one world, by name. */
export type Values = Readonly<Record<string, number>>

/** A row about certificates: after how many questions was one given? */
export interface Title {
  how: string
  /** The value with the number of questions, Infinity for never. */
  value: string
  /**
   * The share of worlds that may have one: at most `limit`, beyond its Wilson interval. Or it is `open`, and
   * why; or it is the `power` of somebody who deserves it.
   */
  may: { limit: number } | { open: string } | 'power'
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
  /** Why nobody who is judged is better than the middle of the field. */
  withoutSkill?: string
  simulate: (random: Random) => Values
  titles: readonly Title[]
  measures?: readonly Measure[]
}

/** An owner without skill may be certified with this probability, whatever he does. */
export const PROMISED = { limit: 0.05 }

export const DAYS = 365
export const QUESTIONS_A_DAY = 2

/**
 * Looks at the field every day of a year, or of this many questions. The values say after how many questions
 * somebody was certified first, and as an expert; Infinity for never.
 */
export function dailyLooks(
  field: SimulatedField,
  ask: (question: number) => SimulatedQuestion,
  questions = DAYS * QUESTIONS_A_DAY,
  last: Certified = 'expert',
): { certified: number; expert: number } {
  const first = { certified: Infinity, expert: Infinity }
  for (let asked = 1; asked <= questions; asked++) {
    field.ask(ask(asked - 1))
    if (asked % QUESTIONS_A_DAY !== 0) continue
    if (first.certified === Infinity && field.certified().length > 0) first.certified = asked
    if (first.certified === Infinity) continue
    if (last === 'certified') break
    if (field.certified('expert').length > 0) {
      first.expert = asked
      break
    }
  }
  return first
}
