// Takes the forecasts of a call: the checks, the rows, and their durable record. A single forecast is a batch
// of one, and a withdrawal is a forecast of null.
import type { IdempotentRequest } from '../../pipeline/access/idempotency.ts'
import { rounded } from '../../pipeline/scoring/round.ts'
import type { Check, Problem } from '../../schemas/answers.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { ForecastRow, RationaleRow } from '../../schemas/tables.ts'
import type { ApiContext, Node } from '../http/context.ts'
import type { Intake } from '../http/intake.ts'
import { faultAt, invalidInput } from '../http/input.ts'
import { assertOwnKey } from '../http/route.ts'
import type { KnownKey } from '../limits/callers.ts'
import { noSuchQuestion } from '../questions/book.ts'
import { assertOpen } from '../questions/question.ts'

/**
 * How long after its time a forecast may be written; a longer time would let a caller choose in hindsight.
 */
const LATEST_MS = 5 * 60_000

/**
 * Checks the clock, because times decide scores. @throws ServiceError `unavailable` on a node whose clock is
 * wrong.
 */
export function assertClock(clock: Check): void {
  if (clock.ok) return
  throw new ServiceError(
    'unavailable',
    `this node takes no forecasts now: ${clock.detail}. Try again, since another node may take it`,
    { type: 'wrong-clock', expose: true, retryAfterS: 60 },
  )
}

/** @throws ServiceError `conflict` for a retired agent. */
export function assertActive({ agent_id, retired_at }: KnownKey & { kind: 'agent' }, now: Date): void {
  if (retired_at === null || now.toISOString() < retired_at) return
  throw new ServiceError('conflict', retiredSince(agent_id, retired_at), { type: 'agent-retired' })
}

export function retiredSince(agentId: string, retiredAt: string): string {
  return `the agent ${agentId} is retired since ${retiredAt}`
}

/** A forecast of an agent, or with null its withdrawal. */
export interface GivenForecast {
  question_id: string
  probability: number | null
  rationale?: string | undefined
}

/** A call that takes forecasts. */
export interface TakingRequest extends IdempotentRequest {
  caller: KnownKey & { kind: 'agent' }
  agentId: string
  forecasts: readonly GivenForecast[]
  /** Returns the problem of a refused forecast, or throws, which refuses the whole call. */
  refuse: (error: unknown) => Problem
  /** Throws what refuses all forecasts at an instant. */
  assertTakeable?: (at: Date) => void
}

/** A durable forecast, with its receipt if the service keeps a log. */
export interface Recorded {
  row: ForecastRow
  receipt: string | undefined
}

export type Taken = Recorded | { problem: Problem }

/** Of each forecast: the id that it gets, or why it is refused. */
type Decided = ({ id: string } | { problem: Problem })[]

/**
 * Takes forecasts once, however often the call is sent, all by one write, and after them why they were made.
 * A repetition that finds them recorded gets new receipts, because the service keeps none.
 *
 * @returns an answer to each, in their order.
 * @throws ServiceError for another agent's key, a retired agent, a node whose clock is wrong, and a call that
 *   was interrupted too long ago to be finished.
 */
export async function takeForecasts(context: ApiContext, request: TakingRequest): Promise<Taken[]> {
  const { caller, agentId, forecasts, refuse, assertTakeable } = request
  const { idempotency, questions, currentForecasts, receipts, now } = context
  assertMaySubmit(caller, agentId, context)
  if (forecasts.some(({ probability }) => probability === null)) await context.catchUpForecasts()
  const questionIds = forecasts.map(({ question_id }) => question_id)

  async function decide(at: Date, newId: () => string): Promise<Decided> {
    const found = await questions.findAll(questionIds)
    assertTakeable?.(at)
    return forecasts.map(({ question_id, probability }, index) => {
      try {
        if (questionIds.indexOf(question_id) < index) throw namedBefore(index)
        assertOpen(found[index] ?? noSuchQuestion(question_id), at)
        if (probability === null) assertHeld(context, agentId, question_id)
        return { id: newId() }
      } catch (error) {
        return { problem: refuse(error) }
      }
    })
  }

  let given: readonly string[] | undefined
  const answer = await idempotency.run<(ForecastRow | { problem: Problem })[], Decided>(request, {
    timeOf: (at) => currentForecasts.instantOf(agentId, questionIds, at),
    check: async ({ at }, { earlier, newId }) => {
      assertTimely(at, now())
      return earlier ?? decide(at, newId)
    },
    answer: ({ at }, decided) =>
      decided.map((own, index) => ('problem' in own ? own : rowOf(own.id, agentId, forecasts[index]!, at))),
    commit: async (_claim, results) => {
      const rows = takenOf(results)
      given = await context.forecasts.submit(...rows)
      await context.rationales.submit(...rationaleRows(rows, rationalesOf(forecasts)))
    },
  })
  const left = [...(given ?? receipts.ofRepeated(takenOf(answer)))]
  return answer.map((result) => ('problem' in result ? result : { row: result, receipt: left.shift() }))
}

function takenOf(results: readonly (ForecastRow | { problem: Problem })[]): ForecastRow[] {
  return results.filter((result) => 'forecast_id' in result)
}

/** The problem of a forecast on a question that an earlier one of the same call is about. */
function namedBefore(index: number): ServiceError {
  const at = ['forecasts', String(index), 'question_id']
  return invalidInput('body', [
    faultAt(at, 'was named before in this call: send one forecast for a question', 'body'),
  ])
}

/** @throws ServiceError for another agent's key, a retired agent, or a node whose clock is wrong. */
function assertMaySubmit(
  caller: KnownKey & { kind: 'agent' },
  agent_id: string,
  { health, now }: Pick<Node, 'health' | 'now'>,
): void {
  assertOwnKey(caller.agent_id, agent_id)
  assertActive(caller, now())
  assertClock(health.clock)
}

/** @throws ServiceError `conflict` for a forecast that was interrupted too long ago to be finished. */
function assertTimely(forecastAt: Date, now: Date): void {
  if (now.getTime() - forecastAt.getTime() <= LATEST_MS) return
  throw new ServiceError(
    'conflict',
    `the request with this Idempotency-Key began at ${forecastAt.toISOString()} and was not completed; submit the forecast again with a new key`,
    { type: 'request-expired' },
  )
}

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

/** A forecast or a withdrawal of an agent. Its probability has six decimals, as imports have. */
function rowOf(
  forecast_id: string,
  agent_id: string,
  { question_id, probability }: GivenForecast,
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

/** Says why by question. Of several on a question the first counts, as does the first forecast. */
function rationalesOf(forecasts: readonly GivenForecast[]): ReadonlyMap<string, string> {
  const first = new Map(forecasts.toReversed().map((one) => [one.question_id, one.rationale] as const))
  return new Map([...first].flatMap(([id, rationale]) => (rationale ? [[id, rationale]] : [])))
}

function rationaleRows(
  rows: readonly ForecastRow[],
  rationales: ReadonlyMap<string, string>,
): RationaleRow[] {
  return rows.flatMap(({ forecast_id, entity_id, question_id, probability, forecast_at, recorded_at }) => {
    const rationale = rationales.get(question_id)
    if (rationale === undefined) return []
    return [
      { forecast_id, agent_id: entity_id, question_id, probability, forecast_at, rationale, recorded_at },
    ]
  })
}
