// The payloads that the service publishes. They are signed and stored as canonical JSON, so every field is a
// promise.
import { z } from 'zod'
import { ENTITY_FACTS, factFields } from './entity-facts.ts'
import { count } from './metric.ts'
import { ENTITY_METRICS, type EntityMetricName, fieldsOf, metricFields } from './metrics.ts'
import { ENTITY_TYPES } from './tables.ts'
import { ENVIRONMENTS, day, instant, publishedUuid, sha256 } from './values.ts'

/** The certification of an agent, the badge of a forecaster. */
export const TITLES = ['none', 'measured', 'certified'] as const
export type Title = (typeof TITLES)[number]

/**
 * The rule by which entities are voices: the ones that METHODOLOGY §1 names, by recorded facts, or everyone
 * if those are too few.
 */
export const VOICE_RULES = ['recorded', 'everyone'] as const
export type VoiceRule = (typeof VOICE_RULES)[number]
export const voiceRule = z
  .enum(VOICE_RULES)
  .describe(
    'Whom entities are measured against: `recorded` is people and the first agent of each owner that the operator recorded, `everyone` is all, ' +
      'because the former are fewer than six, and then a title takes a market’s price on 50 questions',
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
export const title = z
  .enum(TITLES)
  .describe(
    '`measured` is a skill with an interval and a place, and nothing proved; `certified` says that its errors were smaller than those of ' +
      'the average and of the median of all others, and than the market’s price; see the method',
  )
const agentAward = { certification: title }
const forecasterId = { user_id: publishedUuid }
const forecasterAward = { badge: title }

const agentNamed = { ...agentId, ...agentAward }
const forecasterNamed = { ...forecasterId, ...forecasterAward }

export const agentVerification = z.strictObject({
  ...agentNamed,
  ...factFields('verification', 'agent'),
  ...fieldsOf('verification', 'agent'),
  voice_rule: voiceRule,
  ...provenance,
})
export const forecasterVerification = z.strictObject({
  ...forecasterNamed,
  ...factFields('verification', 'forecaster'),
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
  ...factFields('rankings', 'agent'),
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

export const agentProfile = z.strictObject({ ...agentId, ...factFields('profile', 'agent'), ...provenance })
export const forecasterProfile = z.strictObject({
  ...forecasterId,
  ...factFields('profile', 'forecaster'),
  ...provenance,
})

const snapshot = {
  date: day,
  release: z.number().int().min(1).describe('The first release of the day'),
  ...metricFields([
    'rank',
    'rank_interval',
    'percentile',
    'skill',
    'skill_interval',
    'resolved_questions',
    'contested_questions',
    'population',
  ]),
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
  skill: skill.describe('Null without a contested question'),
  retired_at: ENTITY_FACTS.retired_at.schema,
})
export const owner = z.strictObject({
  owner_id: z
    .string()
    .describe(
      'Who answers for the agents, as the operator has recorded it; `domain:` and a name where that domain proves it',
    ),
  agents: z
    .array(ownedAgent)
    .describe(
      'Every agent that is recorded for the owner, has made a forecast and is not hidden, retired ones too, in order of id',
    ),
  scored_agents: count.describe('Agents with a scored question'),
  certified: count.describe('Agents that are certified'),
  best_skill: skill.describe('Of the eligible agents; null without one'),
  middle_skill: skill.describe('The lower median of the eligible agents; null without one'),
  ...provenance,
})
export const ownerShard = z.strictObject({
  release: z.number().int().min(1),
  owners: z.array(published(owner)).describe('In order of id'),
})
export type OwnerShard = z.infer<typeof ownerShard>

/** The metrics of an entry of a leaderboard, in the order of its schema. */
export const LISTED_METRICS = [
  'rank',
  'rank_interval',
  'skill',
  'skill_interval',
  'board_interval',
  'pool',
  'pool_size',
  'contested_questions',
  'peer_score',
  'brier',
  'median_skill',
  'answered_share',
] as const satisfies readonly EntityMetricName[]
const ranked = {
  ...metricFields(LISTED_METRICS),
  trend: z
    .array(ENTITY_METRICS.skill.schema.unwrap())
    .max(16)
    .describe(
      'The skill after equal parts of the contested questions, in the order in which they settled, up to `skill`; empty when not eligible',
    ),
}
export const agentEntry = z.strictObject({
  ...agentNamed,
  retired_at: ENTITY_FACTS.retired_at.schema,
  name: ENTITY_FACTS.name.schema,
  model_type: ENTITY_FACTS.model_type.schema,
  organization_name: ENTITY_FACTS.organization_name.schema,
  ...ranked,
})
export const forecasterEntry = z.strictObject({
  ...forecasterNamed,
  ...ranked,
})
const leaderboardEntry = z.union([agentEntry, forecasterEntry])
export const leaderboardFile = z.strictObject({
  ...provenance,
  entity_type: entityType,
  entries: z
    .array(leaderboardEntry)
    .describe(
      'The ranked by pool, the largest first, and by rank; then the others, who have retired or are not eligible, by their number of contested questions',
    ),
})
export type LeaderboardFile = z.infer<typeof leaderboardFile>

const categoryNumbers = {
  rank: ENTITY_METRICS.rank.schema.describe(
    'Among the entities of the board of its pool that have not retired; a rank by category is no title',
  ),
  rank_interval: ENTITY_METRICS.rank_interval.schema,
  skill: ENTITY_METRICS.skill.schema
    .unwrap()
    .describe('On the questions of the category alone, against the others’ average'),
  board_interval: ENTITY_METRICS.board_interval.schema.describe(
    'Holds for this category alone; null with fewer than two clusters',
  ),
  pool: ENTITY_METRICS.pool.schema,
  pool_size: ENTITY_METRICS.pool_size.schema,
  contested_questions: ENTITY_METRICS.contested_questions.schema,
  resolved_questions: ENTITY_METRICS.resolved_questions.schema,
  brier: ENTITY_METRICS.brier.schema,
  expected_calibration_error: ENTITY_METRICS.expected_calibration_error.schema,
}
export const agentCategoryEntry = z.strictObject({
  ...agentId,
  name: ENTITY_FACTS.name.schema,
  retired_at: ENTITY_FACTS.retired_at.schema,
  ...categoryNumbers,
})
export const forecasterCategoryEntry = z.strictObject({ ...forecasterId, ...categoryNumbers })
const categoryEntry = z.union([agentCategoryEntry, forecasterCategoryEntry])
export type CategoryBoardEntry = z.infer<typeof categoryEntry>
const category = z.string().min(1)
export const categoryBoardFile = z.strictObject({
  ...provenance,
  category,
  entity_type: entityType,
  entries: z
    .array(categoryEntry)
    .describe(
      'Everyone with as many contested questions of the category as a rank takes, in the order of the leaderboard',
    ),
})
export type CategoryBoardFile = z.infer<typeof categoryBoardFile>

export const categoryFacts = z.strictObject({
  category,
  questions: count.describe('All of them, whether or not they are open or have an outcome'),
  settled_questions: count.describe('Those that count in scores'),
  opened_at: instant.describe('When the first of them opened'),
  closes_at: instant.describe('When the last of them closes'),
  agents: count.describe('Agents with a forecast on a settled question'),
  forecasters: count.describe('Forecasters with a forecast on a settled question'),
  ranked_agents: count.describe('Agents on the board of the category'),
  ranked_forecasters: count.describe('Forecasters on the board of the category'),
})
export type CategoryFacts = z.infer<typeof categoryFacts>
export const categoriesFile = z.strictObject({
  ...provenance,
  categories: z
    .array(categoryFacts)
    .describe('In the order of their names; the number of a category is its place, from 0'),
})
export type CategoriesFile = z.infer<typeof categoriesFile>

const probability = z.number().min(0).max(1)
const squaredError = z.number().min(0).max(1)
const lastForecast = z.union([
  z.strictObject({ ...agentId, probability }),
  z.strictObject({ ...forecasterId, probability }),
])
const crowd = z.strictObject({
  voices: count.describe('The voices whose forecasts stood at the end: the crowd'),
  average: probability.describe('Of what they said last'),
  average_brier: squaredError.describe('The Brier score of that average'),
  middle: probability.describe(
    'What the middle one of them said last, in order of error; of two the one with the lesser error. At least half said as ' +
      'much or more if the outcome is yes, and as much or less if it is no',
  ),
  middle_brier: squaredError.describe('The Brier score of that forecast'),
  counts: z
    .array(count)
    .length(20)
    .describe(
      'How many said something in each twentieth from 0 to 1. Each has its lower end, the last one also 1',
    ),
  surprise: z
    .strictObject({ more: count, of: count.min(1) })
    .describe(
      'Of how many settled questions of the release with a crowd the crowd was farther off in how many',
    ),
})
export const questionSummary = z
  .strictObject({
    question_id: publishedUuid,
    outcome: z.enum(['yes', 'no']),
    agents: count.describe('Agents that have a score on it'),
    forecasters: count.describe('People who have one'),
    withdrawn: count.describe('How many of both had withdrawn their forecast at the end'),
    crowd: crowd.nullable().describe('Null where no forecast of a voice stood at the end'),
    closest: z
      .array(lastForecast)
      .max(5)
      .describe(
        'Whose last forecasts were closest to the outcome; of equals those that stood longer come first',
      ),
    farthest: z
      .array(lastForecast)
      .max(5)
      .describe(
        'Whose were farthest, in the same way. Nobody is in both lists, and no agent that is hidden is in one',
      ),
    course: z
      .array(probability.nullable())
      .length(60)
      .nullable()
      .describe(
        'The average of the forecasts of voices that stood at 60 instants, equally far apart from the opening to the close or, if ' +
          'that came before it, the outcome; null at an instant where none stood. Null as a whole if it never moved',
      ),
  })
  .describe('What was forecast on a settled question')
export type QuestionSummary = z.infer<typeof questionSummary>
export const questionsFile = z.strictObject({
  ...provenance,
  questions: z.array(questionSummary).describe('Settled questions that somebody forecast, in order of id'),
})
export type QuestionsFile = z.infer<typeof questionsFile>
export const methodFile = z
  .strictObject({ ...provenance, parameters: z.record(z.string(), z.number()) })
  .describe('The parameters of the method that scored the release, by their names in the methodology')
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
