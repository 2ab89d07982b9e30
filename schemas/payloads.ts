// The payloads that the service publishes. They are signed and stored as canonical JSON, so every field is a
// promise.
import { z } from 'zod'
import { count } from './metric.ts'
import { ENTITY_METRICS, fieldsOf } from './metrics.ts'
import { ENTITY_TYPES, OUTCOMES } from './tables.ts'
import { ENVIRONMENTS, base64Hash, day, instant, publishedUuid, sha256 } from './values.ts'

export const CERTIFICATIONS = ['none', 'provisional', 'certified', 'expert'] as const
export type Certification = (typeof CERTIFICATIONS)[number]
export const BADGES = ['none', 'bronze', 'silver', 'gold', 'platinum'] as const
export type Badge = (typeof BADGES)[number]

/**
 * The rule by which entities are voices: the ones that METHODOLOGY §1 names, by recorded facts, or everyone
 * if those are too few.
 */
export const VOICE_RULES = ['recorded', 'everyone'] as const
export type VoiceRule = (typeof VOICE_RULES)[number]
export const voiceRule = z
  .enum(VOICE_RULES)
  .describe(
    'Whom entities are measured against: `recorded` is people and the first agent of each recorded owner, `everyone` is all, ' +
      'because the former are fewer than six, and then nothing above `provisional` or `bronze` is awarded',
  )

export const environmentName = z
  .enum(ENVIRONMENTS)
  .describe('Everything in the sandbox is simulated and proves nothing')
export const entityType = z.enum(ENTITY_TYPES).describe('Agents are machines, forecasters people')

/** The origin of a payload: its release, instant, method and environment. */
export const provenance = {
  methodology_version: z.string().describe('The version of the method that computed the scores'),
  release: z.number().int().min(1).describe('The release that published this'),
  as_of: instant.describe('The instant that the release describes, UTC'),
  environment: environmentName,
}

const agentId = { agent_id: publishedUuid }
export const certification = z
  .enum(CERTIFICATIONS)
  .describe('By contested questions, their clusters and the ends of the intervals; see the method')
const agentAward = { certification }
const forecasterId = { user_id: publishedUuid }
export const badge = z.enum(BADGES).describe('By percentile and interval; see the method')
const forecasterAward = { badge }

const agentNamed = { ...agentId, ...agentAward }
const forecasterNamed = { ...forecasterId, ...forecasterAward }

const lastForecastAt = instant.nullable().describe('When it last made a forecast; null if never')
/** The facts of an agent that its record shows, as registered or as the operator recorded them. */
const agentFacts = {
  name: z.string().describe('As registered: a claim'),
  model_type: z.string().describe('As registered: a claim'),
  owner_id: z.string().nullable().describe('Who answers for it, as the operator has recorded it'),
  retired_at: instant.nullable().describe('When it was retired; null while it takes part'),
}

export const agentVerification = z.strictObject({
  ...agentNamed,
  ...agentFacts,
  last_forecast_at: lastForecastAt,
  ...fieldsOf('verification', 'agent'),
  voice_rule: voiceRule,
  ...provenance,
})
export const forecasterVerification = z.strictObject({
  ...forecasterNamed,
  last_forecast_at: lastForecastAt,
  ...fieldsOf('verification', 'forecaster'),
  voice_rule: voiceRule,
  ...provenance,
})
export const agentMetrics = z.strictObject({ ...agentId, ...fieldsOf('metrics', 'agent'), ...provenance })
export const forecasterMetrics = z.strictObject({
  ...forecasterId,
  ...fieldsOf('metrics', 'forecaster'),
  ...provenance,
})
export const agentRankings = z.strictObject({
  ...agentNamed,
  ...fieldsOf('rankings', 'agent'),
  ...provenance,
})
export const forecasterRankings = z.strictObject({
  ...forecasterNamed,
  ...fieldsOf('rankings', 'forecaster'),
  ...provenance,
})
export const agentAdvancedMetrics = z.strictObject({
  ...agentId,
  ...fieldsOf('advanced_metrics', 'agent'),
  ...provenance,
})
export const forecasterAdvancedMetrics = z.strictObject({
  ...forecasterId,
  ...fieldsOf('advanced_metrics', 'forecaster'),
  ...provenance,
})

