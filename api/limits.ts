// How often and how much a caller may ask: the one place that every limited call goes through.
import type { Caller } from './callers.ts'

export type LimitedCall = 'register' | 'forecast' | 'verification'

export interface Limits {
  /** Counts a call. @throws ServiceError `limited` with `retryAfterS` for one too many. */
  admit(call: LimitedCall, caller: Caller, address: string): Promise<void>
  /** How many ids a bulk request of this caller may name. */
  bulkIds(caller: Caller): number
}

/** The ids that any bulk request may name. */
const BULK_IDS = 200

/** Admits everyone: a service behind a gateway that counts. */
export const noLimits: Limits = {
  admit: () => Promise.resolve(),
  bulkIds: () => BULK_IDS,
}
