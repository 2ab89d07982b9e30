// One call as it is counted: admitted by its limit, given back if it fails, and then counted as an attempt.
import type { UsageEntry } from '../../pipeline/access/usage.ts'
import { type Admission, type LimitedCall, type QuotaState, Refusal } from './admission.ts'
import type { Caller, Guard } from './callers.ts'
import { type Limits, payerOf } from './limits.ts'

export class CountedCall {
  readonly #limits: Limits
  readonly #address: string
  /** The name that a failed call is counted under, as an attempt: the caller's good key, or else its address. */
  #payer: string
  #admission: Admission | undefined
  #state: QuotaState | undefined

  constructor(limits: Limits, address: string) {
    this.#limits = limits
    this.#address = address
    this.#payer = payerOf({ kind: 'anonymous' }, address)
  }

  /** What the answer says of the caller's quota. */
  get state(): QuotaState | undefined {
    return this.#state
  }

  /** How the usage log records the call, once it has succeeded. */
  get usage(): UsageEntry | undefined {
    return this.#admission?.usage
  }

  /**
   * Finds the caller, unless its address has used up its attempts; with a key that is good, unless the key has. A look-up
   * counts as an attempt while it lasts, so that keys that come all at once cause no more look-ups than attempts.
   *
   * @throws Refusal, and whatever `find` throws.
   */
  async identify<T extends Caller>(find: (guard: Guard) => Promise<T>): Promise<T> {
    const caller = await find({
      assertAttemptLeft: () => this.#assertAttemptLeft(),
      hold: async () => {
        const attempt = await this.#limits.attempts.admit(this.#payer)
        if (!attempt.admitted) throw new Refusal(attempt.state)
        return attempt.takeBack
      },
    })
    if (caller.kind !== 'anonymous') {
      this.#payer = payerOf(caller, this.#address)
      await this.#assertAttemptLeft()
    }
    return caller
  }

  /**
   * Counts the call. If it `mayRepeat` an earlier one, one too many goes on until `assertAdmitted`.
   *
   * @throws Refusal.
   */
  async admit(limit: LimitedCall, caller: Caller, mayRepeat: boolean): Promise<void> {
    const admission = await this.#limits.admit(limit, caller, this.#address)
    this.#state = admission.state
    if (!admission.admitted && !mayRepeat) throw new Refusal(admission.state)
    this.#admission = admission
  }

  /**
   * Counts `submissions` more, once the body has shown that the call holds several.
   *
   * @throws Refusal if they are too many: then none of them counts.
   */
  async admitMore(limit: LimitedCall, caller: Caller, submissions: number): Promise<void> {
    const first = this.#admission
    if (!first || submissions === 0) return
    const more = await this.#limits.admit(limit, caller, this.#address, submissions)
    if (!more.admitted) throw new Refusal(more.state)
    this.#state = more.state
    this.#admission = {
      ...first,
      state: more.state,
      takeBack: async () => {
        await first.takeBack()
        return more.takeBack()
      },
    }
  }

  /** @throws Refusal for a call too many that repeats no earlier one. */
  readonly assertAdmitted = (): void => {
    if (this.#admission && !this.#admission.admitted) throw new Refusal(this.#admission.state)
  }

  async giveBack(): Promise<void> {
    if (this.#admission) this.#state = await this.#admission.takeBack()
  }

  /** Gives the call back. One that failed by the caller's doing is an attempt, unless it was refused at once. */
  async failed(error: unknown, isByCaller: boolean): Promise<void> {
    if (error instanceof Refusal) this.#state = error.state
    if (error instanceof Refusal && !this.#admission) return
    await this.giveBack()
    if (isByCaller) await this.#limits.attempts.admit(this.#payer)
  }

  async #assertAttemptLeft(): Promise<void> {
    const exceeded = await this.#limits.attempts.exceeded(this.#payer)
    if (exceeded) throw new Refusal(exceeded)
  }
}
