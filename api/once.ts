// Calls that write: done once for each Idempotency-Key, and without one each time.
import type { IdempotentWork } from '../pipeline/access/idempotency.ts'
import { canonical } from '../pipeline/proof/canonical.ts'
import type { ApiContext } from './context.ts'

export interface WritingCall<T> extends IdempotentWork<T> {
  /** Within which keys are told apart. */
  scope: string
  idempotencyKey: string | undefined
  /** Another one under the same key is refused. */
  body: object
}

export async function once<T>(context: ApiContext, call: WritingCall<T>): Promise<T> {
  const { scope, idempotencyKey: key, body, ...work } = call
  if (key !== undefined) {
    const fingerprint = new TextDecoder().decode(canonical(body))
    return context.idempotency.run({ scope, key, fingerprint }, work)
  }
  const claim = { id: context.newId(), at: context.now(), salt: '' }
  await work.check(claim)
  const answer = work.answer(claim)
  await work.commit(claim, answer)
  return answer
}
