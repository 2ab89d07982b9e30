// Estimates what the next title takes, from a record so far.
import type { Title } from '../../schemas/payloads.ts'
import type { Methodology } from './methodology.ts'
import { rounded } from './round.ts'
import { multiplier } from './skill.ts'
import { type TitleGrounds, titleOf, yardsticksOf } from './title.ts'

type Interval = TitleGrounds['skill_interval']

export interface Outlook {
  title: Exclude<Title, 'none'>
  /** The clause that says why the entity does not have the title yet. */
  because: string
  /** About how many more contested questions it takes; null where what was does not lead there. */
  questions: number | null
}

const NEXT = { none: 'measured', measured: 'certified', certified: null } as const
/** Farther ahead nothing is said. */
const MOST_CLUSTERS = 100_000

/** Returns the next title by a verification; null for whoever is certified. */
export function outlookOf(
  methodology: Methodology,
  grounds: TitleGrounds & { clusters: number },
): Outlook | null {
  const { title: has, because } = titleOf(methodology, grounds)
  const title = NEXT[has]
  if (title === null) return null
  const { eligible_questions: least } = methodology.parameters
  const questions =
    title === 'measured' ? least - grounds.contested_questions : questionsUntil(methodology, grounds)
  return { title, because, questions }
}

function questionsUntil(
  methodology: Methodology,
  grounds: TitleGrounds & { clusters: number },
): number | null {
  const { certified_questions, least_evidence, least_coverage, least_skill } = methodology.parameters
  const { contested_questions: has, priced_questions: priced, clusters, evidence, coverage } = grounds
  if (coverage === null || coverage < least_coverage) return null
  const needed = yardsticksOf(grounds).map(({ skill, interval }) =>
    skill === null || skill < least_skill ? Infinity : clustersUntilAbove(methodology, interval, clusters),
  )
  needed.push(evidence > 0 ? (clusters * least_evidence) / evidence : Infinity)
  const ofPrice = grounds.voice_rule === 'everyone' ? (certified_questions * has) / priced : 0
  const all = Math.max(certified_questions, ofPrice, (Math.max(...needed) * has) / clusters)
  return Number.isFinite(all) ? Math.max(0, Math.ceil(all) - has) : null
}

/**
 * The least number m of clusters at which the lower end is above 0. With clusters like those G that there
 * are, ΣX grows by m/G and √V by √(m/G), so that it takes skill · √(m/G) > h(m) · SE, with the skill in the
 * middle of the interval and SE = its half width / h(G).
 */
function clustersUntilAbove(methodology: Methodology, interval: Interval, clusters: number): number {
  if (interval === null) return Infinity
  if (interval.lower > 0) return clusters
  const skill = (interval.lower + interval.upper) / 2
  const alpha = rounded(1 - interval.level, 9)
  const error = (interval.upper - interval.lower) / 2 / multiplier(methodology, clusters, alpha)
  const isAbove = (m: number) => skill * Math.sqrt(m / clusters) > multiplier(methodology, m, alpha) * error
  if (!isAbove(MOST_CLUSTERS)) return Infinity
  let [low, high] = [clusters, MOST_CLUSTERS]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isAbove(middle)) high = middle
    else low = middle + 1
  }
  return high
}