/** The activity of an entity up to `as_of`. */
const activity = {
  last_forecast_at: lastForecastAt,
  open_forecasts: count.describe('Open questions on which it has a forecast'),
  next_close_at: instant.nullable().describe('When the first of these closes; null without one'),
}
export const agentProfile = z.strictObject({
  ...agentId,
  ...agentFacts,
  organization_name: z.string().nullable().describe('As registered: a claim'),
  registered_at: instant,
  ...activity,
  ...provenance,
})
export const forecasterProfile = z.strictObject({
  ...forecasterId,
  name: z.string().nullable().describe('As imported: a claim'),
  ...activity,
  ...provenance,
})

const snapshot = {
  date: day,
  release: z.number().int().min(1).describe('The first release of the day'),
  rank: ENTITY_METRICS.rank.schema,
  rank_interval: ENTITY_METRICS.rank_interval.schema,
  percentile: ENTITY_METRICS.percentile.schema,
  skill: ENTITY_METRICS.skill.schema,
  skill_interval: ENTITY_METRICS.skill_interval.schema,
  resolved_questions: ENTITY_METRICS.resolved_questions.schema,
  contested_questions: ENTITY_METRICS.contested_questions.schema,
  population: ENTITY_METRICS.field_size.schema,
  methodology_version: provenance.methodology_version,
  environment: provenance.environment,
}
export const agentSnapshot = z.strictObject({ ...agentNamed, ...snapshot })
export const forecasterSnapshot = z.strictObject({ ...forecasterNamed, ...snapshot })
export const snapshotRow = z.union([agentSnapshot, forecasterSnapshot])

/** A payload with the signature of its canonical bytes. */
const published = <P extends z.ZodType>(payload: P) =>
  z.strictObject({ payload, signature: z.string().nullable() })
const entityPublication = z.strictObject({
  verification: z.union([published(agentVerification), published(forecasterVerification)]),
  metrics: z.union([published(agentMetrics), published(forecasterMetrics)]),
  rankings: z.union([published(agentRankings), published(forecasterRankings)]),
  advanced_metrics: z.union([published(agentAdvancedMetrics), published(forecasterAdvancedMetrics)]),
  profile: z.union([published(agentProfile), published(forecasterProfile)]),
  snapshot: published(snapshotRow)
    .optional()
    .describe('In the release that brings the snapshot of its day, which is copied from here'),
})
export const releaseShard = z.strictObject({
  release: z.number().int().min(1),
  entity_type: entityType,
  entities: z.record(publishedUuid, entityPublication),
})
export type ReleaseShard = z.infer<typeof releaseShard>

const skill = ENTITY_METRICS.skill.schema
export const ownedAgent = z.strictObject({
  ...agentId,
  name: z.string().describe('As registered: a claim'),
  ...agentAward,
  skill: skill.describe('Null for an agent that is not eligible'),
  retired_at: instant.nullable(),
})
export const owner = z.strictObject({
  owner_id: z.string().describe('Who answers for the agents, as the operator has recorded it'),
  agents: z
    .array(ownedAgent)
    .describe('Every agent that the owner ever registered, retired ones too, in order of id'),
  scored_agents: count.describe('Agents with a scored question'),
  certified: count.describe('Agents that are certified or expert'),
  best_skill: skill.describe('Of the eligible agents; null without one'),
  median_skill: skill.describe('The lower median of the eligible agents; null without one'),
  ...provenance,
})
export const ownerShard = z.strictObject({
  release: z.number().int().min(1),
  owners: z.array(published(owner)).describe('In order of id'),
})
export type OwnerShard = z.infer<typeof ownerShard>

