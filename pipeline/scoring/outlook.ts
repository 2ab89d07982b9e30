// Estimates what the next title takes, from a record so far.
import type { Title } from '../../schemas/payloads.ts'
import type { Methodology } from './methodology.ts'
import { rounded } from './round.ts'
import { multiplier } from './skill.ts'
import { type Requirement, type TitleGrounds, requirementsOf, decideTitle } from './title.ts'

type Interval = TitleGrounds['skill_interval']

export interface Outlook {
  title: Exclude<Title, 'none'>
  /** The clause that says why the entity does not have the title yet. */
  because: string
  /**
   * About how many more contested questions it takes; null if the record so far does not lead to the title.
   */
  questions: number | null
}

const NEXT = { none: 'measured', measured: 'certified', certified: null } as const
/** The outlook ends at this many clusters. */
const MOST_CLUSTERS = 100_000

/** Returns the outlook on the next title; null for a certified entity. */
export function outlookOf(
  methodology: Methodology,
  grounds: TitleGrounds & { clusters: number },
): Outlook | null {
  const { title: has, because } = decideTitle(methodology, grounds)
  const title = NEXT[has]
  if (title === null) return null
  const { eligible_questions: least } = methodology.parameters
  const questions =
    title === 'measured' ? least - grounds.contested_questions : questionsUntil(methodology, grounds)
  return { title, because, questions }
}

/**
 * Estimates for each requirement how many questions like those so far meet it, and returns the greatest
 * number.
 */
function questionsUntil(
  methodology: Methodology,
  grounds: TitleGrounds & { clusters: number },
): number | null {
  const { contested_questions: has } = grounds
  const takes = requirementsOf(methodology, grounds).certified.map((one) =>
    questionsToMeet(methodology, one, grounds),
  )
  const all = Math.max(...takes)
  return Number.isFinite(all) ? Math.max(0, Math.ceil(all) - has) : null
}

/** Returns the number of contested questions at which a requirement is met; infinity if it never is. */
function questionsToMeet(
  methodology: Methodology,
  { metric, has, needed, isMet }: Requirement,
  grounds: TitleGrounds & { clusters: number },
): number {
  const { contested_questions: questions, clusters } = grounds
  switch (metric) {
    case 'contested_questions':
      return needed
    case 'priced_questions':
      return (needed * questions) / has!
    case 'evidence':
      return has! > 0 ? (((clusters * needed) / has!) * questions) / clusters : Infinity
    case 'coverage':
    case 'skill':
    case 'median_skill':
    case 'market_skill':
      return isMet ? 0 : Infinity
    case 'skill_interval':
    case 'median_skill_interval':
    case 'market_skill_interval':
      return (clustersUntilAbove(methodology, grounds[metric], clusters) * questions) / clusters
  }
}

/**
 * Returns the least number m of clusters at which the lower end is above 0. If further clusters are like the
 * G so far, ΣX grows by m/G and √V by √(m/G), so m must satisfy skill · √(m/G) > h(m) · SE. The skill is the
 * middle of the interval, and SE = its half width / h(G).
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
