// The calls of the operator: questions, events, outcomes, prices, people with their forecasts, and statements
// about agents.
import { z } from 'zod'
import { agentStated, forecastsTaken, rowsTaken } from '../../schemas/answers.ts'
import {
  MOST_ROWS,
  agentStatement,
  eventOutcome,
  onEvent,
  operatorEvents,
  operatorForecasters,
  operatorForecasts,
  operatorPrices,
  operatorQuestions,
  operatorResolutions,
} from '../../schemas/requests.ts'
import type { ImportedTable } from '../../schemas/tables.ts'
import type { OperatorScope } from '../../schemas/tiers.ts'
import { uuid } from '../../schemas/values.ts'
import { type Route, route } from '../http/route.ts'
import { AGENT_ID, QUESTION_ID, USER_ID } from '../openapi/examples.ts'
import * as examples from '../openapi/operator-examples.ts'
import { assertClock } from './take-forecasts.ts'

/** Room for a thousand questions with their texts. */
const BODY_BYTES = 4 * 1024 * 1024

/** The common part of the operator's calls. */
export const OF_OPERATOR = {
  key: 'operator',
  limit: 'operator',
  tag: 'Operator',
  needsStore: true,
  bodyLimitBytes: BODY_BYTES,
} as const

/** The common part of those that write. */
const LOGGED = { ...OF_OPERATOR, isLogged: true } as const

export const lacking = (scope: OperatorScope) =>
  ({
    type: 'missing-scope',
    detail: `this key has the scope ${scope === 'agents' ? 'people' : 'agents'}, and the call needs ${scope}`,
  }) as const
export const TOO_LARGE = { type: 'too-large', detail: `the body has more than ${BODY_BYTES} bytes` } as const

const ALL_OR_NOTHING =
  `Up to ${MOST_ROWS} rows, all or nothing, checked as \`fvs import\` checks a file: of bad rows the first twenty are named, and nothing ` +
  'changes. It is answered once the rows are durable. Sending the same again is safe, and changes nothing.'

interface Put {
  kind: Exclude<ImportedTable, 'forecasts'>
  scope: OperatorScope
  operationId: string
  summary: string
  about: string
  body: z.ZodType
  row: object
  fault: string
}

const put = ({ kind, scope, operationId, summary, about, body, row, fault }: Put): Route =>
  route({
    ...LOGGED,
    path: `/operator/${kind}`,
    method: 'PUT',
    operationId,
    summary,
    description: `${about} ${ALL_OR_NOTHING}`,
    scope,
    body,
    mostItems: { [kind]: () => MOST_ROWS },
    examples: { body: { [kind]: [row] } },
    success: {
      description: 'The rows are durable',
      body: rowsTaken,
      cache: 'no-store',
      example: examples.rowsTaken(kind),
    },
    problems: {
      403: lacking(scope),
      413: TOO_LARGE,
      422: examples.badRow(`PUT /operator/${kind}`, kind, fault),
    },
    handle: async ({ body: sent, caller }, { operator }) => {
      const { reason, [kind]: rows } = sent as { reason?: string } & Record<string, object[]>
      return {
        body: await operator.put({ kind, rows: rows!, reason }, { caller, call: `PUT /operator/${kind}` }),
      }
    },
  })

const putQuestions = put({
  kind: 'questions',
  scope: 'questions',
  operationId: 'putQuestions',
  summary: 'Ask questions, or change them',
  about:
    'A question that is known is changed where the row differs; a field that a row does not have keeps what stands. After a release has ' +
    'scored it, `opened_at`, `closes_at`, `event_id`, `position` and `category` change only with a `reason`.',
  body: operatorQuestions,
  row: {
    question_id: examples.CHANGED_QUESTION_ID,
    title: 'Will it rain in Paris on New Year’s Eve?',
    category: 'weather',
    event_id: examples.EVENT_ID,
    opened_at: '2026-01-01T00:00:00Z',
    closes_at: '2199-01-01T00:00:00Z',
  },
  fault: 'closes_at is "soon", not a time with an offset such as 2026-01-31T12:00:00Z',
})

const putResolutions = put({
  kind: 'resolutions',
  scope: 'resolutions',
  operationId: 'putResolutions',
  summary: 'Say how questions ended, or take it back',
  about: 'The last outcome of a question counts; `annulled` scores nobody, and `open` withdraws an outcome.',
  body: operatorResolutions,
  row: { question_id: examples.CHANGED_QUESTION_ID, outcome: 'yes', resolved_at: '2026-02-01T08:00:00Z' },
  fault: 'resolved_at is "2199-01-01T00:00:00Z", later than now',
})

const putEvents = put({
  kind: 'events',
  scope: 'questions',
  operationId: 'putEvents',
  summary: 'Say what the questions of an event have to do with each other',
  about:
    'The questions of an event share its `event_id`. Of an `exclusive` event exactly one ends yes, of an `at_most_one` none or one; a yes ' +
    'in an `ordered` event implies a yes at every lower `position`; in an `independent` one nothing is implied, as in an event without a ' +
    'row. Outcomes that the kind rules out are refused. After a release has scored a question of it, `kind` changes only with a `reason`.',
  body: operatorEvents,
  row: { event_id: examples.EVENT_ID, title: 'What will the weather in Paris be?', kind: 'independent' },
  fault: 'title is missing',
})

