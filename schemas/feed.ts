// The feed: its events, and the segments in which the store keeps them.
import { z } from 'zod'
import { entityType } from './payloads.ts'
import { questionOutcome, statedOutcome } from './outcomes.ts'
import { instant, publishedUuid } from './values.ts'

const reason = z.string().nullable().describe('Why, as the operator says')
const ofQuestion = { at: instant, question_id: publishedUuid, title: z.string() }
const ofRelease = { at: instant.describe('The `as_of` of the release'), release: z.number().int() }
const id = z.string().describe('Unique for ever; repeated deliveries have the same')

function event<Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) {
  return z.strictObject({ type: z.literal(type), ...shape, id })
}

/** Every kind of event. */
export const FEED_EVENTS = {
  'question.opened': event('question.opened', {
    ...ofQuestion,
    at: instant.describe('When it happened'),
    category: z.string().nullable(),
    closes_at: instant,
  }),
  'question.changed': event('question.changed', {
    ...ofQuestion,
    changes: z
      .record(z.string(), z.strictObject({ from: z.string().nullable(), to: z.string().nullable() }))
      .describe('The columns that changed; texts of many lines are not among them'),
    reason,
  }),
  'question.removed': event('question.removed', { ...ofQuestion, reason }),
  'question.closed': event('question.closed', ofQuestion),
  'question.resolved': event('question.resolved', {
    ...ofQuestion,
    outcome: questionOutcome,
    resolved_at: instant,
  }),
  'question.corrected': event('question.corrected', {
    ...ofQuestion,
    from: statedOutcome,
    to: statedOutcome.describe('`open` if the outcome was withdrawn'),
    reason,
  }),
  'release.published': event('release.published', {
    ...ofRelease,
    at: instant.describe('Its `as_of`'),
    certifications_known: z
      .boolean()
      .describe('False if the release before was thinned, so that changes of certifications are not told'),
  }),
  'certification.changed': event('certification.changed', {
    ...ofRelease,
    entity_type: entityType,
    entity_id: publishedUuid,
    from: z.string().nullable().describe('The certification or badge of the release before; null for none'),
    to: z.string().nullable(),
  }),
} as const
export type EventType = keyof typeof FEED_EVENTS
export const EVENT_TYPES = Object.keys(FEED_EVENTS) as EventType[]

const all = Object.values(FEED_EVENTS)
export const feedEvent = z.discriminatedUnion('type', all as [(typeof all)[number]])
export type FeedEvent = z.infer<typeof feedEvent>
/** An event that is not in the feed yet. */
export type NewEvent = FeedEvent extends infer Event
  ? Event extends FeedEvent
    ? Omit<Event, 'id'>
    : never
  : never

/** The progress of the feed: versions of two tables, a release, and an instant. */
const feedState = z.strictObject({
  questions: z.number().int(),
  resolutions: z.number().int(),
  release: z.number().int(),
  until: instant,
})
export type FeedState = z.infer<typeof feedState>

export const feedSegment = z.strictObject({
  /** The states before and after its step. */
  from: feedState,
  to: feedState,
  /** How many events of the step the feed has up to the segment's end; null if it has all. */
  told: z.number().int().nullable(),
  events: z.array(feedEvent),
})
export type FeedSegment = z.infer<typeof feedSegment>

export const feedPage = z.strictObject({
  events: z.array(feedEvent).describe('In order'),
  next: z.string().describe('`after` of the next call, for ever'),
})
export type FeedPage = z.infer<typeof feedPage>
