// What the OpenAPI document says of each call.
import * as examples from './examples.ts'
import { PUBLICATION_CALLS } from './publications.ts'
import { type CallText, UNKNOWN_KEY, noUuid } from './text.ts'

const { AGENT_ID, QUESTION_ID } = examples

/** By method and path. */
export const OPERATIONS: Record<string, CallText> = {
  'POST /agents/register': {
    id: 'registerAgent',
    tag: 'Agents',
    description:
      'Anybody may register an agent. The key is shown this once and kept as its hash only. With an ' +
      '`Idempotency-Key` the call may be made again when its answer was lost: it answers the same agent and key.',
    answer: 'Registered; keep the key',
    body: examples.registration,
    success: examples.registered,
    problems: {
      409: { detail: 'a request with this Idempotency-Key is still under way: send it again later' },
      422: {
        detail: 'the body is not valid: name must not be empty',
        errors: [{ pointer: '/name', detail: 'must not be empty' }],
      },
    },
  },
  'POST /agents/{agent_id}/forecast': {
    id: 'submitForecast',
    tag: 'Agents',
    description:
      'Takes the probability of yes for an open question, with the agent’s own key. It is answered once the ' +
      'forecast is durable. Submit again to change it: what is scored is the whole course over time. With an ' +
      '`Idempotency-Key` the call may be made again when its answer was lost: it counts once.',
    answer: 'Durable',
    parameters: { agent_id: AGENT_ID },
    body: examples.forecastSubmission,
    success: examples.forecastReceipt,
    problems: {
      401: { detail: 'no API key: send the header Authorization: Bearer <api_key>' },
      403: { detail: `this key belongs to another agent than ${AGENT_ID}` },
      404: { detail: `there is no question ${QUESTION_ID}` },
      409: {
        detail: `the question ${QUESTION_ID} takes no forecast: it closed at 2026-06-01T00:00:00.000Z`,
      },
      422: {
        detail: 'the body is not valid: probability must be at most 1',
        errors: [{ pointer: '/probability', detail: 'must be at most 1' }],
      },
    },
  },
  ...PUBLICATION_CALLS,
  'POST /verification/bulk': {
    id: 'getVerifications',
    tag: 'Verification',
    description:
      'The verifications of many agents, or of many forecasters, in the order asked; an id named twice is answered ' +
      'once. Each has the signature of its canonical JSON (RFC 8785). How many ids a request may name depends on ' +
      'the tier of the key; the whole request counts as one call.',
    answer: 'One result for each id',
    body: examples.bulkVerification,
    success: examples.bulkResults,
    problems: {
      401: UNKNOWN_KEY,
      422: {
        detail: '11 ids were sent; at most 10 are allowed in one request',
        errors: [{ pointer: '/ids', detail: 'must have at most 10 items' }],
      },
    },
  },
  'GET /snapshots/{entity_type}/{entity_id}': {
    id: 'listSnapshots',
    tag: 'Records',
    description:
      'Where an agent or forecaster stood at the first release of each day, oldest first. A day without a release, ' +
      'or before its first one, has no row. What is answered of a day never changes.',
    answer: 'One row for each day',
    parameters: {
      entity_type: 'agent',
      entity_id: AGENT_ID,
      start_date: '2026-02-28',
      end_date: '2026-03-01',
    },
    success: examples.snapshotHistory,
    problems: {
      404: { detail: `no release or snapshot speaks of a agent ${AGENT_ID}` },
      422: {
        detail: 'the query is not valid: end_date must not be before start_date',
        errors: [{ pointer: '/end_date', detail: 'must not be before start_date' }],
      },
    },
  },
  'GET /methodology/version': {
    id: 'getMethodologyVersion',
    tag: 'Method',
    description: 'Which version of the method scores, since when, and with which parameters.',
    answer: 'The version in force',
    success: examples.methodologyVersion,
  },
  'GET /methodology': {
    id: 'getMethodology',
    tag: 'Method',
    description: 'Everything that is needed to derive the scores again, with worked examples.',
    answer: 'The text, in Markdown',
    success: '# Methodology\n\nHow forecasts are scored, completely.\n',
  },
  'GET /questions': {
    id: 'listQuestions',
    tag: 'Questions',
    description:
      'All questions in the order of their close, a page at a time. A question that moves while pages are read may be ' +
      'missed or met twice.',
    answer: 'A page',
    parameters: { status: 'open', limit: 100, cursor: examples.CURSOR },
    success: examples.questionPage,
    problems: {
      422: {
        detail: 'the query is not valid: limit must be at most 1000',
        errors: [{ pointer: '/limit', detail: 'must be at most 1000' }],
      },
    },
  },
  'GET /questions/{question_id}': {
    id: 'getQuestion',
    tag: 'Questions',
    description: 'A question, its state at this moment and, once there is one, its outcome.',
    answer: 'The question',
    parameters: { question_id: QUESTION_ID },
    success: examples.question,
    problems: {
      404: { detail: `there is no question ${QUESTION_ID}` },
      422: noUuid('question_id'),
    },
  },
  'GET /livez': {
    id: 'getLiveness',
    tag: 'Service',
    description:
      'Answers as long as the process does. Where it does not, the process is to be started again.',
    answer: 'Alive',
    success: { status: 'ok' },
  },
  'GET /readyz': {
    id: 'getReadiness',
    tag: 'Service',
    description:
      'Whether a load balancer should send requests here. A service that is stopping is not ready.',
    answer: 'Ready',
    success: { status: 'ok' },
    problems: { 503: { detail: 'the service is shutting down' } },
  },
  'GET /metrics': {
    id: 'getMeasurements',
    tag: 'Service',
    description: 'What the process measures of itself, as Prometheus reads it.',
    answer: 'Measurements',
    success:
      '# HELP fvs_release The release that this node serves\n# TYPE fvs_release gauge\nfvs_release 214\n',
  },
  'GET /openapi.json': {
    id: 'getDocument',
    tag: 'Service',
    description:
      'This document, made from the schemas that validate what is sent and describe what is answered.',
    answer: 'An OpenAPI 3.1 document',
    success: {
      openapi: '3.1.0',
      info: { title: 'Forecast verification service', version: '1.0.0' },
      paths: {},
    },
    headers: ['ETag'],
  },
  'GET /docs': {
    id: 'getDocumentPage',
    tag: 'Service',
    description: 'This document for people. The page loads nothing from anywhere else.',
    answer: 'A page',
    success: '<!doctype html>\n<html lang="en">…</html>\n',
    headers: ['ETag'],
  },
  ...Object.fromEntries(
    (
      [
        [
          'viewer.js',
          'Viewer',
          'The program of the page: Swagger UI.',
          'globalThis.SwaggerUIBundle = () => {}\n',
        ],
        ['viewer.css', 'ViewerStyle', 'How Swagger UI looks.', '.swagger-ui { color: #3b4151 }\n'],
        ['start.js', 'ViewerStart', 'Shows this document in the page.', 'SwaggerUIBundle({})\n'],
      ] as const
    ).map(([file, name, description, success]): [string, CallText] => [
      `GET /docs/${file}`,
      { id: `get${name}`, tag: 'Service', description, answer: 'The file', success, headers: ['ETag'] },
    ]),
  ),
}
