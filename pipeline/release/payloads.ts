// What a release says of each entity: its payloads, from the catalogue of metrics.
import { type PublicationKind, PUBLICATIONS } from '../../schemas/metric.ts'
import { type EntityMetrics, metricsIn } from '../../schemas/metrics.ts'
import type { Badge, Certification } from '../../schemas/payloads.ts'
import type { Environment } from '../../schemas/values.ts'
import type { ScoredEntity } from '../engine/duckdb-engine.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { badgeOf, certificationOf, rankedSkill, standingIn, tallyOf } from '../scoring/ranking.ts'
import { rounded } from '../scoring/round.ts'

/** What every payload of a release says of the release itself. */
export interface Provenance {
  methodology_version: string
  release: number
  as_of: string
  environment: Environment
}

export interface RankedEntity extends Omit<ScoredEntity, 'scores'> {
  /** As they are published: every number with six decimals. */
  metrics: EntityMetrics
  award: { certification: Certification } | { badge: Badge }
}

/** Ranks the entities of one kind among each other. */
export function rankEntities(methodology: Methodology, entities: readonly ScoredEntity[]): RankedEntity[] {
  const tally = tallyOf(entities.map(({ scores }) => rankedSkill(scores)))
  return entities.map((entity) => {
    const { scores, ...named } = entity
    const standing = standingIn(tally, rankedSkill(scores))
    const award =
      entity.entityType === 'agent'
        ? { certification: certificationOf(methodology, scores, standing) }
        : { badge: badgeOf(methodology, scores, standing) }
    return { ...named, metrics: publishedForm({ ...scores, ...standing }), award }
  })
}

function publishedForm<T>(value: T): T
function publishedForm(value: unknown): unknown {
  if (typeof value === 'number') return rounded(value)
  if (Array.isArray(value)) return value.map((item: unknown) => publishedForm(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, publishedForm(part)]))
}

const METRICS_IN = new Map(PUBLICATIONS.map((kind) => [kind, metricsIn(kind)]))
/** What says how an entity stands says nothing of a skill by which it is not ranked. */
const STANDINGS = new Set<PublicationKind>(['verification', 'rankings'])

/** How a payload names its entity. */
export function nameOf({ entityType, entityId }: RankedEntity): { agent_id: string } | { user_id: string } {
  return entityType === 'agent' ? { agent_id: entityId } : { user_id: entityId }
}

export function payloadsOf(entity: RankedEntity, provenance: Provenance): Record<PublicationKind, object> {
  const name = nameOf(entity)
  const { metrics } = entity
  const ranked: EntityMetrics = { ...metrics, skill: rankedSkill(metrics) }
  const payload = (kind: PublicationKind) => {
    const isStanding = STANDINGS.has(kind)
    const values = isStanding ? ranked : metrics
    return {
      ...name,
      ...(isStanding ? entity.award : {}),
      ...Object.fromEntries(METRICS_IN.get(kind)!.map((metric) => [metric, values[metric]])),
      ...provenance,
    }
  }
  const payloads = PUBLICATIONS.map((kind) => [kind, payload(kind)])
  return Object.fromEntries(payloads) as Record<PublicationKind, object>
}
