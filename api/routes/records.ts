// What anyone may look up: questions, the daily history of an entity, the method.
import { z } from 'zod'
import {
  METHODOLOGY_EFFECTIVE_FROM,
  METHODOLOGY_VERSION,
  PARAMETERS,
} from '../../pipeline/scoring/methodology.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { methodologyVersion, question, questionPage, snapshotHistory } from '../../schemas/payloads.ts'
import { noQuery, questionsQuery, snapshotParams, snapshotQuery } from '../../schemas/requests.ts'
import { uuid } from '../../schemas/values.ts'
import { shownAt } from '../questions/question.ts'
import { PLAIN_GET, type Route, route } from '../route.ts'

const MINUTE = { 'Cache-Control': 'public, max-age=60' }
/** A question's status changes by the clock, so it is not kept. */
const FRESH = { 'Cache-Control': 'no-cache' }

export const snapshots = route({
  method: 'GET',
  path: '/snapshots/{entity_type}/{entity_id}',
  summary: 'The standing of an entity on each day',
  key: 'none',
  params: snapshotParams,
  query: snapshotQuery,
  body: z.undefined(),
  success: { status: 200, body: snapshotHistory },
  failures: [404, 503],
  handle: async ({ params, query }, { history, releases }) => {
    const { entity_type, entity_id } = params
    const rows = await history.of(entity_type, entity_id, query.start_date, query.end_date)
    const known = rows.length > 0 || (await releases.find(entity_type, entity_id, 'rankings')) !== undefined
    if (!known)
      throw new ServiceError('notFound', `no release or snapshot speaks of a ${entity_type} ${entity_id}`)
    return { status: 200, body: { entity_type, entity_id, snapshots: rows }, headers: MINUTE }
  },
})

export const methodology = route({
  ...PLAIN_GET,
  path: '/methodology/version',
  summary: 'The version of the method and its parameters',
  success: { status: 200, body: methodologyVersion },
  failures: [],
  handle: () =>
    Promise.resolve({
      status: 200,
      body: {
        version: METHODOLOGY_VERSION,
        effective_from: METHODOLOGY_EFFECTIVE_FROM,
        document_url: '/methodology',
        parameters: PARAMETERS,
      },
      headers: MINUTE,
    }),
})

/** The text that `document_url` leads to. */
export function methodologyDocument(text: Uint8Array): Route {
  return route({
    ...PLAIN_GET,
    path: '/methodology',
    summary: 'The method in full, in Markdown',
    success: { status: 200, body: z.string(), mediaType: 'text/markdown' },
    failures: [],
    handle: () =>
      Promise.resolve({
        status: 200,
        body: text,
        headers: { ...MINUTE, 'Content-Type': 'text/markdown; charset=utf-8' },
      }),
  })
}

export const listQuestions = route({
  ...PLAIN_GET,
  path: '/questions',
  summary: 'Questions in the order of their close',
  query: questionsQuery,
  success: { status: 200, body: questionPage },
  failures: [],
  handle: ({ query }, { questions, now }) => {
    const { status, limit, cursor } = query
    const page = questions.page({ status, limit, cursor, now: now() })
    return Promise.resolve({
      status: 200,
      body: { questions: page.questions, next_cursor: page.nextCursor },
      headers: FRESH,
    })
  },
})

export const getQuestion = route({
  method: 'GET',
  path: '/questions/{question_id}',
  summary: 'One question',
  key: 'none',
  params: z.strictObject({ question_id: uuid }),
  query: noQuery,
  body: z.undefined(),
  success: { status: 200, body: question },
  failures: [404, 503],
  handle: async ({ params }, { questions, now }) => ({
    status: 200,
    body: shownAt(await questions.find(params.question_id), now()),
    headers: FRESH,
  }),
})
