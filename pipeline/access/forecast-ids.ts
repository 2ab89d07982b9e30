// The ids of people's forecasts from the operator's calls. An id follows from the forecast, so that sending
// it again never makes two, and from a secret of the store. Without the secret, anyone could find a
// probability by trying which one gives an id in the tree of forecasts.
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import type { ForecastRow } from '../../schemas/tables.ts'
import { FORECAST_IDS_PATH } from '../store/paths.ts'
import { recordAt } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { RandomBytes } from './api-key.ts'

const SECRET_BYTES = 32

const secretRecord = z.strictObject({ secret: z.base64() })

export type ForecastContent = Pick<ForecastRow, 'entity_id' | 'question_id' | 'probability' | 'forecast_at'>

export class ForecastIds {
  readonly #store: Store
  readonly #randomBytes: RandomBytes
  #secret: Promise<Buffer> | undefined

  constructor(store: Store, randomBytes: RandomBytes) {
    this.#store = store
    this.#randomBytes = randomBytes
  }

  /** Returns the id of each forecast: a version 8 UUID (RFC 9562) that begins with its time. */
  async idsOf(forecasts: readonly ForecastContent[]): Promise<string[]> {
    this.#secret ??= this.#readSecret()
    const secret = await this.#secret.catch((error: unknown) => {
      this.#secret = undefined
      throw error
    })
    return forecasts.map((forecast) => idOfContent(forecast, secret))
  }

  /** Reads the secret of the store. The first one written stays. */
  async #readSecret(): Promise<Buffer> {
    const stored = recordAt(this.#store, FORECAST_IDS_PATH, secretRecord)
    const known = await stored.get()
    if (known) return Buffer.from(known.secret, 'base64')
    const secret = Buffer.from(this.#randomBytes(SECRET_BYTES)).toString('base64')
    await stored.create({ secret })
    return this.#readSecret()
  }
}

function idOfContent(
  { entity_id, question_id, probability, forecast_at }: ForecastContent,
  secret: Buffer,
): string {
  const atMs = forecast_at.getTime()
  const content = `${entity_id}|${question_id}|${probability}|${atMs}`
  const hash = createHmac('sha256', secret).update(content).digest()
  hash.writeUIntBE(atMs, 0, 6)
  hash[6] = (hash[6]! & 0x0f) | 0x80
  hash[8] = (hash[8]! & 0x3f) | 0x80
  const hex = hash.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  )
}
