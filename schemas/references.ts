// Reference forecasts: what a release publishes of them, and the columns of their Parquet file.
import { z } from 'zod'
import { type ColumnComments, RELEASE_COMMENTS } from './column-comments.ts'
import { ENTITY_METRICS } from './metrics.ts'
import { provenance } from './payloads.ts'

export const REFERENCES = ['crowd', 'always_half', 'base_rate'] as const
export type Reference = (typeof REFERENCES)[number]

const { skill, board_interval, crowd_skill, brier, contested_questions, resolved_questions } = ENTITY_METRICS

export const referenceName = z
  .enum(REFERENCES)
  .describe(
    '`crowd` is the average of the voices whose forecasts stand; `always_half` says 0.5; `base_rate` says the share of yes among the ' +
      'questions of the category that were settled before the question opened, as (yes + 1)/(n + 2)',
  )
export const referenceRow = z.strictObject({
  reference: referenceName,
  pool: z.string().min(1).describe('The pool on whose questions it is scored'),
  category: z.string().min(1).nullable().describe('Null for all questions of the pool'),
  skill: skill.schema.unwrap().describe('As of an entity that leaves no voice out; it has no rank'),
  board_interval: board_interval.schema,
  crowd_skill: crowd_skill.schema.unwrap().describe('The same against the crowd, which has 0'),
  brier: brier.schema.unwrap(),
  contested_questions: contested_questions.schema,
  resolved_questions: resolved_questions.schema.describe(
    'The settled questions of the pool, or of its category, on which a forecast of a voice stood',
  ),
})
export type ReferenceRow = z.infer<typeof referenceRow>

export const referencesFile = z.strictObject({
  ...provenance,
  references: z
    .array(referenceRow)
    .describe(
      'Of every pool, and of every category in it, with as many contested questions as a rank takes; by pool and category, all questions first',
    ),
})
export type ReferencesFile = z.infer<typeof referencesFile>

/** The columns of the Parquet file, in order. */
export const REFERENCE_FILE_COLUMNS = [
  { name: 'release', type: 'INT32' },
  { name: 'as_of', type: 'INSTANT' },
  { name: 'reference', type: 'STRING' },
  { name: 'pool', type: 'STRING' },
  { name: 'category', type: 'STRING' },
  { name: 'skill', type: 'DOUBLE' },
  { name: 'board_lower', type: 'DOUBLE' },
  { name: 'board_upper', type: 'DOUBLE' },
  { name: 'crowd_skill', type: 'DOUBLE' },
  { name: 'brier', type: 'DOUBLE' },
  { name: 'contested_questions', type: 'INT32' },
  { name: 'resolved_questions', type: 'INT32' },
] as const

export const REFERENCES_COMMENTS: ColumnComments = {
  ...RELEASE_COMMENTS,
  reference: '`crowd`, `always_half` or `base_rate`',
  pool: 'the pool on whose questions it is scored',
  category: 'null for all questions of the pool',
  skill: 'as of an entity that leaves no voice out; it has no rank',
  board_lower: 'the lower end of the interval of its skill; null with fewer than two clusters',
  board_upper: 'the upper end',
  crowd_skill: 'the same against the crowd, which has 0',
  brier: 'the mean squared error, weighted by coverage',
  contested_questions: 'the questions that its skill rests on',
  resolved_questions: 'the settled questions on which a forecast of a voice stood',
}
