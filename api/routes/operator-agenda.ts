// The calls of the operator that write nothing: the questions that need it, and what rows would do.
import { agenda, preview } from '../../schemas/answers.ts'
import { MOST_ROWS, agendaQuery, operatorPreview } from '../../schemas/requests.ts'
import { type Route, route } from '../http/route.ts'
import { assertScope } from '../limits/callers.ts'
import { QUESTION_ID, invalid } from '../openapi/examples.ts'
import * as examples from '../openapi/operator-examples.ts'
import type { Due } from '../questions/listing.ts'
import { shownAt } from '../questions/question.ts'
import { OF_OPERATOR, TOO_LARGE, lacking } from './operator.ts'

const getAgenda = route({
  ...OF_OPERATOR,
  path: '/operator/agenda',
  operationId: 'getAgenda',
  summary: 'Questions that are overdue, close today or open soon',
  description:
    'The questions without an outcome that need an operator, each in one list at most. A key of any scope will do. What was written ' +
    'before the call is in it.',
  follows: true,
  needsQuestions: true,
  query: agendaQuery,
  examples: { query: { limit: 200 } },
  success: { description: 'The agenda', body: agenda, cache: 'no-store', example: examples.agenda },
  problems: { 422: invalid('query', 'limit', 'must be at most 1000') },
  handle: async ({ query: { limit } }, { questions, now }) => {
    await questions.refreshAnew()
    const at = now()
    const listed = ({ count, questions: due }: Due) => ({
      count,
      questions: due.map((question) => {
        const { question_id, title, category, url, opened_at, closes_at } = shownAt(question, at)
        return { question_id, title, category, url, opened_at, closes_at }
      }),
    })
    const { overdue, closing, opening } = questions.due(at, limit)
    return {
      body: {
        at: at.toISOString(),
        overdue: listed(overdue),
        closing: listed(closing),
        opening: listed(opening),
      },
    }
  },
})

/** The kinds of rows that can be previewed, in the order in which an import takes them in. */
const KINDS = ['questions', 'resolutions'] as const

const previewRows = route({
  ...OF_OPERATOR,
  path: '/operator/preview',
  operationId: 'previewRows',
  summary: 'See what rows would do, without writing them',
  description:
    'Takes the body of `PUT /operator/questions`, that of `PUT /operator/resolutions`, or both, with the scopes that those need. The ' +
    'answer says what the calls would do, in their order, and what the next release would change by it. Bad rows are in the answer. ' +
    'Nothing is written, also not in the log of the operator.',
  body: operatorPreview,
  mostItems: { questions: () => MOST_ROWS, resolutions: () => MOST_ROWS },
  examples: {
    body: {
      resolutions: [{ question_id: QUESTION_ID, outcome: 'no', resolved_at: '2026-02-01T08:00:00Z' }],
    },
  },
  success: { description: 'The effect', body: preview, cache: 'no-store', example: examples.preview },
  problems: {
    403: lacking('resolutions'),
    413: TOO_LARGE,
    422: invalid('body', 'resolutions', 'must have at least one row'),
  },
  handle: async ({ body: { reason, ...rows }, caller }, { operator }) => {
    const sent = KINDS.flatMap((kind) => (rows[kind] ? [{ kind, rows: rows[kind], reason }] : []))
    for (const { kind } of sent) assertScope(caller, kind)
    return { body: await operator.preview(sent, 'POST /operator/preview') }
  },
})

export const operatorAgenda: Route[] = [getAgenda, previewRows]
