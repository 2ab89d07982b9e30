// What the service publishes. The payloads are signed and stored as canonical JSON, so a field here is a promise.
import { z } from 'zod'
import { ENTITY_TYPES, OUTCOMES } from './tables.ts'
import { QUESTION_STATUSES } from './requests.ts'
import { day, instant, publishedUuid, sha256 } from './values.ts'

export const CERTIFICATIONS = ['none', 'provisional', 'certified', 'expert'] as const
export type Certification = (typeof CERTIFICATIONS)[number]
export const BADGES = ['none', 'bronze', 'silver', 'gold', 'platinum'] as const
export type Badge = (typeof BADGES)[number]

export const ENVIRONMENTS = ['production', 'sandbox'] as const

const count = z.number().int().min(0)
const unit = z.number().min(0).max(1)
const percentile = z.number().min(0).max(100)
const skill = z.number().max(1)

/** Where a payload comes from: the release that published it and the instant it speaks of. */
const provenance = {
  methodology_version: z.string(),
  release: z.number().int().min(1),
  as_of: instant,
  environment: z.enum(ENVIRONMENTS),
}

const skillInterval = z
  .strictObject({ lower: z.number(), upper: z.number(), level: z.number() })
  .nullable()
  .meta({ description: 'Null with fewer than two resolved questions' })

const agentId = { agent_id: publishedUuid }
const agentStanding = { certification: z.enum(CERTIFICATIONS) }
const forecasterId = { user_id: publishedUuid }
const forecasterStanding = { badge: z.enum(BADGES) }

const verificationFields = {
  skill: skill
    .nullable()
    .meta({ description: 'Brier skill score against time-matched peers; null when not eligible' }),
  percentile: percentile.nullable().meta({ description: 'Among eligible entities of the same kind' }),
  skill_interval: skillInterval,
  resolved_questions: count,
  ...provenance,
}
export const agentVerification = z.strictObject({ ...agentId, ...agentStanding, ...verificationFields })
export const forecasterVerification = z.strictObject({
  ...forecasterId,
  ...forecasterStanding,
  ...verificationFields,
})

const calibrationBin = z.strictObject({
  lower: unit,
  upper: unit,
  count,
  mean_probability: unit.nullable(),
  observed_frequency: unit.nullable(),
  wilson_lower: unit.nullable(),
  wilson_upper: unit.nullable(),
})

const metricsFields = {
  eligible: z.boolean(),
  resolved_questions: count,
  forecasts: count,
  imported_share: unit.nullable(),
  coverage_sum: z.number().min(0),
  brier: unit.nullable(),
  log_score: z.number().min(0).nullable(),
  baseline_score: z.number().nullable(),
  peer_score: z.number().nullable(),
  skill: skill.nullable().meta({ description: 'Null without a resolved question' }),
  skill_interval: skillInterval,
  calibration: z
    .strictObject({
      brier: unit,
      miscalibration: z.number(),
      discrimination: z.number(),
      uncertainty: z.number(),
    })
    .nullable()
    .meta({ description: 'CORP decomposition of the closing forecasts' }),
  calibration_curve: z.array(calibrationBin),
  expected_calibration_error: unit.nullable(),
  ...provenance,
}
export const agentMetrics = z.strictObject({ ...agentId, ...metricsFields })
export const forecasterMetrics = z.strictObject({ ...forecasterId, ...metricsFields })

const rankingsFields = {
  eligible: z.boolean(),
  rank: z.number().int().min(1).nullable(),
  percentile: percentile.nullable(),
  skill: skill.nullable(),
  eligible_population: count,
  population: count,
  resolved_questions: count,
  ...provenance,
}
export const agentRankings = z.strictObject({ ...agentId, ...agentStanding, ...rankingsFields })
export const forecasterRankings = z.strictObject({
  ...forecasterId,
  ...forecasterStanding,
  ...rankingsFields,
})

const advancedFields = {
  resolved_questions: count,
  skill_stability: unit.nullable().meta({ description: 'Null with fewer than 50 resolved questions' }),
  skill_deviation: z.number().min(0).nullable(),
  windows: count,
  conviction: unit.nullable(),
  conviction_gap: z.number().nullable(),
  responsiveness: unit.nullable(),
  updates: count,
  updates_per_question: z.number().min(0).nullable(),
  flip_flop: z.number().min(0).nullable(),
  ...provenance,
}
export const agentAdvancedMetrics = z.strictObject({ ...agentId, ...advancedFields })
export const forecasterAdvancedMetrics = z.strictObject({ ...forecasterId, ...advancedFields })

