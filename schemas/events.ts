// The events of the feed, and the segments in which the store keeps them.
import { z } from 'zod'
import { entityType } from './payloads.ts'
import { questionOutcome, statedOutcome } from './outcomes.ts'
import { instant, publishedUuid } from './values.ts'

const reason = z.string().nullable().describe('Why, as the operator says')
const said = { question_id: publishedUuid, title: z.string() }

/** Every kind of event, without its id. */
export const EVENTS = {
  'question.opened': z.strictObject({
    type: z.literal('question.opened'),
    at: instant.describe('When it happened'),
    ...said,
    category: z.string().nullable(),
    closes_at: instant,
  }),
  'question.changed': z.strictObject({
    type: z.literal('question.changed'),
    at: instant,
    ...said,
    changes: z
      .record(z.string(), z.strictObject({ from: z.string().nullable(), to: z.string().nullable() }))
      .describe('The columns that changed; texts of many lines are not among them'),
    reason,
  }),
  'question.removed': z.strictObject({
    type: z.literal('question.removed'),
    at: instant,
    ...said,
    reason,
  }),
  'question.closed': z.strictObject({ type: z.literal('question.closed'), at: instant, ...said }),
  'question.resolved': z.strictObject({
    type: z.literal('question.resolved'),
    at: instant,
    ...said,
    outcome: questionOutcome,
    resolved_at: instant,
  }),
  'question.corrected': z.strictObject({
    type: z.literal('question.corrected'),
    at: instant,
    ...said,
    from: statedOutcome,
    to: statedOutcome.describe('`open` if the outcome was withdrawn'),
    reason,
  }),
  'release.published': z.strictObject({
    type: z.literal('release.published'),
    at: instant.describe('Its `as_of`'),
    release: z.number().int(),
    certifications_known: z
      .boolean()
      .describe('False if the release before was thinned, so that changes of certifications are not told'),
  }),
  'certification.changed': z.strictObject({
    type: z.literal('certification.changed'),
    at: instant.describe('The `as_of` of the release'),
    release: z.number().int(),
    entity_type: entityType,
    entity_id: publishedUuid,
    from: z.string().nullable().describe('The certification or badge of the release before; null for none'),
    to: z.string().nullable(),
  }),
} as const

export const EVENT_TYPES = Object.keys(EVENTS) as (keyof typeof EVENTS)[]
export type EventType = keyof typeof EVENTS

const unnumbered = z.discriminatedUnion('type', [
  EVENTS['question.opened'],
  EVENTS['question.changed'],
  EVENTS['question.removed'],
  EVENTS['question.closed'],
  EVENTS['question.resolved'],
  EVENTS['question.corrected'],
  EVENTS['release.published'],
  EVENTS['certification.changed'],
])
export type NewEvent = z.infer<typeof unnumbered>

const id = z.string().describe('Unique for ever; repeated deliveries have the same')
/** Every kind of event as the feed shows it. */
export const PUBLISHED_EVENTS = {
  'question.opened': EVENTS['question.opened'].extend({ id }),
  'question.changed': EVENTS['question.changed'].extend({ id }),
  'question.removed': EVENTS['question.removed'].extend({ id }),
  'question.closed': EVENTS['question.closed'].extend({ id }),
  'question.resolved': EVENTS['question.resolved'].extend({ id }),
  'question.corrected': EVENTS['question.corrected'].extend({ id }),
  'release.published': EVENTS['release.published'].extend({ id }),
  'certification.changed': EVENTS['certification.changed'].extend({ id }),
}
export const publishedEvent = z.discriminatedUnion('type', [
  PUBLISHED_EVENTS['question.opened'],
  PUBLISHED_EVENTS['question.changed'],
  PUBLISHED_EVENTS['question.removed'],
  PUBLISHED_EVENTS['question.closed'],
  PUBLISHED_EVENTS['question.resolved'],
  PUBLISHED_EVENTS['question.corrected'],
  PUBLISHED_EVENTS['release.published'],
  PUBLISHED_EVENTS['certification.changed'],
])
export type PublishedEvent = z.infer<typeof publishedEvent>

/** How far the feed tells: versions of two tables, a release, and an instant. */
const feedState = z.strictObject({
  questions: z.number().int(),
  resolutions: z.number().int(),
  release: z.number().int(),
  until: instant,
})
export type FeedState = z.infer<typeof feedState>

/** A step tells of one version, one release, or the time up to an instant. */
const feedStep = feedState.partial()
export type FeedStep = z.infer<typeof feedStep>

export function stateAfter(state: FeedState, step: FeedStep): FeedState {
  return {
    questions: step.questions ?? state.questions,
    resolutions: step.resolutions ?? state.resolutions,
    release: step.release ?? state.release,
    until: step.until ?? state.until,
  }
}

export const feedSegment = z.strictObject({
  /** The state before the step. */
  state: feedState,
  step: feedStep,
  /** The place in the step at which the next segment goes on; null if the step is whole. */
  rest: z.string().nullable(),
  events: z.array(unnumbered),
})
export type FeedSegment = z.infer<typeof feedSegment>

export const eventsPage = z.strictObject({
  events: z.array(publishedEvent).describe('In order'),
  next: z.string().describe('`after` of the next call, for ever'),
})
export type EventsPage = z.infer<typeof eventsPage>
