// Agents submit forecasts, one or many at once.
import { z } from 'zod'
import type { IdempotentRequest, IdempotentWork } from '../../pipeline/access/idempotency.ts'
import { inOrder } from '../../pipeline/proof/canonical.ts'
import { rounded } from '../../pipeline/scoring/round.ts'
import { acknowledgementBytes, acknowledgementText } from '../../pipeline/tables/receipts.ts'
import {
  type Check,
  type Problem,
  acknowledgedForecast,
  acknowledgedWithdrawal,
  forecastResults,
} from '../../schemas/answers.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { MOST_FORECASTS, forecastSubmission, forecastSubmissions } from '../../schemas/requests.ts'
import type { ForecastRow } from '../../schemas/tables.ts'
import { uuid } from '../../schemas/values.ts'
import type { Intake } from '../http/context.ts'
import type { KnownKey } from '../limits/callers.ts'
import * as examples from '../openapi/examples.ts'
import { logExamples } from '../openapi/log-examples.ts'
import { notCurrent } from '../current-forecasts/current-forecasts.ts'
import { noSuchQuestion } from '../questions/book.ts'
import { assertOpen } from '../questions/question.ts'
import { problemOf } from '../http/problems.ts'
import { assertOwnKey, route } from '../http/route.ts'

const { AGENT_ID, QUESTION_ID } = examples

/**
 * How long after its time a forecast may be written; a longer time would let a caller choose in hindsight.
 */
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

/**
 * Checks the clock, because times decide scores. @throws ServiceError `unavailable` on a node whose clock is
 * wrong.
 */
function assertClock(clock: Check): void {
  if (clock.ok) return
  throw new ServiceError(
    'unavailable',
    `this node takes no forecasts now: ${clock.detail}. Try again, since another node may take it`,
    { type: 'wrong-clock', expose: true, retryAfterS: 60 },
  )
}

/** @throws ServiceError `conflict` for a retired agent. */
function assertActive({ agent_id, retired_at }: KnownKey & { kind: 'agent' }): void {
  if (retired_at === null) return
  throw new ServiceError('conflict', `the agent ${agent_id} is retired since ${retired_at}`, {
    type: 'agent-retired',
  })
}

/** @throws ServiceError for another agent's key, a retired agent, or a node whose clock is wrong. */
function assertMaySubmit(caller: KnownKey & { kind: 'agent' }, agent_id: string, clock: Check): void {
  assertOwnKey(caller.agent_id, agent_id)
  assertActive(caller)
  assertClock(clock)
}

/** A forecast or a withdrawal of an agent. Its probability has six decimals, as imports have. */
function rowOf(
  forecast_id: string,
  agent_id: string,
  { question_id, probability }: { question_id: string; probability: number | null },
  at: Date,
): ForecastRow {
  return {
    forecast_id,
    question_id,
    probability: probability === null ? null : rounded(probability),
    entity_type: 'agent',
    entity_id: agent_id,
    forecast_at: at,
    recorded_at: at,
    source: 'api',
  }
}

/**
 * Records forecasts once, however often the call is sent. A repetition that finds them recorded gets new
 * receipts, because the service keeps none.
 */
async function recorded<T, D>(
  { idempotency, forecasts, receipts }: Intake,
  request: IdempotentRequest,
  work: Omit<IdempotentWork<T, D>, 'commit'>,
  rowsOf: (answer: T) => ForecastRow[],
): Promise<{ answer: T; receipts: readonly string[] }> {
  const committed: (readonly string[])[] = []
  const answer = await idempotency.run(request, {
    ...work,
    commit: async (_claim, taken) => {
      committed.push(await forecasts.submit(...rowsOf(taken)))
    },
  })
  return { answer, receipts: committed[0] ?? receipts.ofRepeated(rowsOf(answer)) }
}

const RECEIPT_ABOUT =
  'Where the service keeps a public log, the header `X-Service-Receipt` is its signed promise: this forecast is durable, and will ' +
  'be in the tree `forecasts` of the first release whose `as_of` is at least ten minutes after `forecast_at`, or of one before. ' +
  'From then on `GET /forecasts/{forecast_id}/proof` proves it. A receipt without such a proof is evidence against the service, ' +
  'unless a release lists the forecast in `quarantined`, as lost.'

