// Reference forecasts: their published rows, and the columns of their Parquet file.
import { z } from 'zod'
import { type ColumnComments, RELEASE_COMMENTS } from './column-comments.ts'
import { ENTITY_METRICS } from './metrics.ts'
import { entityType, provenance } from './payloads.ts'

export const REFERENCES = ['always_half', 'base_rate', 'median', 'market'] as const
export type Reference = (typeof REFERENCES)[number]

const { skill, median_skill, market_skill, board_interval, evidence } = ENTITY_METRICS
const { contested_questions, clusters, priced_questions } = ENTITY_METRICS

export const referenceName = z
  .enum(REFERENCES)
  .describe(
    '`always_half` says 0.5; `base_rate` says the share of yes among the questions of the category that were settled before the ' +
      'question opened, and 0.5 where those are fewer than ten; `median` says the median of the voices; `market` says the market’s price',
  )
export const referenceRow = z.strictObject({
  reference: referenceName,
  entity_type: entityType.describe('The kind of entities whose board it is on'),
  pool: z.string().min(1).describe('The pool on whose questions it is scored'),
  category: z.string().min(1).nullable().describe('Null for all questions of the pool'),
  skill: skill.schema.unwrap().describe('As of an entity, measured by all voices; it has no rank'),
  board_interval: board_interval.schema,
  median_skill: median_skill.schema.unwrap(),
  market_skill: market_skill.schema,
  evidence: evidence.schema,
  contested_questions: contested_questions.schema,
  clusters: clusters.schema,
  priced_questions: priced_questions.schema,
})
export type ReferenceRow = z.infer<typeof referenceRow>

export const referencesFile = z.strictObject({
  ...provenance,
  references: z
    .array(referenceRow)
    .describe(
      'Of every pool, and of every category in it, with as many contested questions as a rank takes; by kind, pool and category, all questions first',
    ),
})
export type ReferencesFile = z.infer<typeof referencesFile>

/** The columns of the Parquet file, in order. */
export const REFERENCE_FILE_COLUMNS = [
  { name: 'release', type: 'INT32' },
  { name: 'as_of', type: 'INSTANT' },
  { name: 'reference', type: 'STRING' },
  { name: 'entity_type', type: 'STRING' },
  { name: 'pool', type: 'STRING' },
  { name: 'category', type: 'STRING' },
  { name: 'skill', type: 'DOUBLE' },
  { name: 'board_lower', type: 'DOUBLE' },
  { name: 'board_upper', type: 'DOUBLE' },
  { name: 'median_skill', type: 'DOUBLE' },
  { name: 'market_skill', type: 'DOUBLE' },
  { name: 'evidence', type: 'DOUBLE' },
  { name: 'contested_questions', type: 'INT32' },
  { name: 'clusters', type: 'INT32' },
  { name: 'priced_questions', type: 'INT32' },
] as const

export const REFERENCES_COMMENTS: ColumnComments = {
  ...RELEASE_COMMENTS,
  reference: '`always_half`, `base_rate`, `median` or `market`',
  entity_type: '`agent` or `forecaster`: whose board it is on',
  pool: 'the pool on whose questions it is scored',
  category: 'null for all questions of the pool',
  skill: 'as of an entity, measured by all voices; it has no rank',
  board_lower: 'the lower end of the interval of its skill; null with fewer than two clusters',
  board_upper: 'the upper end',
  median_skill: 'the same against the median of the voices',
  market_skill: 'the same against the market’s price; null where nothing is priced',
  evidence: 'how often the record outweighs the ten imaginary questions',
  contested_questions: 'the questions that its skill rests on',
  clusters: 'different events, or questions without one, among them',
  priced_questions: 'those of them on which a price stood',
}
