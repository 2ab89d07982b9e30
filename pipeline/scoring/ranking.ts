// Ranks the entities of one kind, and decides their certifications and badges (METHODOLOGY §3). All of it
// from published numbers, so that anyone can decide it again.
import type { EntityMetrics } from '../../schemas/metrics.ts'
import type { Badge, Certification, VoiceRule } from '../../schemas/payloads.ts'
import type { RankMetricName } from './entity.ts'
import { isAboveZero, lackOfSkill } from './lack-of-skill.ts'
import type { Methodology } from './methodology.ts'
import { roundHalfEven } from './round.ts'

type RankMetrics = Pick<EntityMetrics, RankMetricName>

/** An entity, by the published numbers that rank it. */
export interface Ranked {
  /** Whether it had retired at `as_of`. */
  isRetired: boolean
  scores: Pick<EntityMetrics, 'eligible' | 'voice' | 'pool' | 'skill' | 'skill_interval' | 'board_interval'>
}

/** Numbers, ascending: all that occur, and how often each does. */
export interface Counts {
  values: readonly number[]
  counts: readonly number[]
}

/** The eligible entities of a kind and a pool, counted. */
export interface Tally {
  /** The skills of the voices among them, which percentiles are of, retired ones too. */
  voices: Counts
  /** The skills of those that have not retired, and the ends of their board intervals. */
  skills: Counts
  lowers: Counts
  uppers: Counts
}

/** The tallies of a kind by pool, and its entities, eligible or not. */
export interface KindTally {
  population: number
  pools: ReadonlyMap<string, Tally>
}

/** Numbers, ascending, with how many are each or lower. */
interface Ordered {
  values: Float64Array
  notAbove: Float64Array
}

/** The field and the board of a pool. */
export type Board = Record<keyof Tally, Ordered>

export interface Boards {
  population: number
  pools: ReadonlyMap<string, Board>
}

export function tallyOf(entities: readonly Ranked[]): KindTally {
  const field = new FieldCounts()
  for (const entity of entities) field.take(entity)
  return field.tally
}

/** Counts the entities of a kind one after another. It holds each different number once. */
export class FieldCounts {
  #population = 0
  readonly #pools = new Map<string, Record<keyof Tally, Map<number, number>>>()

  /** Takes an entity, or this many that are alike. */
  take({ isRetired, scores }: Ranked, alike = 1): void {
    const { eligible, voice, pool, skill, board_interval } = scores
    this.#population += alike
    if (!eligible) return
    const counts = this.#pools.get(pool!) ?? {
      voices: new Map<number, number>(),
      skills: new Map<number, number>(),
      lowers: new Map<number, number>(),
      uppers: new Map<number, number>(),
    }
    this.#pools.set(pool!, counts)
    const count = (name: keyof Tally, value: number) =>
      counts[name].set(value, (counts[name].get(value) ?? 0) + alike)
    if (voice) count('voices', skill!)
    if (isRetired) return
    count('skills', skill!)
    if (!board_interval) return
    count('lowers', board_interval.lower)
    count('uppers', board_interval.upper)
  }

  get tally(): KindTally {
    const pools = [...this.#pools].map(([pool, { voices, skills, lowers, uppers }]): [string, Tally] => [
      pool,
      {
        voices: inOrder(voices),
        skills: inOrder(skills),
        lowers: inOrder(lowers),
        uppers: inOrder(uppers),
      },
    ])
    return { population: this.#population, pools: new Map(pools) }
  }
}

function inOrder(counts: ReadonlyMap<number, number>): Counts {
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
  const boardOf = ({ voices, skills, lowers, uppers }: Tally): Board => ({
    voices: ordered(voices),
    skills: ordered(skills),
    lowers: ordered(lowers),
    uppers: ordered(uppers),
  })
  return { population, pools: new Map([...pools].map(([pool, tally]) => [pool, boardOf(tally)])) }
}

/**
 * The rank of an entity on its board, and its percentile among the voices and itself, also if it is no voice.
 * Null if it is not eligible or has retired.
 */
export function rankIn({ population, pools }: Boards, { isRetired, scores }: Ranked): RankMetrics {
  const { eligible, voice, pool, skill, skill_interval, board_interval } = scores
  const isRanked = eligible && !isRetired
  const board = pool === null ? undefined : pools.get(pool)
  const voices = board ? countOf(board.voices) : 0
  const field_size = voices + (isRanked && !voice ? 1 : 0)
  if (!isRanked || skill === null || board === undefined) {
    const unranked = { rank: null, rank_interval: null, percentile: null, percentile_interval: null }
    return { ...unranked, field_size, population }
  }
  const members = countOf(board.skills)
  const below = countBelow(board.voices, skill)
  const notAbove = countNotAbove(board.voices, skill)
  const itself = voice ? 0 : 1
  const best = skill_interval ? voices - countNotAbove(board.voices, skill_interval.upper) : 0
  const worst = skill_interval ? field_size - countBelow(board.voices, skill_interval.lower) : field_size
  const percentileAt = (rank: number) => percentileOf(2 * (field_size - rank) + 1, field_size)
  return {
    rank: 1 + members - countNotAbove(board.skills, skill),
    rank_interval: {
      lower:
        1 + (board_interval ? countOf(board.lowers) - countNotAbove(board.lowers, board_interval.upper) : 0),
      upper: members - (board_interval ? countBelow(board.uppers, board_interval.lower) : 0),
    },
    percentile: percentileOf(2 * below + (notAbove - below + itself), field_size),
    percentile_interval: { lower: percentileAt(worst), upper: percentileAt(1 + best) },
    field_size,
    population,
  }
}