export const submitForecast = route({
  path: '/agents/{agent_id}/forecast',
  operationId: 'submitForecast',
  tag: 'Agents',
  summary: 'Submit a probability for a question; answered once it is durable',
  description:
    'Takes the probability of yes for an open question, with the agent’s own key. It is answered once the ' +
    'forecast is durable. Submit again to change it: all forecasts on a question are scored, each for the time that it ' +
    'held. With an `Idempotency-Key` the call may be repeated if its answer was lost: it counts once.\n\n' +
    RECEIPT_ABOUT +
    ' Keep the exact bytes of the body with it. `fvs verify` checks both with the public key of the log, without the service.',
  key: 'agent',
  limit: 'forecast',
  idempotent: true,
  follows: true,
  needsStore: true,
  needsQuestions: true,
  isDirect: true,
  params: z.strictObject({ agent_id: uuid }),
  body: forecastSubmission,
  examples: { params: { agent_id: AGENT_ID }, body: examples.forecastSubmission },
  success: {
    description: 'The forecast is durable',
    body: acknowledgedForecast,
    cache: 'no-store',
    example: examples.acknowledgedForecast,
    headers: ['X-Service-Receipt'],
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
    assertMaySubmit(caller, agent_id, context.health.clock)
    const { questions, now } = context
    const { answer, receipts } = await recorded(
      context,
      { scope: `forecast ${agent_id}`, key: idempotencyKey, body },
      {
        check: async ({ at }) => {
          assertOpen(await questions.find(body.question_id), at)
          assertTimely(at, now())
        },
        answer: ({ id, at }) => rowOf(id, agent_id, body, at),
      },
      (row) => [row],
    )
    const [receipt] = receipts
    return {
      body: acknowledgementBytes(answer),
      ...(receipt === undefined ? {} : { headers: { 'X-Service-Receipt': receipt } }),
    }
  },
})

/** @throws ServiceError `notFound` where the agent has no current forecast on the question. */
function assertHeld(
  { currentForecasts }: Pick<Intake, 'currentForecasts'>,
  agentId: string,
  questionId: string,
): void {
  if (currentForecasts.has(agentId, questionId)) return
  throw new ServiceError('notFound', `the agent has no current forecast on the question ${questionId}`, {
    type: 'nothing-to-withdraw',
  })
}