const ranked = {
  rank: ENTITY_METRICS.rank.schema,
  rank_interval: ENTITY_METRICS.rank_interval.schema,
  skill,
  skill_interval: ENTITY_METRICS.skill_interval.schema,
  board_interval: ENTITY_METRICS.board_interval.schema,
  pool: ENTITY_METRICS.pool.schema,
  pool_size: ENTITY_METRICS.pool_size.schema,
  contested_questions: ENTITY_METRICS.contested_questions.schema,
  peer_score: ENTITY_METRICS.peer_score.schema,
  brier: ENTITY_METRICS.brier.schema,
}
export const agentEntry = z.strictObject({ ...agentNamed, name: agentProfile.shape.name, ...ranked })
export const forecasterEntry = z.strictObject({
  ...forecasterNamed,
  name: forecasterProfile.shape.name,
  ...ranked,
})
const leaderboardEntry = z.union([agentEntry, forecasterEntry])
export const leaderboardFile = z.strictObject({
  ...provenance,
  entity_type: entityType,
  entries: z
    .array(leaderboardEntry)
    .describe(
      'The ranked by pool, the largest first, and by rank; then the others by their number of contested questions',
    ),
})
export type LeaderboardFile = z.infer<typeof leaderboardFile>
const pieceOfFile = z.strictObject({ size_bytes: count, sha256 })
export const rowGroupsFile = z
  .strictObject({
    row_groups: z.array(pieceOfFile).describe('The first one begins with the file'),
    footer: pieceOfFile.describe('All that follows the last row group'),
  })
  .describe('The pieces of a part of the scores, in order and without a gap: together they are the file')
export type RowGroupsFile = z.infer<typeof rowGroupsFile>
export type PieceOfFile = z.infer<typeof pieceOfFile>

export const snapshotShard = z.strictObject({
  date: day,
  entity_type: entityType,
  entities: z.record(publishedUuid, published(snapshotRow)),
})
export type SnapshotShard = z.infer<typeof snapshotShard>
export const manifestFile = z.strictObject({
  path: z.string(),
  rows: count,
  size_bytes: count,
  sha256,
  entity_type: z
    .enum(ENTITY_TYPES)
    .optional()
    .describe('The kind of entity in the part; only for parts of the scores and of the entities'),
  first_entity_id: publishedUuid
    .optional()
    .describe('The first entity in the part; only for parts of the scores and of the entities'),
  first_owner_id: z.string().optional().describe('The first owner in the file; only for files of owners'),
})
export const releaseCounts = z.strictObject({
  agents: count.describe('Agents that had registered'),
  forecasters: count.describe('People whose forecasts were imported, or who were imported by name'),
  scored_questions: count.describe('Questions whose outcome was known to be yes or no'),
  forecasts: count.describe('All forecasts, each id once, also those that count for nothing or not yet'),
})
export type ReleaseCounts = z.infer<typeof releaseCounts>
const releaseQuestions = z
  .strictObject({
    open: count.describe('They took forecasts'),
    overdue: count.describe('They had closed, and no outcome was known'),
    annulled: count,
    early: count.describe('Their outcome was known before their close, which had not come'),
    own_events: count.describe('Their event has no other question'),
    shared_events: count,
    no_events: count.describe('Without an event their cluster is the week of their close'),
  })
  .describe('The questions by their state at `as_of`, and by their events')

export const supersededOutcome = z.strictObject({
  question_id: publishedUuid,
  from: z
    .strictObject({ outcome: z.enum(OUTCOMES).extract(['yes', 'no']), resolved_at: instant })
    .describe('By which the release before this one scored'),
  to: z
    .strictObject({ outcome: z.enum(OUTCOMES), resolved_at: instant })
    .describe(
      'As the tables have it now; it scores if it is yes or no and `resolved_at` is not after `as_of`. ' +
        '`open`: it was withdrawn at `resolved_at`, and the question is unresolved',
    ),
})
export type SupersededOutcome = z.infer<typeof supersededOutcome>

