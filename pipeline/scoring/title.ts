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

/** The numbers that decide. Every verification has them. */
export type TitleGrounds = Pick<
  EntityMetrics,
  | 'contested_questions'
  | 'priced_questions'
  | 'evidence'
  | 'coverage'
  | 'skill'
  | 'skill_interval'
  | 'median_skill'
  | 'median_skill_interval'
  | 'market_skill'
  | 'market_skill_interval'
> & { voice_rule: VoiceRule }

export function titleOf(methodology: Methodology, grounds: TitleGrounds): Award {
  const { eligible_questions: least } = methodology.parameters
  const { contested_questions: questions } = grounds
  if (questions < least) {
    return { title: 'none', because: `it has ${questions} contested questions, fewer than ${least}` }
  }
  const lack = lackOf(methodology, grounds)
  if (lack !== undefined) return { title: 'measured', because: lack }
  return { title: 'certified', because: `the intervals of ${listed(yardsticksOf(grounds))} are above 0` }
}

/** Why a record is not certified; undefined if it is. */
function lackOf({ parameters }: Methodology, grounds: TitleGrounds): string | undefined {
  const { certified_questions, least_evidence, least_coverage, least_skill } = parameters
  const { contested_questions, priced_questions, evidence, coverage, voice_rule } = grounds
  if (contested_questions < certified_questions) {
    return `it has ${contested_questions} contested questions, fewer than ${certified_questions}`
  }
  if (evidence < least_evidence) return `its evidence is ${evidence}, less than ${least_evidence}`
  if (coverage === null || coverage < least_coverage)
    return `its coverage is ${coverage}, less than ${least_coverage}`
  if (voice_rule === 'everyone' && priced_questions < certified_questions) {
    return `the release has too few voices for more without a market’s price on ${certified_questions} of its questions`
  }
  for (const { name, skill, interval } of yardsticksOf(grounds)) {
    if (skill === null || skill < least_skill) return `${name} is ${skill}, less than ${least_skill}`
    if (interval === null || interval.lower <= 0) return `the interval of ${name} is not above 0`
  }
  return undefined
}

/** The skills that a record must show. */
export function yardsticksOf(grounds: TitleGrounds) {
  const { skill, skill_interval, median_skill, median_skill_interval, market_skill, market_skill_interval } =
    grounds
  return [
    { name: 'its skill', skill, interval: skill_interval },
    { name: 'its median skill', skill: median_skill, interval: median_skill_interval },
    ...(grounds.priced_questions > 0
      ? [{ name: 'its market skill', skill: market_skill, interval: market_skill_interval }]
      : []),
  ]
}

const listed = (of: readonly { name: string }[]): string => {
  const names = of.map(({ name }) => name)
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
