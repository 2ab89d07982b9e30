// Ranks the entities of one kind (METHODOLOGY §3). Uses published numbers alone, so that anyone can rank them
// again.
import type { EntityMetrics } from '../../schemas/metrics.ts'
import { countWhile } from './count-while.ts'
import type { RankMetricName } from './entity.ts'
import { roundHalfEven } from './round.ts'

type RankMetrics = Pick<EntityMetrics, RankMetricName>

/** An entity, by the published numbers that rank it. */
export interface Ranked {
  /** Whether it had retired at `as_of`. */
  isRetired: boolean
  scores: Pick<EntityMetrics, 'eligible' | 'pool' | 'skill' | 'board_interval'>
}

/** Distinct numbers, ascending, and how often each occurs. */
export interface Counts {
  values: readonly number[]
  counts: readonly number[]
}

/** The skills and the ends of the intervals of a pool's entities that are eligible and not retired. */
export interface Tally {
  skills: Counts
  lowers: Counts
  uppers: Counts
}

/** The tallies of a kind by pool, and its entities, eligible or not. */
export interface KindTally {
  population: number
  pools: ReadonlyMap<string, Tally>
}

/** Distinct numbers, ascending, each with how many numbers are not above it. */
interface Ordered {
  values: Float64Array
  notAbove: Float64Array
}

/** The board of a pool. */
export type PoolOrder = Record<keyof Tally, Ordered>

export interface Boards {
  population: number
  pools: ReadonlyMap<string, PoolOrder>
}

const isOnBoard = ({ isRetired, scores }: Ranked): boolean => scores.eligible && !isRetired

export function tallyOf(entities: readonly Ranked[]): KindTally {
  const counts = new BoardCounts()
  for (const entity of entities) counts.take(entity)
  return counts.tally
}

/** Counts the entities of a kind one after another. Holds each distinct number once. */
export class BoardCounts {
  #population = 0
  readonly #pools = new Map<string, Record<keyof Tally, Map<number, number>>>()

  /** Takes an entity, or several with the same numbers. */
  take(entity: Ranked, alike = 1): void {
    const { pool, skill, board_interval } = entity.scores
    this.#population += alike
    if (!isOnBoard(entity)) return
    const counts = this.#pools.get(pool!) ?? {
      skills: new Map<number, number>(),
      lowers: new Map<number, number>(),
      uppers: new Map<number, number>(),
    }
    this.#pools.set(pool!, counts)
    const count = (name: keyof Tally, value: number) =>
      counts[name].set(value, (counts[name].get(value) ?? 0) + alike)
    count('skills', skill!)
    if (!board_interval) return
    count('lowers', board_interval.lower)
    count('uppers', board_interval.upper)
  }

  get tally(): KindTally {
    const pools = [...this.#pools].map(([pool, { skills, lowers, uppers }]): [string, Tally] => [
      pool,
      { skills: countsInOrder(skills), lowers: countsInOrder(lowers), uppers: countsInOrder(uppers) },
    ])
    return { population: this.#population, pools: new Map(pools) }
  }
}

function countsInOrder(counts: ReadonlyMap<number, number>): Counts {
  const values = Array.from(Float64Array.from(counts.keys()).sort())
  return { values, counts: values.map((value) => counts.get(value)!) }
}

export function boardsOf({ population, pools }: KindTally): Boards {
  const ordered = ({ values, counts }: Counts): Ordered => {
    let sum = 0
    return {
      values: Float64Array.from(values),
      notAbove: Float64Array.from(counts, (count) => (sum += count)),
    }
  }
  const boardOf = ({ skills, lowers, uppers }: Tally): PoolOrder => ({
    skills: ordered(skills),
    lowers: ordered(lowers),
    uppers: ordered(uppers),
  })
  return { population, pools: new Map([...pools].map(([pool, tally]) => [pool, boardOf(tally)])) }
}

/** Returns the place of an entity on its board; nulls if it is not eligible or has retired. */
export function rankIn({ population, pools }: Boards, ranked: Ranked): RankMetrics {
  const { pool, skill, board_interval } = ranked.scores
  const board = pool === null ? undefined : pools.get(pool)
  if (!isOnBoard(ranked) || skill === null || board === undefined) {
    return { rank: null, rank_interval: null, percentile: null, population }
  }
  // Count the skills around this one.
  const members = membersCounted(board.skills)
  const below = countBelow(board.skills, skill)
  const notAbove = countNotAbove(board.skills, skill)
  // Count the entities whose whole intervals lie above or below this one's.
  const { surelyAbove, surelyBelow } = board_interval
    ? {
        surelyAbove: membersCounted(board.lowers) - countNotAbove(board.lowers, board_interval.upper),
        surelyBelow: countBelow(board.uppers, board_interval.lower),
      }
    : { surelyAbove: 0, surelyBelow: 0 }
  return {
    rank: 1 + members - notAbove,
    rank_interval: { lower: 1 + surelyAbove, upper: members - surelyBelow },
    percentile: roundHalfEven((5000 * (below + notAbove)) / members) / 100,
    population,
  }
}

function membersCounted({ notAbove }: Ordered): number {
  return notAbove.at(-1) ?? 0
}

/** Count the numbers less than x, or not above x. */
function countBelow({ values, notAbove }: Ordered, x: number): number {
  return notAbove[countWhile(values, (value) => value < x) - 1] ?? 0
}
function countNotAbove({ values, notAbove }: Ordered, x: number): number {
  return notAbove[countWhile(values, (value) => value <= x) - 1] ?? 0
}
