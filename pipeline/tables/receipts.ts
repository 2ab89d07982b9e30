// What an agent is answered for a forecast, and the receipts for these answers: one signature for all of a
// batch.
import type { ForecastRow } from '../../schemas/tables.ts'
import type { SigningKey } from '../proof/note-keys.ts'
import { receiptHeader, receiptsOf } from '../proof/receipts.ts'

/**
 * The text of the answer, byte for byte: what a receipt and the tree `forecasts` of a release have as a leaf.
 */
export function acknowledgementText(row: ForecastRow): string {
  const { entity_id, forecast_id, probability, question_id } = row
  const forecastAt = row.forecast_at.toISOString()
  // Canonical as it is: the members are in order, and no value needs an escape.
  return `{"agent_id":"${entity_id}","forecast_at":"${forecastAt}","forecast_id":"${forecast_id}","probability":${probability},"question_id":"${question_id}"}`
}

export function acknowledgementBytes(row: ForecastRow): Uint8Array {
  return Buffer.from(acknowledgementText(row))
}

export class Receipts {
  readonly #signers: readonly SigningKey[]
  readonly #newId: () => string

  /**
   * Without signers there are no receipts. All signers have the same name, which is the origin of the log.
   */
  constructor(signers: readonly SigningKey[], newId: () => string) {
    this.#signers = signers
    this.#newId = newId
  }

  /**
   * The value of `X-Service-Receipt` for each forecast of an inbox object, by the UUID of that; none where
   * there are no signers. They may be handed out only once the object is durable.
   */
  ofBatch(rows: readonly ForecastRow[], uuid: string): string[] {
    const [first] = this.#signers
    if (first === undefined || rows.length === 0) return []
    const batch = { origin: first.verifier.name, uuid }
    return receiptsOf(rows.map(acknowledgementBytes), batch, this.#signers).map(receiptHeader)
  }

  /** The same for forecasts that are durable already and acknowledged once more: a batch of their own. */
  ofRepeated(rows: readonly ForecastRow[]): string[] {
    return this.ofBatch(rows, this.#newId())
  }
}
