// Forecasts of agents as the API records them, from lines of a file that an import would refuse.
import { v7 as uuidv7 } from 'uuid'
import { sha256Hex } from '../../../pipeline/proof/canonical.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import type { ForecastRow } from '../../../schemas/tables.ts'
import { send } from '../tables.ts'

type Cells = [kind: string, agent: string, question: string, probability: string, at: string]

/** A version 7 UUID of an instant, the same for the same text. */
const idOf = (at: Date, text: string) =>
  uuidv7({ msecs: at.getTime(), random: Buffer.from(sha256Hex(text).slice(0, 32), 'hex'), seq: 0 })

/** Puts the rows into the inbox as one object, as the API does. */
export async function submitForecasts(store: Store, lines: readonly string[]): Promise<void> {
  const rows = lines.map((line): ForecastRow => {
    const [, entity_id, question_id, probability, time] = line.split(',') as Cells
    const at = new Date(time)
    return {
      forecast_id: idOf(at, line),
      entity_type: 'agent',
      entity_id,
      question_id,
      probability: probability === '' ? null : Number(probability),
      forecast_at: at,
      recorded_at: at,
      source: 'api',
    }
  })
  await send(store, 'forecasts', idOf(rows.at(-1)!.forecast_at, lines.join('\n')), rows)
}
