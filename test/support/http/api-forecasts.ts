// Forecasts as the API takes them: the row, and the body of the answer, which is a leaf.
import { canonical } from '../../../pipeline/proof/canonical.ts'
import { type Hash, leafHash } from '../../../pipeline/proof/merkle.ts'
import type { ForecastRow } from '../../../schemas/tables.ts'
import { QUESTION, uuidOf } from '../worlds/world.ts'

export interface ApiForecast {
  row: ForecastRow
  id: string
  body: Uint8Array
  leaf: Hash
}

export function apiForecast(
  agentId: string,
  number: number,
  time: string,
  probability: number,
  id = uuidOf(7, number),
): ApiForecast {
  const at = new Date(time)
  const given = { forecast_id: id, question_id: QUESTION.open, probability }
  const row: ForecastRow = {
    ...given,
    entity_type: 'agent',
    entity_id: agentId,
    forecast_at: at,
    recorded_at: at,
    source: 'api',
  }
  const body = canonical({ ...given, agent_id: agentId, forecast_at: at.toISOString() })
  return { row, id: row.forecast_id, body, leaf: leafHash(body) }
}
