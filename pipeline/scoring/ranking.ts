// Ranks the entities of one kind, and decides their certifications and badges (METHODOLOGY §3). All of it
// from published numbers, so that anyone can decide it again.
import type { EntityMetrics } from '../../schemas/metrics.ts'
import type { Badge, Certification, VoiceRule } from '../../schemas/payloads.ts'
import type { RankMetricName } from './entity.ts'
import type { Methodology } from './methodology.ts'
import { roundHalfEven } from './round.ts'

type RankMetrics = Pick<EntityMetrics, RankMetricName>
type Ranked = Pick<EntityMetrics, 'eligible' | 'voice' | 'skill' | 'skill_interval'>

/** The eligible voices of a kind, counted by skill. */
export interface Tally {
  /** The entities of the kind, eligible or not. */
  population: number
  /** All that occur, ascending, and how many voices have each. */
  skills: readonly number[]
  counts: readonly number[]
}

/** Whom the entities of a kind are compared with. */
export interface Voices {
  population: number
  /** Ascending, and how many voices have each or a lower one. */
  skills: Float64Array
  notAbove: Float64Array
}

export function rankedVoices(entities: readonly Ranked[]): Voices {
  const voices = entities.filter(({ eligible, voice }) => eligible && voice)
  const counts = new Map<number, number>()
  for (const skill of Float64Array.from(voices, (voice) => voice.skill!).sort()) {
    counts.set(skill, (counts.get(skill) ?? 0) + 1)
  }
  return voicesIn({ population: entities.length, skills: [...counts.keys()], counts: [...counts.values()] })
}

export function voicesIn({ population, skills, counts }: Tally): Voices {
  let sum = 0
  const notAbove = Float64Array.from(counts, (count) => (sum += count))
  return { population, skills: Float64Array.from(skills), notAbove }
}

/** The rank of an entity among the voices and itself, also if it is no voice. Null if it is not eligible. */
export function rankIn(voices: Voices, entity: Ranked): RankMetrics {
  const { eligible, voice, skill, skill_interval } = entity
  const { population } = voices
  const others = voices.notAbove.at(-1) ?? 0
  const itself = eligible && !voice ? 1 : 0
  const field_size = others + itself
  if (!eligible || skill === null) {
    const unranked = { rank: null, rank_interval: null, percentile: null, percentile_interval: null }
    return { ...unranked, field_size, population }
  }
  const below = countBelow(voices, skill)
  const notAbove = countNotAbove(voices, skill)
  const rank_interval = {
    lower: 1 + (skill_interval ? others - countNotAbove(voices, skill_interval.upper) : 0),
    upper: skill_interval ? field_size - countBelow(voices, skill_interval.lower) : field_size,
  }
  const percentileAt = (rank: number) => percentileOf(2 * (field_size - rank) + 1, field_size)
  return {
    rank: 1 + others - notAbove,
    rank_interval,
    percentile: percentileOf(2 * below + (notAbove - below + itself), field_size),
    percentile_interval: {
      lower: percentileAt(rank_interval.upper),
      upper: percentileAt(rank_interval.lower),
    },
    field_size,
    population,
  }
}

/** ⌊5000·halves/size⌉/100: the percentile above which lie that many halves of a field of this size. */
function percentileOf(halves: number, size: number): number {
  return roundHalfEven((5000 * halves) / size) / 100
}

/** How many voices have a skill of less than x, or of no more. */
function countBelow({ skills, notAbove }: Voices, x: number): number {
  return notAbove[countWhile(skills, (skill) => skill < x) - 1] ?? 0
}
function countNotAbove({ skills, notAbove }: Voices, x: number): number {
  return notAbove[countWhile(skills, (skill) => skill <= x) - 1] ?? 0
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

type Intervals = Pick<EntityMetrics, 'skill_interval' | 'crowd_skill_interval'>
/** The numbers that decide a certification. Every verification of an agent has them. */
export type CertificationGrounds = Intervals &
  Pick<EntityMetrics, 'contested_questions' | 'clusters'> & { voice_rule: VoiceRule }

/** An interval that is null is not above 0. */
function aboveZero(interval: EntityMetrics['skill_interval']): boolean {
  return interval !== null && interval.lower > 0
}

export function certificationOf(
  { parameters }: Methodology,
  {
    contested_questions: questions,
    clusters,
    skill_interval,
    crowd_skill_interval,
    voice_rule,
  }: CertificationGrounds,
): Award<Certification> {
  const { eligible_questions, certified_questions, certified_clusters, expert_questions } = parameters
  if (questions < eligible_questions) {
    return {
      title: 'none',
      because: `it has ${questions} contested questions, fewer than ${eligible_questions}`,
    }
  }
  const provisional = (because: string) => ({ title: 'provisional', because }) as const
  if (questions < certified_questions) {
    return provisional(`it has ${questions} contested questions, fewer than ${certified_questions}`)
  }
  if (clusters < certified_clusters) {
    return provisional(`its questions are of ${clusters} clusters, fewer than ${certified_clusters}`)
  }
  if (!aboveZero(skill_interval)) return provisional(`the interval of its skill is not above 0`)
  if (voice_rule === 'everyone') {
    return provisional('the release has too few voices for more: every agent was taken as one')
  }
  if (questions >= expert_questions && aboveZero(crowd_skill_interval)) {
    return { title: 'expert', because: 'the intervals of its skill and of its crowd skill are above 0' }
  }
  const missing =
    questions < expert_questions
      ? `it has ${questions} contested questions, fewer than ${expert_questions}`
      : 'that of its crowd skill is not'
  return { title: 'certified', because: `the interval of its skill is above 0, and ${missing}` }
}

/** The numbers that decide a badge. Every verification of a forecaster has them. */
export type BadgeGrounds = Pick<EntityMetrics, 'percentile' | 'clusters' | 'skill_interval'> & {
  voice_rule: VoiceRule
}

export function badgeOf(
  { parameters }: Methodology,
  { percentile, clusters, skill_interval, voice_rule }: BadgeGrounds,
): Award<Badge> {
  if (percentile === null) return { title: 'none', because: 'it is not eligible' }
  const { platinum_percentile, gold_percentile, silver_percentile, bronze_percentile, certified_clusters } =
    parameters
  const at = `its percentile is ${percentile}`
  if (percentile < bronze_percentile)
    return { title: 'none', because: `${at}, less than ${bronze_percentile}` }
  if (voice_rule === 'everyone') {
    return { title: 'bronze', because: `${at}, and every agent was taken as a voice, which allows no more` }
  }
  if (percentile < silver_percentile)
    return { title: 'bronze', because: `${at}, less than ${silver_percentile}` }
  if (percentile < gold_percentile) return { title: 'silver', because: `${at}, less than ${gold_percentile}` }
  if (clusters < certified_clusters) {
    return {
      title: 'silver',
      because: `its questions are of ${clusters} clusters, fewer than ${certified_clusters}`,
    }
  }
  if (!aboveZero(skill_interval))
    return { title: 'silver', because: 'the interval of its skill is not above 0' }
  return percentile < platinum_percentile
    ? {
        title: 'gold',
        because: `${at}, less than ${platinum_percentile}, and the interval of its skill is above 0`,
      }
    : { title: 'platinum', because: `${at}, and the interval of its skill is above 0` }
}
