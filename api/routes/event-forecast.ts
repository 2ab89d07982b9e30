// An agent forecasts a whole event at once: every open question of it and no other, all or none.
import { z } from 'zod'
import { eventForecast } from '../../schemas/answers.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { eventSubmission, onEvent, strictQuery } from '../../schemas/requests.ts'
import { uuid } from '../../schemas/values.ts'
import { faultAt, invalidInput } from '../http/input.ts'
import { assertOwnKey, route } from '../http/route.ts'
import * as examples from '../openapi/examples.ts'
import { logExamples } from '../openapi/log-examples.ts'
import { type Coherence, coherenceOf } from '../questions/coherence.ts'
import { MOST_OF_EVENT } from '../questions/book.ts'
import { type KnownQuestion, statusAt } from '../questions/question.ts'
import { TAKES_FORECASTS, refuseAll, resultText } from './forecasts.ts'
import { takeForecasts } from './take-forecasts.ts'

const { AGENT_ID, EVENT } = examples

export const submitEventForecast = route({
  path: '/agents/{agent_id}/events/{event_id}/forecast',
  operationId: 'submitEventForecast',
  tag: 'Agents',
  summary: 'Submit a probability for every open question of an event, all or none',
  description:
    'Takes a probability of yes for each question of the event that is open, and for no other. All are durable by one write before the ' +
    'call is answered, with one time; if one is refused, all are. Each counts as one submission. Probabilities that cannot all be right ' +
    'are taken too: `coherence` tells what is wrong with them, and the score punishes it. `?strict=true` refuses them.\n\n' +
    'Where the service keeps a public log, each result has a `receipt` as in `POST /agents/{agent_id}/forecasts`. With an ' +
    '`Idempotency-Key` the call may be repeated if its answer was lost.',
  ...TAKES_FORECASTS,
  params: z.strictObject({
    agent_id: uuid,
    ...onEvent.shape,
  }),
  query: strictQuery,
  body: eventSubmission,
  countsAs: ({ body }) => Object.keys(body.probabilities).length,
  examples: {
    params: { agent_id: AGENT_ID, event_id: EVENT.event_id },
    query: { strict: 'true' },
    body: examples.eventSubmission,
  },
  success: {
    description: 'All forecasts are durable',
    body: eventForecast,
    cache: 'no-store',
    get example() {
      return {
        event_id: EVENT.event_id,
        coherence: null,
        results: logExamples().forecastResults.results.slice(0, 1),
      }
    },
  },
  problems: {
    403: { type: 'other-agents-key', detail: `this key belongs to another agent than ${AGENT_ID}` },
    404: { type: 'not-found', detail: `no question has the event_id "${EVENT.event_id}"` },
    409: {
      type: 'question-closed',
      detail: `the question ${examples.QUESTION_ID} takes no forecast: it closed at 2026-06-01T00:00:00.000Z`,
    },
    422: examples.invalid(
      'body',
      'probabilities',
      `lacks ${examples.QUESTION_ID}, an open question of the event`,
    ),
  },
  handle: async ({ params, query, body, caller, idempotencyKey: key }, context) => {
    const { agent_id: agentId, event_id } = params
    const { probabilities } = body
    assertOwnKey(caller.agent_id, agentId)
    const { event, questions, count } = await context.questions.event(event_id)
    if (count > questions.length) throw tooLarge(event_id, count)
    const named = questions.filter(({ question_id }) => question_id in probabilities)
    const own = new Set(named.map(({ question_id }) => question_id))
    const strangers = Object.keys(probabilities).filter((id) => !own.has(id))
    const isWhole = named.length === questions.length
    const coherence = coherenceOf(event?.kind ?? 'independent', named, probabilities, isWhole)
    if (query.strict && coherence !== null) throw incoherent(event_id, event!.kind, coherence)
    const ids = [...own, ...strangers]
    const forecasts = ids.map((question_id) => ({ question_id, probability: probabilities[question_id]! }))
    const taken = await takeForecasts(context, {
      scope: `event forecast ${agentId} ${event_id}`,
      key,
      body,
      caller,
      agentId,
      forecasts,
      refuse: refuseAll,
      assertTakeable(at) {
        const faults = [
          ...strangers.map((id) => faultAt(['probabilities', id], 'is not a question of the event', 'body')),
          ...lackingAt(at, questions, new Set(ids)),
        ]
        if (faults.length > 0) throw invalidInput('body', faults)
      },
    })
    const results = taken.map((one, index) => resultText(one, forecasts[index]!.question_id))
    const about = JSON.stringify({ coherence, event_id })
    return { body: Buffer.from(`${about.slice(0, -1)},"results":[${results.join()}]}`) }
  },
})

/** The questions that are open at an instant and not named. */
function lackingAt(at: Date, questions: readonly KnownQuestion[], ids: ReadonlySet<string>) {
  return questions
    .filter((question) => statusAt(question, at.getTime()) === 'open' && !ids.has(question.question_id))
    .map(({ question_id }) =>
      faultAt(['probabilities'], `lacks ${question_id}, an open question of the event`, 'body'),
    )
}

function tooLarge(eventId: string, count: number): ServiceError {
  const what = `the event ${JSON.stringify(eventId)} has ${count} questions, and one call forecasts at most ${MOST_OF_EVENT}`
  return invalidInput('body', [faultAt(['probabilities'], `cannot be taken: ${what}`, 'body')])
}

function incoherent(eventId: string, kind: string, coherence: NonNullable<Coherence>): ServiceError {
  const what =
    'sum' in coherence
      ? `the probabilities of the ${kind} event ${JSON.stringify(eventId)} add up to ${coherence.sum}`
      : `the probability rises at ${coherence.rises_at.join(', ')} of the ordered event ${JSON.stringify(eventId)}`
  return new ServiceError('invalid', `${what}; nothing was taken`, { type: 'incoherent' })
}
