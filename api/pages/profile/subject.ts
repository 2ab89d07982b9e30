// The subject of a profile: everything that the release publishes about one entity, and its scores by
// question.
import type { z } from 'zod'
import type { Methodology } from '../../../pipeline/scoring/methodology.ts'
import { profilePath } from '../../../schemas/entity-paths.ts'
import type * as schemas from '../../../schemas/payloads.ts'
import type { EntityType } from '../../../schemas/tables.ts'
import { titleOf, named } from '../wording.ts'
import { type Html, html } from '../html.ts'
import { type Site, linkTo } from '../site.ts'

interface AgentPayloads {
  verification: z.infer<typeof schemas.agentVerification>
  metrics: z.infer<typeof schemas.agentMetrics>
  rankings: z.infer<typeof schemas.agentRankings>
  advanced_metrics: z.infer<typeof schemas.agentAdvancedMetrics>
  profile: z.infer<typeof schemas.agentProfile>
}
interface ForecasterPayloads {
  verification: z.infer<typeof schemas.forecasterVerification>
  metrics: z.infer<typeof schemas.forecasterMetrics>
  rankings: z.infer<typeof schemas.forecasterRankings>
  advanced_metrics: z.infer<typeof schemas.forecasterAdvancedMetrics>
  /** The name is no part of what is signed. */
  profile: z.infer<typeof schemas.forecasterProfile> & { name: string | null }
}
export type Payloads = AgentPayloads | ForecasterPayloads

/** The numbers of the method. */
export type TitleRules = Methodology['parameters']

/** A row of the scores with the title of its question. */
export interface QuestionScore {
  question_id: string
  /** Null if the question is not in the tables. */
  title: string | null
  /** Null if it has none, or if the question is not in the tables. */
  category: string | null
  outcome: 'yes' | 'no'
  resolved_at: Date
  /** From when it counts; null until then. */
  settled_at: Date | null
  /** Whether it had closed too: only then it counts. */
  settled: boolean
  coverage: number
  brier: number
  /** Null where it was withdrawn. */
  closing_probability: number | null
  /** Whether it counts in the skill. */
  contested: boolean
  /** The share of the question’s life in which it was judged. */
  judged_coverage: number
  /** Its error over that time, in 1e-9 of the life, and that of the others’ average. */
  judged_brier: number
  average_brier: number
}

export function isAgent(payloads: Payloads): payloads is AgentPayloads {
  return 'agent_id' in payloads.verification
}

export function kindOf(payloads: Payloads): EntityType {
  return isAgent(payloads) ? 'agent' : 'forecaster'
}

export function idOf(payloads: Payloads): string {
  return isAgent(payloads) ? payloads.verification.agent_id : payloads.verification.user_id
}

export function awardOf(payloads: Payloads): ReturnType<typeof titleOf> {
  return titleOf(payloads.verification)
}

/** Returns when an agent retired; null while it takes part, and of a person. */
export function retiredAt({ profile }: Payloads): string | null {
  return 'retired_at' in profile ? profile.retired_at : null
}

/** How many questions with an outcome it has forecast, also those that have not closed. */
export function questionsOf({
  resolved_questions: settled,
  pending_questions: pending,
}: Payloads['verification']): number {
  return settled + pending
}

/** Returns the name for titles of pages; pages themselves use `headingOf`. */
export function plainName(payloads: Payloads): string {
  return payloads.profile.name ?? unnamed(kindOf(payloads), idOf(payloads))
}

export function headingOf(payloads: Payloads): Html {
  return shownName(kindOf(payloads), idOf(payloads), payloads.profile.name)
}

/** Shows the name of an entity, or the end of its id if it has none. */
export function shownName(entityType: EntityType, id: string, name: string | null): Html {
  return name === null ? html`${unnamed(entityType, id)}` : named(name)
}

/** Links to the profile of an entity by its name. */
export function entityLink(site: Site, entityType: EntityType, id: string, name: string | null): Html {
  return html`<a href="${linkTo(site, profilePath(entityType, id))}">${shownName(entityType, id, name)}</a>`
}

export function unnamed(entityType: EntityType, id: string): string {
  return `${entityType === 'agent' ? 'Agent' : 'Forecaster'} …${id.slice(-6)}`
}

/** Writes the level of an interval, as in 95 % and 98.33 %. */
export function levelOf({ level }: { level: number }): string {
  return `${Number((level * 100).toFixed(2))}\u00a0%`
}
