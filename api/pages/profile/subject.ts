// The subject of a profile: everything that the release publishes about one entity, and its scores by
// question.
import type { z } from 'zod'
import type * as payloads from '../../../schemas/payloads.ts'
import type { EntityType } from '../../../schemas/tables.ts'
import { titleOf } from '../award.ts'
import { type Html, html } from '../html.ts'
import { named } from '../wording.ts'

interface AgentPayloads {
  verification: z.infer<typeof payloads.agentVerification>
  metrics: z.infer<typeof payloads.agentMetrics>
  rankings: z.infer<typeof payloads.agentRankings>
  advanced_metrics: z.infer<typeof payloads.agentAdvancedMetrics>
  profile: z.infer<typeof payloads.agentProfile>
}
interface ForecasterPayloads {
  verification: z.infer<typeof payloads.forecasterVerification>
  metrics: z.infer<typeof payloads.forecasterMetrics>
  rankings: z.infer<typeof payloads.forecasterRankings>
  advanced_metrics: z.infer<typeof payloads.forecasterAdvancedMetrics>
  profile: z.infer<typeof payloads.forecasterProfile>
}
export type Payloads = AgentPayloads | ForecasterPayloads

/** The numbers of the method that pages mention. */
export interface TitleRules {
  eligible_questions: number
  certified_questions: number
  certified_clusters: number
  expert_questions: number
  contest_voices: number
  bronze_percentile: number
  silver_percentile: number
  gold_percentile: number
  platinum_percentile: number
}

/** A row of the scores with the title of its question. */
export interface QuestionScore {
  question_id: string
  /** Null if the question is not in the tables. */
  title: string | null
  outcome: 'yes' | 'no'
  resolved_at: Date
  coverage: number
  brier: number
  closing_probability: number
  /** Coverage times the squared error of a middle field, in whole 1e-9; null if the pair is not contested. */
  standard_reference: number | null
}

export function isAgent(of: Payloads): of is AgentPayloads {
  return 'agent_id' in of.verification
}

export function kindOf(of: Payloads): EntityType {
  return isAgent(of) ? 'agent' : 'forecaster'
}

export function idOf(of: Payloads): string {
  return isAgent(of) ? of.verification.agent_id : of.verification.user_id
}

export function awardOf(of: Payloads): ReturnType<typeof titleOf> {
  return titleOf(of.verification)
}

/**
 * Returns the path of an entity's profile in the API; the paths of other calls about the entity begin with
 * it.
 */
export function callPath(entityType: EntityType, id: string): string {
  return entityType === 'agent' ? `/agents/${id}` : `/forecaster/${id}`
}

/** Returns the name for titles of pages; pages themselves use `headingOf`. */
export function plainName(of: Payloads): string {
  return of.profile.name ?? unnamed(kindOf(of), idOf(of))
}

export function headingOf(of: Payloads): Html {
  const { name } = of.profile
  return name === null ? html`${unnamed(kindOf(of), idOf(of))}` : named(name)
}

export function unnamed(entityType: EntityType, id: string): string {
  return `${entityType === 'agent' ? 'Agent' : 'Forecaster'} …${id.slice(-6)}`
}

/** Writes the level of an interval, as in 95 % and 98.33 %. */
export function levelOf({ level }: { level: number }): string {
  return `${Number((level * 100).toFixed(2))}\u00a0%`
}