export const withdrawForecast = route({
  path: '/agents/{agent_id}/forecasts/{question_id}',
  method: 'DELETE',
  operationId: 'withdrawForecast',
  tag: 'Agents',
  summary: 'Withdraw the current forecast on an open question',
  description:
    'From then until its next forecast the agent has none on the question: it gains and loses nothing in that time, and its coverage ' +
    'does not grow. What it forecast before counts for the time that it held. It is answered once the withdrawal is durable, counts ' +
    'as one submission, and with an `Idempotency-Key` may be repeated if its answer was lost.\n\n' +
    RECEIPT_ABOUT,
  key: 'agent',
  limit: 'forecast',
  idempotent: true,
  follows: true,
  needsStore: true,
  needsQuestions: true,
  params: z.strictObject({ agent_id: uuid, question_id: uuid }),
  examples: { params: { agent_id: AGENT_ID, question_id: QUESTION_ID } },
  success: {
    description: 'The withdrawal is durable',
    body: acknowledgedWithdrawal,
    cache: 'no-store',
    example: examples.acknowledgedWithdrawal,
    headers: ['X-Service-Receipt'],
  },
  problems: {
    403: { type: 'other-agents-key', detail: `this key belongs to another agent than ${AGENT_ID}` },
    404: {
      type: 'nothing-to-withdraw',
      detail: `the agent has no current forecast on the question ${QUESTION_ID}`,
    },
    409: {
      type: 'question-closed',
      detail: `the question ${QUESTION_ID} takes no forecast: it closed at 2026-06-01T00:00:00.000Z`,
    },
  },
  handle: async ({ params, caller, idempotencyKey }, context) => {
    const { agent_id, question_id } = params
    assertMaySubmit(caller, agent_id, context.health.clock)
    if (!(await context.catchUpForecasts())) throw notCurrent()
    const { questions, now } = context
    const { answer, receipts } = await recorded<ForecastRow, true>(
      context,
      { scope: `withdrawal ${agent_id}`, key: idempotencyKey, body: { question_id } },
      {
        check: async ({ at }, { earlier }) => {
          assertOpen(await questions.find(question_id), at)
          assertTimely(at, now())
          if (!earlier) assertHeld(context, agent_id, question_id)
          return true
        },
        answer: ({ id, at }) => rowOf(id, agent_id, { question_id, probability: null }, at),
      },
      (row) => [row],
    )
    const [receipt] = receipts
    return {
      body: acknowledgementBytes(answer),
      ...(receipt === undefined ? {} : { headers: { 'X-Service-Receipt': receipt } }),
    }
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
    'refused alone; the others are durable, all by one write, before the call is answered. A probability of null withdraws the current ' +
    'forecast on the question. Each counts as one submission. With ' +
    'an `Idempotency-Key` the whole call may be repeated if its answer was lost: it has the same answer, and counts once.\n\n' +
    'Where the service keeps a public log, each result with the status `ok` has a `receipt`, as the header `X-Service-Receipt` of a ' +
    'forecast that is submitted alone. It is of the body which that call would have: the canonical JSON of the other members ' +
    'without `status`, which is the result up to `,"receipt"` and a closing brace. A repetition has other receipts, which hold as well.',
  key: 'agent',
  limit: 'forecast',
  idempotent: true,
  follows: true,
  needsStore: true,
  needsQuestions: true,
  isDirect: true,
  params: z.strictObject({ agent_id: uuid }),
  body: forecastSubmissions,
  mostItems: { forecasts: () => MOST_FORECASTS },
  submissions: ({ forecasts }) => forecasts.length,
  examples: { params: { agent_id: AGENT_ID }, body: examples.forecastSubmissions },
  success: {
    description: 'Those with the status `ok` are durable',
    body: forecastResults,
    cache: 'no-store',
    get example() {
      return logExamples().forecastResults
    },
  },
  problems: {
    403: { type: 'other-agents-key', detail: `this key belongs to another agent than ${AGENT_ID}` },
    422: examples.invalid('body', 'forecasts', 'must have at least one forecast'),
  },
  handle: async ({ params, body, caller, idempotencyKey }, context) => {
    const { agent_id } = params
    assertMaySubmit(caller, agent_id, context.health.clock)
    const withdraws = body.forecasts.some(({ probability }) => probability === null)
    if (withdraws && !(await context.catchUpForecasts())) throw notCurrent()
    const { questions, now } = context
    const { answer, receipts } = await recorded<(ForecastRow | { problem: Problem })[], Decided[]>(
      context,
      { scope: `forecasts ${agent_id}`, key: idempotencyKey, body },
      {
        check: async ({ at }, { earlier, newId }) => {
          assertTimely(at, now())
          if (earlier) return earlier
          const found = await questions.findAll(body.forecasts.map(({ question_id }) => question_id))
          return found.map((question, index) => {
            const { question_id, probability } = body.forecasts[index]!
            try {
              assertOpen(question ?? noSuchQuestion(question_id), at)
              if (probability === null) assertHeld(context, agent_id, question_id)
              return { id: newId() }
            } catch (error) {
              if (isRefusal(error)) return { problem: problemOf(error).problem }
              throw error
            }
          })
        },
        answer: ({ at }, decided) =>
          decided.map((own, index) =>
            'problem' in own ? own : rowOf(own.id, agent_id, body.forecasts[index]!, at),
          ),
      },
      takenOf,
    )
    let taken = 0
    const results = answer.map((result) => {
      if ('problem' in result) {
        return JSON.stringify({ problem: inOrder(result.problem), status: 'refused' })
      }
      // The members stay in order, because both come after those of the acknowledgement.
      const added = JSON.stringify({ receipt: receipts[taken++], status: 'ok' })
      return `${acknowledgementText(result).slice(0, -1)},${added.slice(1)}`
    })
    // This text is canonical, because its members are in order.
    return { body: Buffer.from(`{"results":[${results.join()}]}`) }
  },
})

function takenOf(answer: readonly (ForecastRow | { problem: Problem })[]): ForecastRow[] {
  return answer.filter((result) => 'forecast_id' in result)
}

/** Whether the error says that a question takes no forecast or does not exist. */
function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && (error.kind === 'conflict' || error.kind === 'notFound')
}
