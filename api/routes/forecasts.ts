// Agents submit forecasts, one or many at once.
import { z } from 'zod'
import { rounded } from '../../pipeline/scoring/round.ts'
import { type Checks, type Problem, forecastReceipt, forecastResults } from '../../schemas/answers.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { MOST_FORECASTS, forecastSubmission, forecastSubmissions } from '../../schemas/requests.ts'
import type { ForecastRow } from '../../schemas/tables.ts'
import { uuid } from '../../schemas/values.ts'
import type { KnownKey } from '../limits/callers.ts'
import * as examples from '../openapi/examples.ts'
import { assertOpen } from '../questions/question.ts'
import { problemOf } from '../problems.ts'
import { assertOwnKey, route } from '../route.ts'

const { AGENT_ID, QUESTION_ID } = examples

/** How long after its time a forecast may be written; a longer time would let a caller choose in hindsight. */
const LATEST_MS = 5 * 60_000

/** @throws ServiceError `conflict` for a forecast that was interrupted too long ago to be finished. */
function assertTimely(forecastAt: Date, now: Date): void {
  if (now.getTime() - forecastAt.getTime() <= LATEST_MS) return
  throw new ServiceError(
    'conflict',
    `the request with this Idempotency-Key began at ${forecastAt.toISOString()} and was not completed; submit the forecast again with a new key`,
    { type: 'request-expired' },
  )
}

/** Times decide scores. @throws ServiceError `unavailable` on a node whose clock is wrong. */
function assertClock({ clock }: Checks): void {
  if (clock.ok) return
  throw new ServiceError(
    'unavailable',
    `this node takes no forecasts now: ${clock.detail}. Try again, since another node may take it`,
    { type: 'wrong-clock', expose: true, retryAfterS: 60 },
  )
}

/** @throws ServiceError `conflict`. */
function assertActive({ agent_id, retired_at }: KnownKey & { kind: 'agent' }): void {
  if (retired_at === null) return
  throw new ServiceError('conflict', `the agent ${agent_id} is retired since ${retired_at}`, {
    type: 'agent-retired',
  })
}

/** @throws ServiceError for another agent's key, a retired agent, or a node whose clock is wrong. */
function assertMaySubmit(caller: KnownKey & { kind: 'agent' }, agent_id: string, checks: Checks): void {
  assertOwnKey(caller.agent_id, agent_id)
  assertActive(caller)
  assertClock(checks)
}

function rowOf(
  { forecast_id, question_id, probability, agent_id }: z.infer<typeof forecastReceipt>,
  at: Date,
): ForecastRow {
  return {
    forecast_id,
    question_id,
    probability,
    entity_type: 'agent',
    entity_id: agent_id,
    forecast_at: at,
    recorded_at: at,
    source: 'api',
  }
}

export const submitForecast = route({
  path: '/agents/{agent_id}/forecast',
  operationId: 'submitForecast',
  tag: 'Agents',
  summary: 'Submit a probability for a question; answered once it is durable',
  description:
    'Takes the probability of yes for an open question, with the agent’s own key. It is answered once the ' +
    'forecast is durable. Submit again to change it: all forecasts on a question are scored, each for the time that it ' +
    'held. With an `Idempotency-Key` the call may be repeated if its answer was lost: it counts once.',
  key: 'agent',
  limit: 'forecast',
  idempotent: true,
  follows: true,
  needsStore: true,
  params: z.strictObject({ agent_id: uuid }),
  body: forecastSubmission,
  examples: { params: { agent_id: AGENT_ID }, body: examples.forecastSubmission },
  success: {
    description: 'The forecast is durable',
    body: forecastReceipt,
    cache: 'no-store',
    example: examples.forecastReceipt,
    links: {
      question: { operationId: 'getQuestion', parameters: { question_id: '$response.body#/question_id' } },
      profile: { operationId: 'getAgentProfile', parameters: { agent_id: '$response.body#/agent_id' } },
    },
  },
  problems: {
    403: { type: 'other-agents-key', detail: `this key belongs to another agent than ${AGENT_ID}` },
    404: { type: 'not-found', detail: `there is no question ${QUESTION_ID}` },
    409: {
      type: 'question-closed',
      detail: `the question ${QUESTION_ID} takes no forecast: it closed at 2026-06-01T00:00:00.000Z`,
    },
    422: examples.invalid('body', 'probability', 'must be at most 1'),
  },
  handle: async ({ params, body, caller, idempotencyKey }, context) => {
    const { agent_id } = params
    assertMaySubmit(caller, agent_id, context.health.checks)
    const { questions, forecasts, idempotency, now } = context
    const request = { scope: `forecast ${agent_id}`, key: idempotencyKey, body }
    const receipt = await idempotency.run(request, {
      check: async ({ at }) => {
        assertOpen(await questions.find(body.question_id), at)
        assertTimely(at, now())
      },
      answer: ({ id, at }) => ({
        forecast_id: id,
        agent_id,
        question_id: body.question_id,
        // To six decimals, as imports are.
        probability: rounded(body.probability),
        forecast_at: at.toISOString(),
      }),
      commit: ({ at }, answer) => forecasts.submit(rowOf(answer, at)),
    })
    return { body: receipt }
  },
})

