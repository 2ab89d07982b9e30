// Estimates what the next title of an agent takes, from its record so far.
import type { Certification } from '../../schemas/payloads.ts'
import type { Methodology } from './methodology.ts'
import { rounded } from './round.ts'
import { type CertificationGrounds, certificationOf } from './ranking.ts'
import { multiplier } from './skill.ts'

type Interval = CertificationGrounds['skill_interval']

export interface Outlook {
  title: Exclude<Certification, 'none'>
  /** The clause that says why the agent does not have the title yet. */
  because: string
  /** About how many more contested questions it takes; null where what was does not lead there. */
  questions: number | null
}

const NEXT = { none: 'provisional', provisional: 'certified', certified: 'expert', expert: null } as const
/** Farther ahead nothing is said. */
const MOST_CLUSTERS = 100_000

/** Returns the next title of an agent by its verification; null for an expert. */
export function outlookOf(methodology: Methodology, grounds: CertificationGrounds): Outlook | null {
  const { title: has, because } = certificationOf(methodology, grounds)
  const title = NEXT[has]
  return title && { title, because, questions: questionsUntil(methodology, title, grounds) }
}

function questionsUntil(
  methodology: Methodology,
  title: Outlook['title'],
  grounds: CertificationGrounds,
): number | null {
  const { parameters } = methodology
  const { contested_questions: has, clusters } = grounds
  if (title === 'provisional') return parameters.eligible_questions - has
  if (grounds.voice_rule === 'everyone') return null
  const above = (interval: Interval) => clustersUntilAbove(methodology, interval, clusters)
  const weighty = (evidence: number) =>
    evidence > 0 ? (clusters * parameters.least_evidence) / evidence : Infinity
  const needed =
    title === 'certified'
      ? [
          parameters.certified_clusters,
          weighty(grounds.evidence),
          above(grounds.skill_interval),
          above(grounds.strict_skill_interval),
        ]
      : [weighty(grounds.crowd_evidence), above(grounds.crowd_skill_interval)]
  const least = title === 'certified' ? parameters.certified_questions : parameters.expert_questions
  const all = Math.max(least, (Math.max(...needed) * has) / clusters)
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
