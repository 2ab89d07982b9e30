// Answers that a node works out on request, because no release has them: two entities side by side, and why
// each question of an agent counts or does not.
import { z } from 'zod'
import { count } from './metric.ts'
import { skillInterval } from './metrics.ts'
import { questionOutcome, scoredOutcome } from './outcomes.ts'
import { entityType, provenance, title } from './payloads.ts'
import { publishedUuid } from './values.ts'

const meanBrier = z.number().min(0).max(1)
const questionTitle = z
  .string()
  .nullable()
  .describe('Null where the node that answers does not know the question')

export const comparedEntity = z.strictObject({
  entity_type: entityType,
  id: publishedUuid,
  name: z.string().nullable().describe('Of an agent: a claim. Null for a person; see `GET /people`'),
  brier: meanBrier.nullable().describe('Over the time that both stood; null where they shared none'),
})
export const comparedQuestion = z.strictObject({
  question_id: publishedUuid,
  title: questionTitle,
  outcome: scoredOutcome,
  coverage: z.number().min(0).max(1).describe('The share of its scheduled life in which both stood'),
  a_brier: meanBrier.describe('Of `a` over that time'),
  b_brier: meanBrier.describe('Of `b` over that time'),
})
export const sideBySide = z.strictObject({
  ...provenance,
  a: comparedEntity,
  b: comparedEntity,
  questions: count.describe('The settled questions on which both stood at the same time'),
  clusters: count.describe('The different events among them, or questions without one'),
  brier_difference: z
    .number()
    .nullable()
    .describe('The mean of `a` minus that of `b`: below 0 `a` was better; null where they shared no time'),
  interval: skillInterval
    .nullable()
    .describe('Of the difference, good after every release; null with fewer than two clusters'),
  most_different: z
    .array(comparedQuestion)
    .describe('Up to ten questions where the two lie furthest apart by time and error, the furthest first'),
})
export type SideBySide = z.infer<typeof sideBySide>

export const reportedReason = z
  .enum(['not-settled', 'unmeasured', 'withdrawn', 'late', 'annulled'])
  .describe(
    'Why a question counts for nothing: `not-settled` has not closed yet; on `unmeasured` it never stood beside five others, nor a ' +
      'price, in the part of the question’s life that titles look at; `withdrawn` had no forecast while it was open; on `late` every ' +
      'forecast came after the end; `annulled` counts for nobody',
  )
export const reportedQuestion = z.strictObject({
  question_id: publishedUuid,
  title: questionTitle,
  outcome: questionOutcome,
  coverage: z.number().min(0).max(1).describe('The share of its scheduled life with a forecast of the agent'),
  gain: z
    .number()
    .nullable()
    .describe(
      'The error of the others’ average minus the agent’s own, over the judged time as a share of the question’s life; null where it counts for nothing',
    ),
  reason: reportedReason.nullable().describe('Null where it counts'),
  detail: z.string().nullable().describe('The reason in words; null where it counts'),
})
export type ReportedQuestion = z.infer<typeof reportedQuestion>
export const nextTitle = z.strictObject({
  title,
  because: z.string().describe('Why the agent does not have it yet'),
  questions: count
    .nullable()
    .describe(
      'About how many more contested questions it takes if they are like those so far; null where these do not lead there',
    ),
})
export const agentReport = z.strictObject({
  agent_id: publishedUuid,
  ...provenance,
  counted: count.describe('Questions that count in skill and rank'),
  not_counted: z
    .array(z.strictObject({ reason: reportedReason, questions: count }))
    .describe('How many do not, by reason'),
  next_title: nextTitle.nullable().describe('Null for whoever is certified'),
  best: z.array(reportedQuestion).describe('The three with the greatest gains'),
  worst: z.array(reportedQuestion).describe('The three with the least gains'),
  questions: z
    .array(reportedQuestion)
    .describe('Scored ones, the last settled first, and then those without a score, in order of id'),
  next_cursor: z
    .string()
    .nullable()
    .describe('The cursor of the next page of the same release; null on the last one'),
})
export type AgentReport = z.infer<typeof agentReport>