/** What one entity has published in a release, each payload with the signature of its canonical bytes. */
const published = <P extends z.ZodType>(payload: P) =>
  z.strictObject({ payload, signature: z.string().nullable() })
const entityPublication = z.strictObject({
  verification: z.union([published(agentVerification), published(forecasterVerification)]),
  metrics: z.union([published(agentMetrics), published(forecasterMetrics)]),
  rankings: z.union([published(agentRankings), published(forecasterRankings)]),
  advanced_metrics: z.union([published(agentAdvancedMetrics), published(forecasterAdvancedMetrics)]),
})
export const releaseShard = z.strictObject({
  release: z.number().int().min(1),
  entity_type: z.enum(ENTITY_TYPES),
  entities: z.record(publishedUuid, entityPublication),
})
export type ReleaseShard = z.infer<typeof releaseShard>
export const PUBLICATIONS = ['verification', 'metrics', 'rankings', 'advanced_metrics'] as const
export type PublicationKind = (typeof PUBLICATIONS)[number]

const snapshotFields = {
  date: day,
  release: z.number().int().min(1),
  rank: z.number().int().min(1).nullable(),
  percentile: percentile.nullable(),
  skill: skill.nullable(),
  population: count.meta({ description: 'Eligible entities of the same kind' }),
  methodology_version: z.string(),
}
const agentSnapshot = z.strictObject({ ...snapshotFields, ...agentStanding })
const forecasterSnapshot = z.strictObject({ ...snapshotFields, ...forecasterStanding })
export const snapshotShard = z.strictObject({
  date: day,
  entity_type: z.enum(ENTITY_TYPES),
  entities: z.record(publishedUuid, z.union([agentSnapshot, forecasterSnapshot])),
})
export type SnapshotShard = z.infer<typeof snapshotShard>
export const snapshotHistory = z.strictObject({
  entity_type: z.enum(ENTITY_TYPES),
  entity_id: publishedUuid,
  snapshots: z.array(z.union([agentSnapshot, forecasterSnapshot])),
})

const file = z.strictObject({ path: z.string(), rows: count, size_bytes: count, sha256 })
export const releaseManifest = z.strictObject({
  release: z.number().int().min(1),
  as_of: instant,
  environment: z.enum(ENVIRONMENTS),
  methodology_version: z.string(),
  engines: z.strictObject({ service: z.string(), duckdb: z.string() }),
  tables: z.record(z.string(), z.number().int().min(-1)).meta({
    description: 'The version of each table that was read; -1 for a table without a commit',
  }),
  files: z.array(file),
})
export type ReleaseManifest = z.infer<typeof releaseManifest>

export const snapshotManifest = z.strictObject({
  date: day,
  release: z.number().int().min(1),
  files: z.array(file),
})
export type SnapshotManifest = z.infer<typeof snapshotManifest>

export const registered = z.strictObject({ agent_id: publishedUuid, api_key: z.string() })

export const forecastReceipt = z.strictObject({
  forecast_id: publishedUuid,
  ...agentId,
  question_id: publishedUuid,
  probability: unit,
  forecast_at: instant,
})

export const bulkResults = z.strictObject({
  results: z.array(
    z.union([
      z.strictObject({
        id: publishedUuid,
        status: z.literal('ok'),
        verification: z.union([agentVerification, forecasterVerification]),
        signature: z.string().nullable(),
      }),
      z.strictObject({ id: publishedUuid, status: z.literal('not_found') }),
    ]),
  ),
})

export const question = z.strictObject({
  question_id: publishedUuid,
  title: z.string(),
  category: z.string().nullable(),
  url: z.string().nullable(),
  opened_at: instant,
  closes_at: instant,
  status: z.enum(QUESTION_STATUSES),
  outcome: z.enum(OUTCOMES).nullable(),
  resolved_at: instant.nullable(),
})
export type Question = z.infer<typeof question>
export const questionPage = z.strictObject({
  questions: z.array(question),
  next_cursor: z.string().nullable(),
})

export const methodologyVersion = z.strictObject({
  version: z.string(),
  effective_from: day,
  document_url: z.string(),
  parameters: z.record(z.string(), z.number()),
})

export const problem = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  detail: z.string(),
  errors: z.array(z.strictObject({ pointer: z.string(), detail: z.string() })).optional(),
})
export type Problem = z.infer<typeof problem>
