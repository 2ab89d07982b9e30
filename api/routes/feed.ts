// The feed: all that happened to questions, releases and certifications, in order.
import { feedPage } from '../../schemas/feed.ts'
import { feedQuery } from '../../schemas/requests.ts'
import { AGENT_ID, QUESTION_ID, invalid } from '../openapi/examples.ts'
import { callsOfPage } from '../limits/page-calls.ts'
import { route } from '../http/route.ts'

export const readFeed = route({
  path: '/feed',
  operationId: 'readFeed',
  tag: 'Records',
  summary: 'What happened, in order: one call to poll',
  description:
    'Every question that opened, changed, closed, was resolved or corrected, every release, and every certification that changed, in the ' +
    'order in which the service noticed it. Ask again with `next`, however much later: nothing is left out and nothing comes twice. To ' +
    'begin now, ask once with `after=end`. An event is there some seconds after it happened. The feed begins when the service first ' +
    'wrote it, and a question that closed before the service knew it is not told of until its outcome is.',
  needsStore: true,
  query: feedQuery,
  countsAs: callsOfPage,
  examples: { query: { after: 'end', limit: 100 } },
  success: {
    description: 'A page, which is empty if nothing has happened since',
    body: feedPage,
    cache: 'no-cache',
    example: {
      events: [
        {
          id: '17_0',
          type: 'question.opened',
          at: '2026-03-01T00:00:00.000Z',
          question_id: QUESTION_ID,
          title: 'Will this simulated question end with yes?',
          category: 'example',
          closes_at: '2026-06-01T00:00:00.000Z',
        },
        {
          id: '18_1',
          type: 'certification.changed',
          at: '2026-03-01T12:00:00.000Z',
          release: 12,
          entity_type: 'agent',
          entity_id: AGENT_ID,
          from: 'measured',
          to: 'certified',
        },
      ],
      next: '18_2',
    },
  },
  problems: { 422: invalid('query', 'after', 'must be the next of a page of this feed, or end') },
  handle: async ({ query: { after, limit } }, { feed }) => ({ body: await feed.after(after, limit) }),
})
