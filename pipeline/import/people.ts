// Takes in forecasts of people that an operator's program sends while they are being made: checked as a file
// is. A forecast that comes in time is witnessed; another is as one of a file.
import type { TableVersion } from '../tables/delta.ts'
import { type Effect, type ImportPart, type ImportWork, comparedParts, freshOf } from './compare.ts'
import { recordOf, refusal, takeInMet } from './import.ts'
import { takeIn } from './take-in.ts'
import { tableRows } from './values.ts'
import { IMPORT_COLUMNS } from './columns.ts'
import { onKnown } from './waiting.ts'

/** A forecast of a call, in the order of the call. */
export interface SentForecast {
  entity_id: string
  question_id: string
  probability: number | null
  forecast_at: Date
  /** The id of the forecast that is known already, or that is recorded as of a file; otherwise null. */
  forecast_id: string | null
  /** Whether it is witnessed, or will be once it is recorded. */
  isWitnessed: boolean
}

export interface TakenForecast extends SentForecast {
  forecast_id: string
}

export interface TakenForecasts {
  effect: Effect
  taken: TakenForecast[]
  /** Forecasters that no row had named before. */
  forecastersCreated: number
  /** The version of the table that has the forecasts that came late; undefined if none did. */
  version: number | undefined
}

/**
 * Checks forecasts, all or nothing, and takes in those that came late. The others are given to `record`,
 * which makes them durable and returns their ids: they came at most `minutes` after they were made. Sending
 * the same again is safe, and completes a call that was cut off.
 *
 * @throws ServiceError as `importFile` does.
 */
export async function takeForecasts(
  context: ImportWork,
  part: ImportPart,
  minutes: number,
  record: (sent: SentForecast[]) => Promise<string[]>,
): Promise<TakenForecasts> {
  for (;;) {
    const { versions, bad, sent, ...effect } = await onKnown(context, async (known) => {
      const [trial] = await comparedParts(context, [part], known)
      const isGood = trial!.bad.count === 0
      return { ...trial!, versions: known, sent: isGood ? await sentForecasts(context, minutes) : [] }
    })
    if (bad.count > 0) throw refusal(part, bad)
    const late = await takeInLate(context, part, versions, minutes)
    if (!late) continue
    const ids = await record(sent.filter((one) => one.forecast_id === null))
    const taken = sent.map((one) => ({ ...one, forecast_id: one.forecast_id ?? ids.shift()! }))
    return { effect, taken, ...late }
  }
}

const lateBy = (minutes: number) =>
  `forecast_at < getvariable('now')::TIMESTAMPTZ - INTERVAL ${minutes} MINUTE`

/** Adds the new forecasters and the new forecasts that came late, unless another command came first. */
async function takeInLate(
  context: ImportWork,
  { kind, name }: ImportPart,
  versions: Record<'forecasters' | 'forecasts', TableVersion>,
  minutes: number,
): Promise<Pick<TakenForecasts, 'forecastersCreated' | 'version'> | undefined> {
  const created = await takeInMet(context, versions.forecasters, name)
  if (!created) return undefined
  const late = await takeIn(context, versions.forecasts, `(FROM ${freshOf(kind)} WHERE ${lateBy(minutes)})`)
  if (!late) return undefined
  await recordOf(context, 'forecasts', late, name, 0)
  return { forecastersCreated: created.rows, version: late.version }
}

/** Reads the rows of the call with what is known of each. */
async function sentForecasts({ database }: ImportWork, minutes: number): Promise<SentForecast[]> {
  const rows = tableRows('forecasts', IMPORT_COLUMNS.forecasts)
  const found = await database.rows<Omit<SentForecast, 'forecast_at'> & { atMs: number }>(
    `SELECT entity_id, question_id, rows.probability, epoch_ms(forecast_at)::DOUBLE AS "atMs",
       coalesce(known.forecast_id, if(${lateBy(minutes)}, rows.forecast_id, NULL)) AS forecast_id,
       coalesce(known.source = 'api', NOT (${lateBy(minutes)})) AS "isWitnessed"
     FROM (${rows}) rows LEFT JOIN (
       SELECT entity_type, entity_id, question_id, forecast_at, probability, arg_min(forecast_id, source) AS forecast_id, min(source) AS source
       FROM forecasts SEMI JOIN (${rows}) USING (entity_type, entity_id, question_id, forecast_at) GROUP BY ALL
     ) known USING (entity_type, entity_id, question_id, forecast_at)
     WHERE known.forecast_id IS NULL OR known.probability IS NOT DISTINCT FROM rows.probability
     ORDER BY record`,
  )
  return found.map(({ atMs, ...row }) => ({ ...row, forecast_at: new Date(atMs) }))
}
