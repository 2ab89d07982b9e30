// The trail of the operator's calls: a record of each, written before it changes anything, and again with its
// result.
import pMap from 'p-map'
import { z } from 'zod'
import { instant } from '../../schemas/values.ts'
import { OPERATOR_LOG_PREFIX, operatorCallPath } from '../store/paths.ts'
import { readRecord, recordBytes } from '../store/records.ts'
import type { Store } from '../store/store.ts'

const READS_AT_ONCE = 16

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

export class OperatorLog {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  async write(call: OperatorCall): Promise<void> {
    const path = operatorCallPath(call.call_id)
    await this.#store.put(path, recordBytes(path, call))
  }

  /** Returns the calls since an instant, the oldest first. */
  async since(at: Date | undefined): Promise<OperatorCall[]> {
    const paths: string[] = []
    for await (const { path } of this.#store.list(OPERATOR_LOG_PREFIX)) paths.push(path)
    const calls = await pMap(paths, (path) => readRecord(this.#store, path, callRecord), {
      concurrency: READS_AT_ONCE,
    })
    return calls
      .filter((call) => call !== undefined)
      .filter((call) => at === undefined || call.at >= at.toISOString())
      .toSorted((one, other) => (one.call_id < other.call_id ? -1 : 1))
  }
}