/** An object of the store that an operator has moved aside because it cannot be read. */
export const quarantinedObject = z.strictObject({
  key: z.string().describe('Where it was in the store'),
  at: instant.describe('When it was moved aside'),
  reason: z.string().describe('Why, as the operator says'),
  size_bytes: count.nullable().describe('As it was found; null if it was gone'),
  sha256: sha256.nullable().describe('As it was found; null if it was gone'),
  rows: count.nullable().describe('As its own footer says; null if that cannot be read, or if it has none'),
  version: count
    .nullable()
    .describe('The version of its table that was about to take it in and was given up; null if none was'),
  forecast_ids: z
    .array(publishedUuid)
    .optional()
    .describe(
      'Of forecasts that came by the API: their ids, as far as they can be read; damage may have changed them. Absent where none can',
    ),
})
export type QuarantinedObject = z.infer<typeof quarantinedObject>

const root = base64Hash.describe('The root of a Merkle tree of RFC 6962, in Base64')
export const tree = z.strictObject({ root, size: count.describe('How many leaves it has') })
export const payloadTree = tree.extend({
  shards: z.array(root).describe('Those of the subtrees of its shards, in the order of `files`'),
})
/** A tree is null if it would have no leaf. */
export const releaseTrees = z.strictObject({
  agent: payloadTree.nullable().describe('Over the payloads of agents'),
  forecaster: payloadTree.nullable().describe('Over the payloads of forecasters'),
  forecasts: tree
    .nullable()
    .describe('Over the forecasts that came by the API and that no earlier release has in its tree'),
})
export type ReleaseTrees = z.infer<typeof releaseTrees>
export const inputFile = z.strictObject({
  table: z.string(),
  path: z.string(),
  rows: count,
  size_bytes: count,
  sha256,
})
export type InputFile = z.infer<typeof inputFile>
export const carriedFile = z.strictObject({
  release: z.number().int().min(1).describe('The release that made it'),
  path: z.string().describe('Inside that release'),
  rows: count,
  size_bytes: count,
  sha256,
})
export type CarriedFile = z.infer<typeof carriedFile>

export const releaseManifest = z.strictObject({
  release: z.number().int().min(1),
  as_of: instant,
  environment: environmentName,
  methodology_version: z.string(),
  voice_rule: voiceRule.optional(),
  engines: z.strictObject({ service: z.string(), duckdb: z.string() }),
  tables: z.record(z.string(), z.number().int().min(-1)).meta({
    description: 'The version of each table that was read; -1 for a table without a commit',
  }),
  counts: releaseCounts,
  // Releases by version 2 of the method lack them.
  questions: releaseQuestions.optional(),
  pools: count
    .optional()
    .describe('Pools with an eligible entity; entities of different pools are not ranked together'),
  next_change_at: instant
    .nullable()
    .optional()
    .describe(
      'When a question settles, or an outcome becomes known, without any new row; null if nothing will',
    ),
  superseded: z
    .array(supersededOutcome)
    .describe(
      'Outcomes that the release before this one scored by and that have changed since, by question_id',
    ),
  quarantined: z
    .array(quarantinedObject)
    .describe('All objects that had been moved aside when the release was planned, by key'),
  files: z.array(manifestFile),
  // Releases that an earlier version made lack the optional fields below.
  trees: releaseTrees.optional().describe('What the release commits to, each leaf by its hash'),
  inputs: z
    .array(inputFile)
    .optional()
    .describe(
      'The data files of the tables that no earlier release names, by table and in the order of its log',
    ),
  carried: z
    .array(carriedFile)
    .optional()
    .describe(
      'Private files with the pairs that the next release may build on: of each question those of the newest release count',
    ),
  snapshot_sha256: sha256
    .nullable()
    .optional()
    .describe(
      'Of the manifest of the snapshot that the release brings; null where an earlier release has brought its day’s',
    ),
})
export type ManifestFile = z.infer<typeof manifestFile>
export type ReleaseManifest = z.infer<typeof releaseManifest>

export const snapshotManifest = z.strictObject({
  date: day,
  release: z.number().int().min(1),
  files: z.array(manifestFile),
})
export type SnapshotManifest = z.infer<typeof snapshotManifest>
