// Makes the payloads of each entity from the catalogue of metrics.
import { type FactName, type HeldFacts, publishedFact, publishedFacts } from '../../schemas/entity-facts.ts'
import { type PublicationKind, PUBLICATIONS } from '../../schemas/metric.ts'
import { type EntityMetricName, type EntityMetrics, metricsIn } from '../../schemas/metrics.ts'
import { LISTED_METRICS, type Title, type VoiceRule } from '../../schemas/payloads.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import type { Environment } from '../../schemas/values.ts'
import type { ScoredEntity } from '../engine/duckdb-engine.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { membersInOrder } from '../proof/canonical.ts'
import { type Boards, type Ranked, boardsOf, rankIn, tallyOf } from '../scoring/ranking.ts'
import { rounded } from '../scoring/round.ts'
import { decideTitle } from '../scoring/title.ts'

/** The release's facts in every payload. */
export interface Provenance {
  methodology_version: string
  release: number
  as_of: string
  environment: Environment
}

export interface RankedEntity extends Omit<ScoredEntity, 'scores'> {
  /** Published values, rounded to six decimals. */
  metrics: EntityMetrics
  award: { certification: Title } | { badge: Title }
}

/** The facts about an entity in leaderboards and files of owners. */
export interface ListedEntity extends Pick<
  RankedEntity,
  'entityType' | 'entityId' | 'facts' | 'pairs' | 'award'
> {
  metrics: Pick<EntityMetrics, 'eligible' | (typeof LISTED_METRICS)[number]>
  listing: Pick<RankedEntity['listing'], 'trend'>
}

/** Whether an entity is in lists. An agent without a name is hidden. */
export function isListed({ entityType, facts }: Pick<RankedEntity, 'entityType' | 'facts'>): boolean {
  return entityType === 'forecaster' || facts.name !== null
}

export function asListed(entity: RankedEntity): ListedEntity {
  const { entityType, entityId, facts, pairs, award } = entity
  const names = ['eligible', ...LISTED_METRICS] as const
  const values = names.map((metric) => [metric, entity.metrics[metric]])
  const metrics = Object.fromEntries(values) as ListedEntity['metrics']
  const { trend } = entity.listing
  return { entityType, entityId, facts, pairs, award, metrics, listing: { trend } }
}

/** Ranks the entities of one kind among each other. */
export function rankEntities(
  methodology: Methodology,
  voice_rule: VoiceRule,
  entities: readonly ScoredEntity[],
): RankedEntity[] {
  const published = entities.map((entity) => ({
    ...entity,
    scores: publishedForm(entity.scores),
    listing: publishedForm(entity.listing),
  }))
  const boards = boardsOf(tallyOf(published.map(standingOf)))
  return published.map((entity) => rankAmong(methodology, voice_rule, boards, entity))
}

function standingOf({ facts, scores }: ScoredEntity): Ranked {
  return { isRetired: facts.retired_at !== null, scores }
}

/** Ranks an entity whose scores are in their published form. */
export function rankAmong(
  methodology: Methodology,
  voice_rule: VoiceRule,
  boards: Boards,
  entity: ScoredEntity,
): RankedEntity {
  const { scores, ...named } = entity
  const metrics: EntityMetrics = { ...scores, ...rankIn(boards, standingOf(entity)) }
  const { title } = decideTitle(methodology, { ...metrics, voice_rule })
  const award = named.entityType === 'agent' ? { certification: title } : { badge: title }
  return { ...named, metrics, award }
}

/**
 * Rounds to six decimals, and puts the names inside each metric in canonical order, so that payloads are
 * written fastest.
 */
export function publishedForm<Numbers extends object>(numbers: Numbers): Numbers {
  const copy = { ...numbers } as Record<string, unknown>
  for (const name in copy) copy[name] = roundedIn(copy[name])
  return copy as Numbers
}

function roundedIn(value: unknown): unknown {
  if (typeof value === 'number') return rounded(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(roundedIn)
  const copy = membersInOrder(value as Record<string, unknown>)
  for (const name in copy) copy[name] = roundedIn(copy[name])
  return copy
}

const METRICS_IN = Object.fromEntries(
  ENTITY_TYPES.map((type) => [type, new Map(PUBLICATIONS.map((kind) => [kind, metricsIn(kind, type)]))]),
) as Record<EntityType, Map<PublicationKind, EntityMetricName[]>>
/** The payloads with the title. */
const AWARDED_KINDS = new Set<PublicationKind>(['verification', 'rankings'])

/** Returns the member that names the entity in a payload. */
export function idMember({
  entityType,
  entityId,
}: Pick<RankedEntity, 'entityType' | 'entityId'>): { agent_id: string } | { user_id: string } {
  return entityType === 'agent' ? { agent_id: entityId } : { user_id: entityId }
}

/** Returns all payloads of an entity that a release publishes. */
export function payloadsOf(
  entity: RankedEntity,
  voice_rule: VoiceRule,
  provenance: Provenance,
): Record<PublicationKind | 'profile', Record<string, unknown>> {
  const { entityType, facts, metrics } = entity
  const payload = (kind: PublicationKind) => ({
    ...idMember(entity),
    ...(AWARDED_KINDS.has(kind) ? entity.award : {}),
    ...publishedFacts(kind, entityType, facts),
    ...Object.fromEntries(METRICS_IN[entityType].get(kind)!.map((metric) => [metric, metrics[metric]])),
    ...(kind === 'verification' ? { voice_rule } : {}),
    ...provenance,
  })
  const payloads = PUBLICATIONS.map((kind) => [kind, payload(kind)])
  return {
    ...(Object.fromEntries(payloads) as Record<PublicationKind, Record<string, unknown>>),
    profile: { ...idMember(entity), ...publishedFacts('profile', entityType, facts), ...provenance },
  }
}

/** Returns these facts of an agent; nothing for a person, because names of people can be taken back. */
export function agentFacts(
  { entityType, facts }: { entityType: EntityType; facts: HeldFacts },
  names: readonly FactName[],
): Record<string, string | number | null> {
  if (entityType !== 'agent') return {}
  return Object.fromEntries(names.map((name) => [name, publishedFact(facts, name)]))
}
