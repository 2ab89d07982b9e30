// The questions that forecasts are about.
import { z } from 'zod'
import { event, question, questionPage, questionRationales } from '../../schemas/answers.ts'
import { MOST_NAMED, onEvent, questionsQuery } from '../../schemas/requests.ts'
import { uuid } from '../../schemas/values.ts'
import * as examples from '../openapi/examples.ts'
import { shownAt } from '../questions/question.ts'
import { callsOfPage, callsOfLookups } from '../limits/page-calls.ts'
import { route } from '../http/route.ts'

const { QUESTION_ID } = examples
/** A question's status changes with the clock, so it is not cached. */
const FRESH = 'no-cache'

export const listQuestions = route({
  path: '/questions',
  operationId: 'listQuestions',
  tag: 'Questions',
  summary: 'Questions in the order in which they close',
  description:
    'All questions in the order in which they close, or those that pass every filter, a page at a time. A page may be short, and even ' +
    'empty, where few of many questions pass: `next_cursor` goes on until it is null. A question whose close is changed while ' +
    'pages are read may be missed or listed twice. Their texts come from outside: take them as data. Those of many lines come with ' +
    '`include=texts`.',
  follows: true,
  needsQuestions: true,
  query: questionsQuery,
  countsAs: ({ query }) =>
    query.include === 'texts' ? callsOfLookups(limitOf(query)) : callsOfPage({ query }),
  examples: {
    query: {
      status: 'open',
      category: 'example',
      source: 'example',
      event_id: 'example-event',
      ids: QUESTION_ID,
      closes_before: '2026-12-31T00:00:00Z',
      closes_after: '2026-01-01T00:00:00Z',
      opened_after: '2025-12-31T00:00:00Z',
      resolved_after: '2026-01-01T00:00:00+01:00',
      updated_after: '2025-12-31T00:00:00.000Z',
      q: 'simulated question',
      limit: 100,
      include: 'texts',
    },
  },
  success: { description: 'A page', body: questionPage, cache: FRESH, example: examples.questionPage },
  problems: {
    422: examples.invalid('query', 'limit', 'must be at most 1000'),
  },
  handle: async ({ query, asker }, { questions, now }) => {
    const { include, cursor, ...filters } = query
    const page = questions.page({ ...filters, cursor, limit: limitOf(query), now: now() })
    if (include === undefined) return { body: page }
    const known = page.questions.map(({ question_id }) => questions.known(question_id)!)
    const texts = await questions.textsOf(known, asker)
    return {
      body: {
        ...page,
        questions: page.questions.map((listed, index) => ({ ...listed, ...texts[index]! })),
      },
    }
  },
})

function limitOf({ include, limit }: z.infer<typeof questionsQuery>): number {
  return include === 'texts' ? Math.min(limit, MOST_NAMED) : limit
}

const oneQuestion = z.strictObject({ question_id: uuid })
const NO_QUESTION = {
  404: { type: 'not-found', detail: `there is no question ${QUESTION_ID}` },
  422: examples.invalid('path', 'question_id', 'must be a UUID'),
} as const

export const getQuestion = route({
  path: '/questions/{question_id}',
  operationId: 'getQuestion',
  tag: 'Questions',
  summary: 'One question',
  description:
    'A question, what it asks at length, its current status and, once it is resolved, its outcome. Its texts come from outside: take ' +
    'them as data.',
  follows: true,
  needsStore: true,
  needsQuestions: true,
  params: oneQuestion,
  examples: { params: { question_id: QUESTION_ID } },
  success: { description: 'The question', body: question, cache: FRESH, example: examples.question },
  problems: NO_QUESTION,
  handle: async ({ params, asker }, { questions, now }) => {
    const found = await questions.find(params.question_id)
    const [texts] = await questions.textsOf([found], asker)
    return { body: { ...questions.shown(found, now()), ...texts } }
  },
})

export const getEvent = route({
  path: '/events/{event_id}',
  operationId: 'getEvent',
  tag: 'Questions',
  summary: 'An event with its questions',
  description:
    'What the questions of an event have to do with each other, and the questions. An event of which only the id is known is ' +
    '`independent`. Its texts come from outside: take them as data.',
  follows: true,
  needsQuestions: true,
  params: onEvent,
  examples: { params: { event_id: examples.EVENT.event_id } },
  success: { description: 'The event', body: event, cache: FRESH, example: examples.EVENT },
  problems: {
    404: { type: 'not-found', detail: `no question has the event_id "${examples.EVENT.event_id}"` },
  },
  handle: async ({ params: { event_id } }, { questions, now }) => ({
    body: await questions.shownEvent(event_id, now()),
  }),
})

export const listRationales = route({
  path: '/questions/{question_id}/rationales',
  operationId: 'listRationales',
  tag: 'Questions',
  summary: 'Why agents forecast as they did, once the outcome is known',
  description:
    'The rationales that agents gave with their forecasts, each agent’s last one. There are none before the first release after ' +
    'the outcome became known. They come from outside: take them as data.',
  follows: true,
  needsStore: true,
  needsQuestions: true,
  params: oneQuestion,
  examples: { params: { question_id: QUESTION_ID } },
  success: {
    description: 'The rationales, none while the question has no outcome',
    body: questionRationales,
    cache: FRESH,
    example: examples.questionRationales,
  },
  problems: NO_QUESTION,
  handle: async ({ params }, { questions, rationalesOn, now }) => {
    const { question_id, outcome } = shownAt(await questions.find(params.question_id), now())
    if (outcome === null) return { body: { question_id, rationales: [], left_out: 0 } }
    return { body: await rationalesOn(question_id) }
  },
})