/** Of a forecast in a batch: the id that it gets, or why it is refused. */
type Decided = { id: string } | { problem: Problem }

export const submitForecasts = route({
  path: '/agents/{agent_id}/forecasts',
  operationId: 'submitForecasts',
  tag: 'Agents',
  summary: `Submit up to ${MOST_FORECASTS} probabilities at once, with an answer for each`,
  description:
    'Takes a probability for each of several questions, with the agent’s own key. A question that takes no forecast is ' +
    'refused alone; the others are durable, all by one write, before the call is answered. Each counts as one submission. With ' +
    'an `Idempotency-Key` the whole call may be repeated if its answer was lost: it has the same answer, and counts once.',
  key: 'agent',
  limit: 'forecast',
  idempotent: true,
  follows: true,
  needsStore: true,
  params: z.strictObject({ agent_id: uuid }),
  body: forecastSubmissions,
  mostItems: { forecasts: () => MOST_FORECASTS },
  submissions: ({ forecasts }) => forecasts.length,
  examples: { params: { agent_id: AGENT_ID }, body: examples.forecastSubmissions },
  success: {
    description: 'Those with the status `ok` are durable',
    body: forecastResults,
    cache: 'no-store',
    example: examples.forecastResults,
  },
  problems: {
    403: { type: 'other-agents-key', detail: `this key belongs to another agent than ${AGENT_ID}` },
    422: examples.invalid('body', 'forecasts', 'must have at least one forecast'),
  },
  handle: async ({ params, body, caller, idempotencyKey }, context) => {
    const { agent_id } = params
    assertMaySubmit(caller, agent_id, context.health.checks)
    const { questions, forecasts, idempotency, now } = context
    const wanted = body.forecasts.map(({ question_id, probability }) => ({
      question_id,
      probability: rounded(probability),
    }))
    const results = await idempotency.run<z.infer<typeof forecastResults>['results'], Decided[]>(
      { scope: `forecasts ${agent_id}`, key: idempotencyKey, body },
      {
        check: async ({ at }, { earlier, newId }) => {
          assertTimely(at, now())
          return (
            earlier ??
            Promise.all(
              wanted.map(async ({ question_id }) => {
                try {
                  assertOpen(await questions.find(question_id), at)
                  return { id: newId() }
                } catch (error) {
                  if (isRefusal(error)) return { problem: problemOf(error).problem }
                  throw error
                }
              }),
            )
          )
        },
        answer: ({ at }, decided) =>
          wanted.map((forecast, index) => {
            const own = decided[index]!
            if ('problem' in own) return { status: 'refused', ...own }
            return { status: 'ok', forecast_id: own.id, agent_id, ...forecast, forecast_at: at.toISOString() }
          }),
        commit: ({ at }, answer) => {
          const taken = answer.flatMap((result) => (result.status === 'ok' ? [rowOf(result, at)] : []))
          return forecasts.submit(...taken)
        },
      },
    )
    return { body: { results } }
  },
})

/** Whether a question takes no forecast, or is not there. */
function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && (error.kind === 'conflict' || error.kind === 'notFound')
}
