// Tells by its proof when a forecast was taken in. A forecast is backdated if it is older than the release
// before the first that has it, except for the time that it may take to record one.
import type { Statement } from '../../schemas/statement.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { canonical } from '../proof/canonical.ts'
import type { VerifierKey } from '../proof/note-keys.ts'
import { verifyProof } from '../proof/verify.ts'
import { inboxTimeMs, isInboxPath } from '../store/paths.ts'

/**
 * A new forecast may be this much older than the latest release before: its write may begin five minutes
 * after its time and take two, and clocks differ.
 */
export const LATEST_MS = 10 * 60_000
/** A person's forecast may come this many minutes later: that long it is witnessed. */
export const WITNESS_MINUTES = 10
/** A forecast can have been made this much before or after the time in the name of its object. */
const BEFORE_MS = 10 * 60_000
const AFTER_MS = 60_000

/** A row of the public forecasts. */
export interface PublicForecast {
  forecast_id: string
  entity_type: EntityType
  entity_id: string
  question_id: string
  /** Null for a withdrawal. */
  probability: number | null
  forecast_at: Date
}

/** Returns the acknowledgement of a forecast, which is the body of its proof. */
export function acknowledgementOf(forecast: PublicForecast): Uint8Array {
  const { forecast_id, entity_type, entity_id, question_id, probability, forecast_at } = forecast
  return canonical({
    forecast_id,
    [entity_type === 'agent' ? 'agent_id' : 'user_id']: entity_id,
    question_id,
    probability: probability === null ? null : Math.round(probability * 1e6) / 1e6,
    forecast_at: forecast_at.toISOString(),
  })
}

/**
 * Returns the release that took a forecast in.
 *
 * @param statementOf the statements that the reader's log has.
 * @throws ServiceError `invalid` for a proof that does not hold, and for one by another history.
 */
export async function takenInBy(
  body: Uint8Array,
  proof: string,
  keys: readonly VerifierKey[],
  statementOf: (release: number) => Promise<Statement>,
): Promise<number> {
  const { statement } = await verifyProof(body, proof, { keys, witnesses: [], leastCosignatures: 0 })
  const { release } = statement
  if (Buffer.compare(canonical(statement), canonical(await statementOf(release))) === 0) return release
  throw new ServiceError('invalid', `its proof has another release ${release} than the log`)
}

/** The time that the oldest new forecast of a release may have, by the `as_of` of the release before it. */
export function earliestAfter(asOf: Date, entityType: EntityType): Date {
  return new Date(asOf.getTime() - LATEST_MS - (entityType === 'agent' ? 0 : WITNESS_MINUTES * 60_000))
}

/** Whether a forecast of this time can be in an inbox object, by the time in the name of the object. */
export function isOfObject(key: string, at: Date): boolean {
  const afterMs = at.getTime() - inboxTimeMs(key)
  return afterMs >= -BEFORE_MS && afterMs <= AFTER_MS
}

/** An object that was in quarantine, and the forecasts in it as far as they could be read. */
export interface QuarantinedForecasts {
  key: string
  forecast_ids?: readonly string[] | undefined
}

/** Whether an object that was in quarantine may have had a forecast, which was taken in late then. */
export function mayExplain(
  { key, forecast_ids: ids }: QuarantinedForecasts,
  { id, at }: { id: string; at: Date },
): boolean {
  return isInboxPath('forecasts', key) && ((ids?.includes(id) ?? false) || isOfObject(key, at))
}
