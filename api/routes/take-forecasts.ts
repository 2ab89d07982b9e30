// The steps by which all calls take forecasts: the checks, the row of a forecast, and its durable record.
import type { IdempotentRequest, IdempotentWork } from '../../pipeline/access/idempotency.ts'
import { rounded } from '../../pipeline/scoring/round.ts'
import type { Check } from '../../schemas/answers.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { ForecastRow, RationaleRow } from '../../schemas/tables.ts'
import type { Intake, Node } from '../http/context.ts'
import { assertOwnKey } from '../http/route.ts'
import type { KnownKey } from '../limits/callers.ts'

/**
 * How long after its time a forecast may be written; a longer time would let a caller choose in hindsight.
 */
const LATEST_MS = 5 * 60_000

/** @throws ServiceError `conflict` for a forecast that was interrupted too long ago to be finished. */
export function assertTimely(forecastAt: Date, now: Date): void {
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

/** @throws ServiceError for another agent's key, a retired agent, or a node whose clock is wrong. */
export function assertMaySubmit(
  caller: KnownKey & { kind: 'agent' },
  agent_id: string,
  { health, now }: Pick<Node, 'health' | 'now'>,
): void {
  assertOwnKey(caller.agent_id, agent_id)
  assertActive(caller, now())
  assertClock(health.clock)
}

/** A forecast or a withdrawal of an agent. Its probability has six decimals, as imports have. */
export function rowOf(
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

/** Says why by question. Of several on a question the first counts, as does the first forecast. */
export type Rationales = ReadonlyMap<string, string>

export function rationalesOf(
  forecasts: readonly { question_id: string; rationale?: string | undefined }[],
): Rationales {
  const first = new Map(forecasts.toReversed().map((one) => [one.question_id, one.rationale] as const))
  return new Map([...first].flatMap(([id, rationale]) => (rationale ? [[id, rationale]] : [])))
}

function rationaleRows(rows: readonly ForecastRow[], rationales: Rationales): RationaleRow[] {
  return rows.flatMap(({ forecast_id, entity_id, question_id, probability, forecast_at, recorded_at }) => {
    const rationale = rationales.get(question_id)
    if (rationale === undefined) return []
    return [
      { forecast_id, agent_id: entity_id, question_id, probability, forecast_at, rationale, recorded_at },
    ]
  })
}

/**
 * Records forecasts once, however often the call is sent, and after them why they were made. A repetition
 * that finds them recorded gets new receipts, because the service keeps none.
 */
export async function recorded<T, D>(
  { idempotency, forecasts, rationales, receipts }: Intake,
  request: IdempotentRequest,
  said: Rationales,
  work: Omit<IdempotentWork<T, D>, 'commit'>,
  rowsOf: (answer: T) => ForecastRow[],
): Promise<{ answer: T; receipts: readonly string[] }> {
  const committed: (readonly string[])[] = []
  const answer = await idempotency.run(request, {
    ...work,
    commit: async (_claim, taken) => {
      const rows = rowsOf(taken)
      committed.push(await forecasts.submit(...rows))
      await rationales.submit(...rationaleRows(rows, said))
    },
  })
  return { answer, receipts: committed[0] ?? receipts.ofRepeated(rowsOf(answer)) }
}

/** @throws ServiceError `notFound` where the agent has no current forecast on the question. */
export function assertHeld(
  { currentForecasts }: Pick<Intake, 'currentForecasts'>,
  agentId: string,
  questionId: string,
): void {
  if (currentForecasts.has(agentId, questionId)) return
  throw new ServiceError('notFound', `the agent has no current forecast on the question ${questionId}`, {
    type: 'nothing-to-withdraw',
  })
}
