// The log of the operator's calls. The record of a call is written before the call changes anything, and
// again with its result.
import { z } from 'zod'
import { instant } from '../../schemas/values.ts'
import { OPERATOR_LOG_PREFIX, operatorCallPath } from '../store/paths.ts'
import { records } from '../store/records.ts'
import type { Store } from '../store/store.ts'

const callRecord = z.strictObject({
  call_id: z.string(),
  at: instant,
  key_id: z.string(),
  owner: z.string(),
  /** The method and path, such as `PUT /operator/questions`. */
  call: z.string(),
  /** The number of rows, or the statement about an agent. */
  asked: z.record(z.string(), z.unknown()),
  reason: z.string().nullable(),
  /** `begun` stays if the process died: the call may have taken effect. */
  state: z.enum(['begun', 'done', 'refused', 'failed']),
  /** The counts of a call that is done, otherwise the reason. */
  result: z.record(z.string(), z.unknown()).nullable(),
})
export type OperatorCall = z.infer<typeof callRecord>

const callsIn = (store: Store) => records(store, operatorCallPath, callRecord)

/** Writes a call to the log, in place of its earlier record. */
export function logCall(store: Store, call: OperatorCall): Promise<void> {
  return callsIn(store).replace(call.call_id, call)
}

/** Returns the calls since an instant, the oldest first. */
export async function loggedCalls(store: Store, since?: Date): Promise<OperatorCall[]> {
  const calls = await callsIn(store).list(OPERATOR_LOG_PREFIX)
  return calls.filter(({ at }) => since === undefined || at >= since.toISOString())
}
