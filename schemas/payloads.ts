// What the service publishes. The payloads are signed and stored as canonical JSON, so a field here is a promise.
import { z } from 'zod'
import { ENTITY_TYPES, OUTCOMES } from './tables.ts'
import { QUESTION_STATUSES } from './requests.ts'
import { ENVIRONMENTS, day, instant, publishedUuid, sha256 } from './values.ts'

export const CERTIFICATIONS = ['none', 'provisional', 'certified', 'expert'] as const
export type Certification = (typeof CERTIFICATIONS)[number]
export const BADGES = ['none', 'bronze', 'silver', 'gold', 'platinum'] as const
export type Badge = (typeof BADGES)[number]

const count = z.number().int().min(0)
const unit = z.number().min(0).max(1)
const percentile = z.number().min(0).max(100)
const skill = z.number().max(1)

/** Where a payload comes from: the release that published it and the instant it speaks of. */
const provenance = {
  methodology_version: z.string().describe('Of the method that scored'),
  release: z.number().int().min(1).describe('The release that published this'),
  as_of: instant.describe('The instant that the release speaks of, UTC'),
  environment: z.enum(ENVIRONMENTS).describe('What the sandbox publishes is simulated and proves nothing'),
}

const skillInterval = z
  .strictObject({ lower: z.number(), upper: z.number(), level: z.number() })
  .nullable()
  .meta({ description: 'Null with fewer than two resolved questions' })

const agentId = { agent_id: publishedUuid }
const agentStanding = {
  certification: z
    .enum(CERTIFICATIONS)
    .describe('By resolved questions, skill and percentile; see the method'),
}
const forecasterId = { user_id: publishedUuid }
const forecasterStanding = { badge: z.enum(BADGES).describe('By percentile; see the method') }

const verificationFields = {
  skill: skill
    .nullable()
    .meta({ description: 'Brier skill score against time-matched peers; null when not eligible' }),
  percentile: percentile.nullable().meta({ description: 'Among eligible entities of the same kind' }),
  skill_interval: skillInterval,
  resolved_questions: count.describe('Questions with an outcome that were forecast'),
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
  count: count.describe('Closing forecasts in this bin'),
  mean_probability: unit.nullable().describe('Null in an empty bin'),
  observed_frequency: unit.nullable().describe('How often the outcome was yes'),
  wilson_lower: unit.nullable().describe('Wilson interval of the frequency, 95 %'),
  wilson_upper: unit.nullable().describe('Wilson interval of the frequency, 95 %'),
})

const metricsFields = {
  eligible: z.boolean().describe('Whether there are enough resolved questions to be ranked'),
  resolved_questions: count.describe('Questions with an outcome that were forecast'),
  forecasts: count.describe('On the resolved questions'),
  imported_share: unit.nullable().describe('Share of the forecasts that the operator imported'),
  coverage_sum: z
    .number()
    .min(0)
    .describe('Sum over the resolved questions of the share of their time that was covered'),
  brier: unit.nullable().describe('Brier score; lower is better'),
  log_score: z.number().min(0).nullable().describe('Logarithmic score in nats; lower is better'),
  baseline_score: z.number().nullable().describe('Higher is better; 0 is always one half'),
  peer_score: z.number().nullable().describe('Against the others at the same times; higher is better'),
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
  calibration_curve: z.array(calibrationBin).describe('Ten bins of equal width'),
  expected_calibration_error: unit.nullable().describe('Mean distance of the bins, by their counts'),
  ...provenance,
}
export const agentMetrics = z.strictObject({ ...agentId, ...metricsFields })
export const forecasterMetrics = z.strictObject({ ...forecasterId, ...metricsFields })

const rankingsFields = {
  eligible: z.boolean().describe('Whether there are enough resolved questions to be ranked'),
  rank: z.number().int().min(1).nullable().describe('1 is best; null when not eligible'),
  percentile: percentile.nullable().describe('Among eligible entities of the same kind'),
  skill: skill.nullable().describe('Null when not eligible'),
  eligible_population: count.describe('Eligible entities of the same kind'),
  population: count.describe('Entities of the same kind'),
  resolved_questions: count.describe('Questions with an outcome that were forecast'),
  ...provenance,
}
export const agentRankings = z.strictObject({ ...agentId, ...agentStanding, ...rankingsFields })
export const forecasterRankings = z.strictObject({
  ...forecasterId,
  ...forecasterStanding,
  ...rankingsFields,
})

const advancedFields = {
  resolved_questions: count.describe('Questions with an outcome that were forecast'),
  skill_stability: unit.nullable().meta({ description: 'Null with fewer than 50 resolved questions' }),
  skill_deviation: z.number().min(0).nullable().describe('Standard deviation of the skill over the windows'),
  windows: count.describe('Windows of consecutive questions'),
  conviction: unit.nullable().describe('0 is always one half, 1 is always certain'),
  conviction_gap: z.number().nullable().describe('Above 0 is overconfident'),
  responsiveness: unit.nullable().describe('Share of the movement that was toward the outcome'),
  updates: count.describe('Forecasts on a question after the first'),
  updates_per_question: z.number().min(0).nullable().describe('Mean over the questions'),
  flip_flop: z
    .number()
    .min(0)
    .nullable()
    .describe('How much forecasts moved back and forth; null without a question of three'),
  ...provenance,
}
export const agentAdvancedMetrics = z.strictObject({ ...agentId, ...advancedFields })
export const forecasterAdvancedMetrics = z.strictObject({ ...forecasterId, ...advancedFields })

