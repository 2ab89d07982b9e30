// Decides certifications and badges (METHODOLOGY §3) from published numbers, so that anyone can decide them
// again.
import type { EntityMetrics } from '../../schemas/metrics.ts'
import type { Title, VoiceRule } from '../../schemas/payloads.ts'
import type { Methodology } from './methodology.ts'

/** A title, and the clause that says why. */
export interface Award {
  title: Title
  because: string
}

const COUNTED = ['contested_questions', 'evidence', 'coverage', 'priced_questions'] as const
const SKILLS = ['skill', 'median_skill', 'market_skill'] as const
type Skill = (typeof SKILLS)[number]

/** A metric that a title requires. An interval stands for its lower end. */
export type RequiredMetric = (typeof COUNTED)[number] | Skill | `${Skill}_interval`

/** The numbers that decide. Every verification has them. */
export type TitleGrounds = Pick<EntityMetrics, RequiredMetric> & { voice_rule: VoiceRule }

/**
 * A published number and the least value that it needs. The lower end of an interval must be above that
 * value.
 */
export interface Requirement {
  metric: RequiredMetric
  /** Null if the release has no such number. */
  has: number | null
  needed: number
  isMet: boolean
}

/**
 * Returns the requirements of each title beyond those of the title before it, each with the entity's number.
 */
export function requirementsOf(
  { parameters }: Pick<Methodology, 'parameters'>,
  grounds: TitleGrounds,
): Record<Exclude<Title, 'none'>, Requirement[]> {
  const atLeast = (metric: (typeof COUNTED)[number] | Skill, needed: number): Requirement => {
    const has = grounds[metric]
    return { metric, has, needed, isMet: has !== null && has >= needed }
  }
  const aboveZero = (metric: `${Skill}_interval`): Requirement => {
    const has = grounds[metric]?.lower ?? null
    return { metric, has, needed: 0, isMet: has !== null && has > 0 }
  }
  const { eligible_questions, certified_questions, least_evidence, least_coverage, least_skill } = parameters
  return {
    measured: [atLeast('contested_questions', eligible_questions)],
    certified: [
      atLeast('contested_questions', certified_questions),
      atLeast('evidence', least_evidence),
      atLeast('coverage', least_coverage),
      ...(grounds.voice_rule === 'everyone' ? [atLeast('priced_questions', certified_questions)] : []),
      ...skillsOf(grounds).flatMap((skill) => [atLeast(skill, least_skill), aboveZero(`${skill}_interval`)]),
    ],
  }
}

/** Returns the skills that a record must show. The one over the market needs a price. */
const skillsOf = ({ priced_questions }: TitleGrounds): readonly Skill[] =>
  SKILLS.filter((skill) => skill !== 'market_skill' || priced_questions > 0)

export function decideTitle(methodology: Methodology, grounds: TitleGrounds): Award {
  const { measured, certified } = requirementsOf(methodology, grounds)
  const unmeasured = measured.find(({ isMet }) => !isMet)
  if (unmeasured) return { title: 'none', because: lackOf(unmeasured) }
  const uncertified = certified.find(({ isMet }) => !isMet)
  if (uncertified) return { title: 'measured', because: lackOf(uncertified) }
  const names = skillsOf(grounds).map(nameOf)
  return {
    title: 'certified',
    because: `the intervals of ${names.slice(0, -1).join(', ')} and ${names.at(-1)} are above 0`,
  }
}

const nameOf = (metric: string) => `its ${metric.replace('_', ' ')}`

/** Returns the clause that says why a requirement is not met. */
function lackOf({ metric, has, needed }: Requirement): string {
  switch (metric) {
    case 'contested_questions':
      return `it has ${has} contested questions, fewer than ${needed}`
    case 'priced_questions':
      return `the release has too few voices for more without a market’s price on ${needed} of its questions`
    case 'evidence':
    case 'coverage':
    case 'skill':
    case 'median_skill':
    case 'market_skill':
      return `${nameOf(metric)} is ${has}, less than ${needed}`
    case 'skill_interval':
    case 'median_skill_interval':
    case 'market_skill_interval':
      return `the interval of ${nameOf(metric.replace('_interval', ''))} is not above ${needed}`
  }
}
