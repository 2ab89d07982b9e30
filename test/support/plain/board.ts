// Pools, places and titles (METHODOLOGY §3), from published numbers.
import { inByteOrder } from './order.ts'
import { roundHalfEven } from './rounding.ts'
import type { Interval } from './skill.ts'

/** A contested pair of a kind. */
export interface Edge {
  entity: string
  question: string
}

/** The name of the pool of each entity: the least id of those that a chain of questions joins. */
export function poolsOf(edges: readonly Edge[]): Map<string, string> {
  const names = new Map(edges.map(({ entity }) => [entity, entity]))
  const meetings = [...Map.groupBy(edges, ({ question }) => question).values()]
  for (let changed = true; changed;) {
    changed = false
    for (const meeting of meetings) {
      const least = meeting.map(({ entity }) => names.get(entity)!).sort(inByteOrder)[0]!
      for (const { entity } of meeting) {
        if (names.get(entity) !== least) changed = true
        names.set(entity, least)
      }
    }
  }
  return names
}

export interface Placed {
  skill: number
  board_interval: Pick<Interval, 'lower' | 'upper'> | null
}

/** `board` has the eligible of a kind and pool that have not retired, `own` among them. */
export function placeOn(board: readonly Placed[], own: Placed) {
  const count = (holds: (other: Placed) => boolean) => board.filter(holds).length
  const bar = ({ board_interval }: Placed) => board_interval ?? { lower: -Infinity, upper: Infinity }
  const below = count(({ skill }) => skill < own.skill)
  const tied = count(({ skill }) => skill === own.skill)
  return {
    rank: 1 + count(({ skill }) => skill > own.skill),
    rank_interval: {
      lower: 1 + count((other) => bar(other).lower > bar(own).upper),
      upper: board.length - count((other) => bar(other).upper < bar(own).lower),
    },
    percentile: roundHalfEven((5000 * (2 * below + tied)) / board.length) / 100,
  }
}

export type Title = 'none' | 'measured' | 'certified'

/** The published numbers that decide. */
export interface Claim {
  contested_questions: number
  priced_questions: number
  evidence: number
  coverage: number | null
  skill: number | null
  median_skill: number | null
  market_skill: number | null
  skill_interval: Interval | null
  median_skill_interval: Interval | null
  market_skill_interval: Interval | null
}

export function titleOf(claim: Claim, rule: 'recorded' | 'everyone'): Title {
  const { contested_questions, priced_questions, evidence, coverage } = claim
  if (contested_questions < 25) return 'none'
  const beats = (skill: number | null, interval: Interval | null) =>
    skill !== null && skill >= 0.02 && interval !== null && interval.lower > 0
  const isCertified =
    contested_questions >= 50 &&
    evidence >= 1 &&
    coverage !== null &&
    coverage >= 0.2 &&
    beats(claim.skill, claim.skill_interval) &&
    beats(claim.median_skill, claim.median_skill_interval) &&
    (priced_questions === 0 || beats(claim.market_skill, claim.market_skill_interval)) &&
    (rule === 'recorded' || priced_questions >= 50)
  return isCertified ? 'certified' : 'measured'
}
