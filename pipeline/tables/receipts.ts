// The acknowledgement of a forecast, and the receipts for acknowledgements: one signature for a whole batch.
import type { ForecastRow } from '../../schemas/tables.ts'
import type { SigningKey } from '../proof/note-keys.ts'
import { receiptHeader, receiptsOf } from '../proof/receipts.ts'

/**
 * Returns the text of the acknowledgement, byte for byte: the answer to an agent's forecast, or the same of a
 * person's. It is a leaf of a receipt and of the tree `forecasts` of a release.
 */
export function acknowledgementText(row: ForecastRow): string {
  const { entity_type, entity_id, forecast_id, probability, question_id } = row
  const forecastAt = row.forecast_at.toISOString()
  // The text is canonical: its members are in order, and no value needs an escape.
  const what = `"forecast_at":"${forecastAt}","forecast_id":"${forecast_id}","probability":${probability},"question_id":"${question_id}"`
  return entity_type === 'agent'
    ? `{"agent_id":"${entity_id}",${what}}`
    : `{${what},"user_id":"${entity_id}"}`
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
   * Returns the value of `X-Service-Receipt` for each forecast of the inbox object with this `uuid`; none if
   * there are no signers. They may be handed out only once the object is durable.
   */
  ofBatch(rows: readonly ForecastRow[], uuid: string): string[] {
    const [first] = this.#signers
    if (first === undefined || rows.length === 0) return []
    const batch = { origin: first.verifier.name, uuid }
    return receiptsOf(rows.map(acknowledgementBytes), batch, this.#signers).map(receiptHeader)
  }

  /** Does the same for durable forecasts that are acknowledged once more, as a batch with a new id. */
  ofRepeated(rows: readonly ForecastRow[]): string[] {
    return this.ofBatch(rows, this.#newId())
  }
}
