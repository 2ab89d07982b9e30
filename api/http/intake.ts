// The parts that take in registrations and forecasts.
import type { Idempotency } from '../../pipeline/access/idempotency.ts'
import type { RandomBytes } from '../../pipeline/access/api-key.ts'
import type { Registry } from '../../pipeline/access/registry.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { Receipts } from '../../pipeline/tables/receipts.ts'
import type { OwnSettings } from '../../schemas/config.ts'
import type { AgentRow, ForecastRow, RationaleRow } from '../../schemas/tables.ts'
import type { QuestionBook } from '../questions/book.ts'
import type { OperatorCalls } from '../operator/operator-calls.ts'
import type { ForecastHistory } from '../current-forecasts/forecast-history.ts'
import type { CurrentForecasts } from '../current-forecasts/current-forecasts.ts'

export interface Intake {
  registry: Registry
  idempotency: Idempotency
  registrations: { submit: (row: AgentRow) => Promise<unknown> }
  /** Who may register. */
  mayRegister: OwnSettings['REGISTRATION']
  /** Holds the records of invitations, names that wait and claimed domains. */
  store: Store
  randomBytes: RandomBytes
  /** Resolves once all rows are durable, with their receipts. */
  forecasts: { submit: (...rows: ForecastRow[]) => Promise<readonly string[]> }
  /** Resolves once all rows are durable. */
  rationales: { submit: (...rows: RationaleRow[]) => Promise<unknown> }
  receipts: Pick<Receipts, 'ofRepeated'>
  operator: OperatorCalls
  questions: QuestionBook
  /**
   * Waits until the questions have been read for the first time. Resolves to false if that takes too long.
   */
  questionsRead: () => Promise<boolean>
  forecastHistory: Pick<ForecastHistory, 'page'>
  currentForecasts: Pick<CurrentForecasts, 'page' | 'agentsOn' | 'has' | 'instantOf'>
  /** As `catchUp`, for the current forecasts. @throws ServiceError `unavailable` if that takes longer. */
  catchUpForecasts: () => Promise<void>
}
