// Follows one call: its limit admits it; if it fails, it is given back and counted as an attempt.
import type { UsageEntry } from '../../pipeline/access/usage.ts'
import type { Networks } from './addresses.ts'
import { type Admission, type LimitedCall, type Payer, type QuotaState, Refusal } from './admission.ts'
import type { Caller, Guard } from './callers.ts'
import { type Limits, payersOf } from './limits.ts'

export class CountedCall {
  readonly #limits: Limits
  readonly #networks: Networks
  /** A failed call counts as an attempt of these: the account of a good key, otherwise the networks. */
  #payers: readonly Payer[]
  #admission: Admission | undefined
  #state: QuotaState | undefined

  constructor(limits: Limits, networks: Networks) {
    this.#limits = limits
    this.#networks = networks
    this.#payers = networks
  }

  /** The state of the caller's quota, for the answer. */
  get state(): QuotaState | undefined {
    return this.#state
  }

  /** The entry of the usage log, if the call succeeds. */
  get usage(): UsageEntry | undefined {
    return this.#admission?.usage
  }

  /**
   * Identifies the caller. Throws if no attempts are left: the key's if it is good, otherwise the address's.
   * A look-up counts as an attempt while it lasts, so that keys that come all at once cause no more look-ups
   * than attempts.
   *
   * @throws Refusal, and whatever `find` throws.
   */
  async identify<T extends Caller>(find: (guard: Guard) => Promise<T>): Promise<T> {
    const caller = await find({
      assertAttemptLeft: () => this.#assertAttemptLeft(),
      hold: async () => {
        const attempt = await this.#limits.attempts.admit(this.#payers)
        if (!attempt.admitted) throw new Refusal(attempt.state!)
        return attempt.takeBack
      },
    })
    if (caller.kind !== 'anonymous') {
      this.#payers = payersOf(caller, this.#networks)
      await this.#assertAttemptLeft()
    }
    return caller
  }

  /**
   * Counts the call. A call that `mayRepeat` an earlier one may exceed the quota until `assertAdmitted`.
   *
   * @throws Refusal.
   */
  async admit(limit: LimitedCall, caller: Caller, mayRepeat: boolean): Promise<void> {
    const admission = await this.#limits.admit(limit, caller, this.#networks)
    this.#state = admission.state
    if (!admission.admitted && !mayRepeat) throw new Refusal(admission.state!)
    this.#admission = admission
  }

  /**
   * Counts `calls` more, once the input has shown that the call counts as several.
   *
   * @throws Refusal if they exceed the quota: then none of them counts.
   */
  async admitMore(limit: LimitedCall, caller: Caller, calls: number): Promise<void> {
    const first = this.#admission
    if (!first || calls === 0) return
    const more = await this.#limits.admit(limit, caller, this.#networks, calls)
    if (!more.admitted) throw new Refusal(more.state!)
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

  /** @throws Refusal for a call over the quota that repeats no earlier one. */
  readonly assertAdmitted = (): void => {
    if (this.#admission && !this.#admission.admitted) throw new Refusal(this.#admission.state!)
  }

  /** Repeating it is harmless. */
  async giveBack(): Promise<void> {
    const given = this.#admission
    this.#admission = undefined
    if (given) this.#state = await given.takeBack()
  }

  /**
   * Gives the call back. If the caller caused the failure, it counts as an attempt, or as one page, unless it
   * was a call too many.
   */
  async failed(limit: LimitedCall, error: unknown, isByCaller: boolean): Promise<void> {
    await this.giveBack()
    if (error instanceof Refusal) this.#state = error.state
    else if (isByCaller && limit === 'page') {
      const { state } = await this.#limits.pages.admit(this.#networks)
      this.#state = state
    } else if (isByCaller) await this.#limits.attempts.admit(this.#payers)
  }

  async #assertAttemptLeft(): Promise<void> {
    const exceeded = await this.#limits.attempts.exceeded(this.#payers)
    if (exceeded) throw new Refusal(exceeded)
  }
}
