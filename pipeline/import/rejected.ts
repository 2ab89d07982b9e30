// The bad rows of a file: their number, and the first of them with their places.
import type { Fault } from '../../schemas/errors.ts'

/** Bad records: the first faults, and the number of all. */
export interface Rejected {
  faults: Fault[]
  count: number
  byReason: ReasonCount[]
}

/** The number of records that are bad for a reason. */
export interface ReasonCount {
  reason: string
  count: number
}

/** The most faults that are shown. */
export const SHOWN = 20

export const NONE_REJECTED: Rejected = { faults: [], count: 0, byReason: [] }

/** Returns the bad records of several checks together: faults by their places, reasons by their number. */
export function together(...parts: readonly Rejected[]): Rejected {
  const placeOf = ({ pointer }: Fault) => Number(pointer.slice(pointer.indexOf(' ')))
  const faults = parts.flatMap((part) => part.faults)
  return {
    faults: faults.toSorted((one, other) => placeOf(one) - placeOf(other)).slice(0, SHOWN),
    count: parts.reduce((sum, { count }) => sum + count, 0),
    byReason: parts.flatMap(({ byReason }) => byReason).toSorted((one, other) => other.count - one.count),
  }
}