const snapshotFields = {
  date: day,
  release: z.number().int().min(1).describe('The first release of the day'),
  rank: z.number().int().min(1).nullable().describe('1 is best; null when not eligible'),
  percentile: percentile.nullable().describe('Among eligible entities of the same kind'),
  skill: skill.nullable().describe('Null when not eligible'),
  population: count.meta({ description: 'Eligible entities of the same kind' }),
  methodology_version: z.string(),
}
const agentSnapshot = z.strictObject({ ...snapshotFields, ...agentStanding })
const forecasterSnapshot = z.strictObject({ ...snapshotFields, ...forecasterStanding })

const snapshotRow = z.union([agentSnapshot, forecasterSnapshot])

/** What one entity has published in a release, each payload with the signature of its canonical bytes. */
const published = <P extends z.ZodType>(payload: P) =>
  z.strictObject({ payload, signature: z.string().nullable() })
const entityPublication = z.strictObject({
  verification: z.union([published(agentVerification), published(forecasterVerification)]),
  metrics: z.union([published(agentMetrics), published(forecasterMetrics)]),
  rankings: z.union([published(agentRankings), published(forecasterRankings)]),
  advanced_metrics: z.union([published(agentAdvancedMetrics), published(forecasterAdvancedMetrics)]),
  snapshot: published(snapshotRow)
    .optional()
    .describe('In the release that brings the snapshot of its day, which is copied from here'),
})
export const releaseShard = z.strictObject({
  release: z.number().int().min(1),
  entity_type: z.enum(ENTITY_TYPES),
  entities: z.record(publishedUuid, entityPublication),
})
export type ReleaseShard = z.infer<typeof releaseShard>
export const PUBLICATIONS = ['verification', 'metrics', 'rankings', 'advanced_metrics'] as const
export type PublicationKind = (typeof PUBLICATIONS)[number]

export const snapshotShard = z.strictObject({
  date: day,
  entity_type: z.enum(ENTITY_TYPES),
  entities: z.record(publishedUuid, published(snapshotRow)),
})
export type SnapshotShard = z.infer<typeof snapshotShard>
export const snapshotHistory = z.strictObject({
  entity_type: z.enum(ENTITY_TYPES),
  entity_id: publishedUuid,
  snapshots: z.array(snapshotRow).describe('Oldest first'),
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

export const registered = z.strictObject({
  agent_id: publishedUuid,
  api_key: z.string().describe('A secret that is shown this once: send it as `Authorization: Bearer`'),
})

export const forecastReceipt = z.strictObject({
  forecast_id: publishedUuid,
  ...agentId,
  question_id: publishedUuid,
  probability: unit.describe('As it is held: six decimals'),
  forecast_at: instant.describe('When the service received it, UTC'),
})

export const bulkResults = z.strictObject({
  results: z.array(
    z.union([
      z.strictObject({
        id: publishedUuid,
        status: z.literal('ok'),
        verification: z.union([agentVerification, forecasterVerification]),
        signature: z
          .string()
          .nullable()
          .describe('Of the canonical bytes of `verification`; null where signing is off'),
      }),
      z.strictObject({ id: publishedUuid, status: z.literal('not_found') }),
    ]),
  ),
})

export const question = z.strictObject({
  question_id: publishedUuid,
  title: z.string(),
  category: z.string().nullable(),
  url: z.string().nullable().describe('Where the question is explained'),
  opened_at: instant.describe('Forecasts are taken from this instant on, UTC'),
  closes_at: instant.describe('Forecasts are taken before this instant, UTC'),
  status: z.enum(QUESTION_STATUSES),
  outcome: z.enum(OUTCOMES).nullable().describe('Null until it is resolved'),
  resolved_at: instant.nullable(),
})
export type Question = z.infer<typeof question>
export const questionPage = z.strictObject({
  questions: z.array(question),
  next_cursor: z.string().nullable().describe('For the next page; null on the last one'),
})

export const methodologyVersion = z.strictObject({
  version: z.string(),
  effective_from: day,
  document_url: z.string().describe('Where the method is written, relative to this server'),
  parameters: z.record(z.string(), z.number()).describe('By name; the method says what each does'),
})

export const problem = z.strictObject({
  type: z.string().describe('`about:blank` where the status says it all'),
  title: z.string(),
  status: z.number().int().describe('As the status of the answer'),
  detail: z.string().describe('What was wrong with this request and what to do'),
  errors: z
    .array(
      z.strictObject({
        pointer: z.string().describe('JSON Pointer (RFC 6901) into the path, query or body'),
        detail: z.string(),
      }),
    )
    .optional()
    .describe('Every value that is not valid'),
  'violated-policies': z
    .array(z.string())
    .optional()
    .meta({ description: 'The quota policies that were gone past, at 429' }),
})
export type Problem = z.infer<typeof problem>
