// The questions that forecasts are about.
import { z } from 'zod'
import { question, questionPage } from '../../schemas/answers.ts'
import { questionsQuery } from '../../schemas/requests.ts'
import { uuid } from '../../schemas/values.ts'
import * as examples from '../openapi/examples.ts'
import { shownAt } from '../questions/question.ts'
import { callsOfPage } from '../limits/page-calls.ts'
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
    'pages are read may be missed or listed twice. Their texts come from outside, and those of many lines are in the call for one ' +
    'question alone.',
  follows: true,
  needsQuestions: true,
  query: questionsQuery,
  countsAs: callsOfPage,
  examples: {
    query: {
      status: 'open',
      category: 'example',
      closes_before: '2026-12-31T00:00:00Z',
      opened_after: '2025-12-31T00:00:00Z',
      q: 'simulated question',
      limit: 100,
    },
  },
  success: { description: 'A page', body: questionPage, cache: FRESH, example: examples.questionPage },
  problems: {
    422: examples.invalid('query', 'limit', 'must be at most 1000'),
  },
  handle: ({ query }, { questions, now }) => {
    const { limit, cursor, ...filters } = query
    return { body: questions.page({ ...filters, limit, cursor, now: now() }) }
  },
})

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
  params: z.strictObject({ question_id: uuid }),
  examples: { params: { question_id: QUESTION_ID } },
  success: { description: 'The question', body: question, cache: FRESH, example: examples.question },
  problems: {
    404: { type: 'not-found', detail: `there is no question ${QUESTION_ID}` },
    422: examples.invalid('path', 'question_id', 'must be a UUID'),
  },
  handle: async ({ params, countMore }, { questions, now }) => {
    const found = await questions.find(params.question_id)
    return { body: { ...shownAt(found, now()), ...(await questions.textsOf(found, countMore)) } }
  },
})