const putEventOutcome = route({
  ...LOGGED,
  path: '/operator/events/{event_id}/outcome',
  method: 'PUT',
  operationId: 'putEventOutcome',
  summary: 'Say how an event ended',
  description:
    'Resolves all questions of the event, all or nothing: those named by `yes`, or in an `ordered` event those up to `highest`, end yes, ' +
    'those in `annulled` score nobody, and every other one ends no. The answer is that of `PUT /operator/resolutions`.',
  scope: 'resolutions',
  params: onEvent,
  body: eventOutcome,
  examples: {
    params: { event_id: examples.EVENT_ID },
    body: { yes: [examples.CHANGED_QUESTION_ID], resolved_at: '2026-02-01T08:00:00Z' },
  },
  success: {
    description: 'The outcomes are durable',
    body: rowsTaken,
    cache: 'no-store',
    example: examples.rowsTaken('resolutions'),
  },
  problems: {
    403: lacking('resolutions'),
    404: { type: 'not-found', detail: 'no question has the event_id "weather"; nothing was written' },
    413: TOO_LARGE,
    422: examples.badRow(
      'PUT /operator/events/weather/outcome',
      'yes',
      'resolved_at is "2199-01-01T00:00:00Z", later than now',
    ),
  },
  handle: async ({ params: { event_id }, body, caller }, { operator }) => ({
    body: await operator.eventOutcome(event_id, body, {
      caller,
      call: `PUT /operator/events/${event_id}/outcome`,
    }),
  }),
})

const putPrices = put({
  kind: 'prices',
  scope: 'questions',
  operationId: 'putPrices',
  summary: 'Say what a market said',
  about:
    'A price stands from `priced_at` until the next one, at most 24 hours. One question has the prices of one `source`. Of two prices of ' +
    'a question at one time the one said last counts.',
  body: operatorPrices,
  row: {
    question_id: examples.CHANGED_QUESTION_ID,
    priced_at: '2026-01-15T12:00:00Z',
    probability: 0.73,
    source: 'a market',
  },
  fault: 'priced_at is "2199-01-01T00:00:00Z", later than now',
})

const putForecasters = put({
  kind: 'forecasters',
  scope: 'people',
  operationId: 'putForecasters',
  summary: 'Name forecasters',
  about: 'A forecaster needs no row: the first forecast is enough. A row gives the name to show.',
  body: operatorForecasters,
  row: { user_id: USER_ID, display_name: 'Ada' },
  fault: 'display_name must have at least one letter or digit',
})

const postForecasts = route({
  ...LOGGED,
  path: '/operator/forecasts',
  operationId: 'postForecasts',
  summary: 'Send forecasts of people as they make them',
  description:
    `${ALL_OR_NOTHING} A forecast that comes at most ten minutes after it was made is witnessed: it has a receipt, and is in the tree ` +
    '`forecasts` of the first release whose `as_of` is at least twenty minutes after `forecast_at`, or of one before. A later one counts ' +
    'as one that was imported. The body that a receipt is of is the canonical JSON of `forecast_at`, `forecast_id`, `probability`, ' +
    '`question_id` and `user_id`.',
  scope: 'people',
  body: operatorForecasts,
  mostItems: { forecasts: () => MOST_ROWS },
  examples: {
    body: {
      forecasts: [
        {
          user_id: USER_ID,
          question_id: QUESTION_ID,
          probability: 0.73,
          forecast_at: '2026-02-28T11:59:58Z',
        },
      ],
    },
  },
  success: {
    description: 'The forecasts are durable',
    body: forecastsTaken,
    cache: 'no-store',
    example: examples.forecastsTaken,
  },
  problems: {
    403: lacking('people'),
    413: TOO_LARGE,
    422: examples.badRow(
      'POST /operator/forecasts',
      'forecasts',
      'forecast_at is "2199-01-01T00:00:00Z", later than now',
    ),
  },
  handle: async ({ body, caller }, { operator, health }) => {
    assertClock(health.clock)
    return { body: await operator.forecasts(body.forecasts, { caller, call: 'POST /operator/forecasts' }) }
  },
})

const putAgent = route({
  ...LOGGED,
  path: '/operator/agents/{agent_id}',
  method: 'PUT',
  operationId: 'putAgent',
  summary: 'Say who owns an agent, and whether it is retired',
  description:
    'A field that is left out changes nothing. A retired agent takes no forecasts and stays in every record. The call may be repeated.',
  scope: 'agents',
  params: z.strictObject({ agent_id: uuid }),
  body: agentStatement,
  examples: { params: { agent_id: AGENT_ID }, body: { owner_id: 'a research group' } },
  success: {
    description: 'It is so from the next release on',
    body: agentStated,
    cache: 'no-store',
    example: { agent_id: AGENT_ID, changed: true, retired_at: null },
  },
  problems: {
    403: lacking('agents'),
    404: { type: 'not-found', detail: `no agent is registered by the id "${AGENT_ID}"; nothing was written` },
    413: TOO_LARGE,
  },
  handle: async ({ params: { agent_id }, body, caller }, { operator }) => ({
    body: await operator.agent(agent_id, body, { caller, call: `PUT /operator/agents/${agent_id}` }),
  }),
})

export const operatorCalls: Route[] = [
  putQuestions,
  putEvents,
  putResolutions,
  putEventOutcome,
  putPrices,
  putForecasters,
  postForecasts,
  putAgent,
]
