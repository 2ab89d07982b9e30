// The published numbers of one entity: skills, standing on its board and in its field, award (METHODOLOGY
// §3).
import { published } from './rounding.ts'
import {
  type PlainBadge,
  type PlainCertification,
  badgePlainly,
  certificationPlainly,
} from './certification.ts'
import { bySettlement, metricsPlainly } from './entity.ts'
import { fragilityPlainly } from './fragility.ts'
import type { Gains } from './gains.ts'
import {
  type PlainPercentile,
  type PlainRank,
  type Range,
  percentilePlainly,
  rankPlainly,
} from './ranking.ts'
import { type PlainSkill, alphaOf, intervalAt, publishedInterval, skillPlainly } from './skill.ts'
import type { WholePair } from './strength.ts'
import type { PlainEntityRecord, VoiceRule } from './voices.ts'

/** The circumstances of an entity, and its scored pairs. */
export interface Circumstances {
  pairs: readonly WholePair[]
  /** For each contested pair. */
  gains: ReadonlyMap<WholePair, Gains>
  voice: boolean
  /** In 1e-6. */
  strength: number
  pool: string | null
  pool_size: number | null
  owner_agents: number | null
  attempt: number | null
}

export type Unranked = ReturnType<typeof unrankedPlainly>

type Nulls<T> = { [name in keyof T]: T[name] | null }

export type PlainEntityScores = Unranked &
  Nulls<PlainRank> &
  Nulls<PlainPercentile> & { certification?: PlainCertification; badge?: PlainBadge }

const ELIGIBLE_QUESTIONS = 25
const BOARD_ALPHA = 0.05

const publishedOrNull = (x: number | null): number | null => (x === null ? null : published(x))

/** Numbers as published, under the names of the worked values; `metrics` unrounded. */
export function unrankedPlainly({ id, kind }: PlainEntityRecord, circumstances: Circumstances) {
  const { pairs, gains, voice, strength, pool, pool_size, owner_agents, attempt } = circumstances
  const settled = pairs.filter(({ pair }) => pair.settled).toSorted(bySettlement)
  const contested = settled.flatMap((pair) => gains.get(pair) ?? [])
  const over = skillPlainly(contested.map(({ standard }) => standard))
  const strict = skillPlainly(contested.map((gain) => gain.strict))
  const crowd = skillPlainly(contested.map((gain) => gain.crowd))
  const alpha = alphaOf(attempt)
  const metrics = metricsPlainly(
    settled.map((pair) => ({ ...pair, standard: gains.get(pair)?.standard ?? null })),
  )
  return {
    id,
    kind,
    voice,
    n: settled.length,
    n_c: contested.length,
    clusters: over.clusters,
    pool,
    pool_size,
    strength: published(strength / 1e6),
    attempt,
    level: published(1 - alpha),
    owner_agents,
    evidence: published(over.evidence),
    fragility: fragilityPlainly(contested, alpha),
    crowd_evidence: published(crowd.evidence),
    skill: publishedOrNull(over.skill),
    skill_interval: publishedInterval(intervalAt(alpha, over)),
    board_interval: contested.length < ELIGIBLE_QUESTIONS ? null : boardInterval(over),
    strict_skill_interval: publishedInterval(intervalAt(alpha, strict)),
    crowd_skill: publishedOrNull(crowd.skill),
    crowd_skill_interval: publishedInterval(intervalAt(alpha, crowd)),
    variances: over.variances,
    crowd_variances: crowd.variances,
    pending_questions: pairs.length - settled.length,
    witnessed_share: publishedOrNull(metrics.witnessed_share),
    coverage: publishedOrNull(metrics.coverage),
    closing_questions: metrics.closing_questions,
    conviction: publishedOrNull(metrics.conviction),
    conviction_gap: publishedOrNull(metrics.conviction_gap),
    metrics,
  }
}

/** At one level for all, so that the bars of a board mean the same. */
function boardInterval(skill: PlainSkill): Range | null {
  const interval = publishedInterval(intervalAt(BOARD_ALPHA, skill))
  return interval && { lower: interval.lower, upper: interval.upper }
}

/**
 * Adds an entity's standing among all entities of the world, and its award. `retired` has the ids of those that had
 * retired at `as_of`.
 */
export function rankedPlainly(
  own: Unranked,
  everyone: readonly Unranked[],
  rule: VoiceRule,
  retired: ReadonlySet<string>,
): PlainEntityScores {
  const eligible = everyone.filter(
    ({ kind, pool, n_c }) => kind === own.kind && pool === own.pool && n_c >= ELIGIBLE_QUESTIONS,
  )
  const board = eligible.filter(({ id }) => !retired.has(id))
  const field = eligible.filter((other) => other.voice || other.id === own.id)
  const scores = {
    ...own,
    ...(!board.some(({ id }) => id === own.id)
      ? { rank: null, rank_interval: null, percentile: null, percentile_interval: null }
      : {
          ...rankPlainly(board.map(ranked), ranked(own)),
          ...percentilePlainly(field.map(ranked), ranked(own)),
        }),
  }
  return own.kind === 'agent'
    ? { ...scores, certification: certificationPlainly(scores, rule) }
    : { ...scores, badge: badgePlainly(scores, rule) }
}

/** An eligible entity has a skill. */
const ranked = (entity: Unranked) => ({ ...entity, skill: entity.skill! })