/** ⌊5000·halves/size⌉/100: the percentile above which lie that many halves of a field of this size. */
function percentileOf(halves: number, size: number): number {
  return roundHalfEven((5000 * halves) / size) / 100
}

function countOf({ notAbove }: Ordered): number {
  return notAbove.at(-1) ?? 0
}

/** How many numbers are less than x, or no more. */
function countBelow({ values, notAbove }: Ordered, x: number): number {
  return notAbove[countWhile(values, (value) => value < x) - 1] ?? 0
}
function countNotAbove({ values, notAbove }: Ordered, x: number): number {
  return notAbove[countWhile(values, (value) => value <= x) - 1] ?? 0
}

/** The length of the beginning whose members all hold; none after it does. */
function countWhile(sorted: Float64Array, holds: (value: number) => boolean): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(sorted[middle]!)) low = middle + 1
    else high = middle
  }
  return low
}

/** An award, and the clause that says why. */
export interface Award<Title extends string> {
  title: Title
  because: string
}

/** The numbers that decide a certification. Every verification of an agent has them. */
export type CertificationGrounds = Pick<
  EntityMetrics,
  | 'contested_questions'
  | 'clusters'
  | 'evidence'
  | 'crowd_evidence'
  | 'skill_interval'
  | 'strict_skill_interval'
  | 'crowd_skill_interval'
> & { voice_rule: VoiceRule }

export function certificationOf(
  methodology: Methodology,
  { voice_rule, ...grounds }: CertificationGrounds,
): Award<Certification> {
  const { eligible_questions, certified_questions, expert_questions, least_evidence } = methodology.parameters
  const { contested_questions: questions, crowd_evidence, crowd_skill_interval } = grounds
  const fewerThan = (least: number) => `it has ${questions} contested questions, fewer than ${least}`
  if (questions < eligible_questions) return { title: 'none', because: fewerThan(eligible_questions) }
  const provisional = (because: string) => ({ title: 'provisional', because }) as const
  if (questions < certified_questions) return provisional(fewerThan(certified_questions))
  const lack = lackOfSkill(methodology, grounds)
  if (lack !== undefined) return provisional(lack)
  if (voice_rule === 'everyone') {
    return provisional('the release has too few voices for more: every agent was taken as one')
  }
  const certified = (missing: string) =>
    ({ title: 'certified', because: `the intervals of its skill are above 0, and ${missing}` }) as const
  if (questions < expert_questions) return certified(fewerThan(expert_questions))
  if (crowd_evidence < least_evidence) {
    return certified(`its crowd evidence is ${crowd_evidence}, less than ${least_evidence}`)
  }
  if (!isAboveZero(crowd_skill_interval)) return certified('that of its crowd skill is not')
  return { title: 'expert', because: 'the intervals of its skill and of its crowd skill are above 0' }
}

/** The numbers that decide a badge. Every verification of a forecaster has them. */
export type BadgeGrounds = Pick<
  EntityMetrics,
  'percentile' | 'clusters' | 'evidence' | 'skill_interval' | 'strict_skill_interval'
> & { voice_rule: VoiceRule }

export function badgeOf(
  methodology: Methodology,
  { percentile, voice_rule, ...grounds }: BadgeGrounds,
): Award<Badge> {
  if (percentile === null) return { title: 'none', because: 'it is not eligible' }
  const { platinum_percentile, gold_percentile, silver_percentile, bronze_percentile, silver_clusters } =
    methodology.parameters
  const at = `its percentile is ${percentile}`
  const lessThan = (least: number) => `${at}, less than ${least}`
  if (percentile < bronze_percentile) return { title: 'none', because: lessThan(bronze_percentile) }
  const bronze = (because: string) => ({ title: 'bronze', because }) as const
  if (voice_rule === 'everyone') {
    return bronze(`${at}, and every agent was taken as a voice, which allows no more`)
  }
  if (percentile < silver_percentile) return bronze(lessThan(silver_percentile))
  if (grounds.clusters < silver_clusters) {
    return bronze(`its questions are of ${grounds.clusters} clusters, fewer than ${silver_clusters}`)
  }
  const silver = (because: string) => ({ title: 'silver', because }) as const
  if (percentile < gold_percentile) return silver(lessThan(gold_percentile))
  const lack = lackOfSkill(methodology, grounds)
  if (lack !== undefined) return silver(lack)
  return percentile < platinum_percentile
    ? {
        title: 'gold',
        because: `${lessThan(platinum_percentile)}, and the intervals of its skill are above 0`,
      }
    : { title: 'platinum', because: `${at}, and the intervals of its skill are above 0` }
}
