// Compares two entities on the questions that both answered, over the time in which both forecasts stood.
import type { Methodology } from './methodology.ts'
import { PPM } from './logarithm.ts'
import type { Joint } from './pairs.ts'
import { WITHDRAWN } from './participant.ts'
import type { ResolvedQuestion } from './question.ts'
import { roundHalfEven } from './round.ts'
import { exactSum } from './exact-sum.ts'
import { type Interval, alphaOf, groupsOf, intervalOf, skillWith } from './skill.ts'
import { NANO } from '../../schemas/values.ts'

/** A forecast of the first (0) or the second (1) of two entities; −1 parts per million for a withdrawal. */
export interface SidedForecast {
  side: 0 | 1
  atMs: number
  ppm: number
}

/** The time that two entities shared on a question, in whole 1e-9. */
export interface SharedTime {
  /** The time in which both forecasts stood, as a share of the question's scheduled life. */
  coverage: number
  /** Integrals of the squared errors of both over that time, divided by the scheduled life. */
  errors: readonly [number, number]
  /** The same integrals for the other outcome. */
  errorsOther: readonly [number, number]
}

/**
 * Returns the time that two entities shared on a question; undefined if they shared none.
 *
 * @param forecasts in the order (atMs, forecast_id).
 */
export function sharedTime(
  { openedAtMs, closesAtMs, endsAtMs, outcome }: Omit<ResolvedQuestion, 'divisor'>,
  forecasts: readonly SidedForecast[],
): SharedTime | undefined {
  const horizonMs = closesAtMs - openedAtMs
  const current = [WITHDRAWN, WITHDRAWN]
  const [errors, errorsOther] = [
    [0, 0],
    [0, 0],
  ]
  let nowMs = openedAtMs
  let heldMs = 0
  const advance = (toMs: number) => {
    const spanMs = toMs - nowMs
    nowMs = toMs
    if (current.includes(WITHDRAWN)) return
    heldMs += spanMs
    for (const [side, ppm] of current.entries()) {
      const error = outcome === 1 ? PPM - ppm : ppm
      errors[side]! += error * error * spanMs
      errorsOther[side]! += (PPM - error) * (PPM - error) * spanMs
    }
  }
  for (const { side, atMs, ppm } of forecasts) {
    if (atMs >= endsAtMs) break
    advance(Math.max(nowMs, atMs))
    current[side] = ppm
  }
  if (endsAtMs > nowMs) advance(endsAtMs)
  if (heldMs === 0) return undefined
  // Squared parts per million are 1e-12.
  const nano = (integral: number) => roundHalfEven(integral / horizonMs / 1e3)
  return {
    coverage: roundHalfEven((heldMs / horizonMs) * NANO),
    errors: [nano(errors[0]!), nano(errors[1]!)],
    errorsOther: [nano(errorsOther[0]!), nano(errorsOther[1]!)],
  }
}

export interface ComparedQuestion extends SharedTime {
  questionId: string
  outcome: 0 | 1
  unit: string
  joint: Joint
  /** The number of the unit's questions, which count as one together. */
  unitQuestions: number
  cluster: string
  /** The ISO week in which it closed. */
  week: string
}

export interface Comparison {
  questions: number
  clusters: number
  /** Means of the squared errors of both over the shared time; null without any. */
  brier: readonly [number, number] | null
  /** The first one's mean minus the second one's: below 0 the first was better. */
  difference: number | null
  /** Null with fewer than two clusters. */
  interval: Interval | null
}

/**
 * Computes D = ΣX/ΣW over the questions: X is the difference of the two integrals, W the shared coverage,
 * both divided by the number of the unit's questions. The interval is D ± h·√V/ΣW. V and h are those of an
 * interval of skill (METHODOLOGY §3) with W for R and κ = 0, so the interval may be looked at after every
 * release.
 */
export function compare(methodology: Methodology, questions: readonly ComparedQuestion[]): Comparison {
  const values = (valueOf: (question: ComparedQuestion) => number) =>
    Float64Array.from(questions, (question) => roundHalfEven(valueOf(question) / question.unitQuestions))
  const gains = {
    gain: values(({ errors }) => errors[0] - errors[1]),
    gainIfOther: values(({ errorsOther }) => errorsOther[0] - errorsOther[1]),
    reference: values(({ coverage }) => coverage),
    ...groupsOf(questions),
  }
  const skill = skillWith(methodology, gains, 0)
  const mean = (side: 0 | 1) => exactSum(values(({ errors }) => errors[side])) / exactSum(gains.reference)
  return {
    questions: questions.length,
    clusters: skill.clusters,
    brier: questions.length === 0 ? null : [mean(0), mean(1)],
    difference: skill.skill,
    interval: intervalOf(methodology, skill, alphaOf(methodology, null)),
  }
}
