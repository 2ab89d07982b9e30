// The times of forecasts: on one node no agent has two forecasts on a question at the same millisecond,
// because nothing but their ids would say which of them counts.
export class ForecastInstants {
  /** The last time of an agent on a question that is not over yet, in the order in which they were given. */
  readonly #last = new Map<string, number>()

  /**
   * Returns the time of forecasts that an agent makes at once: `nowMs`, or the first millisecond after it at
   * which the agent has none on these questions. `isHeld` knows those of other nodes.
   */
  next(
    agentId: string,
    questionIds: readonly string[],
    nowMs: number,
    isHeld: (questionId: string, atMs: number) => boolean,
  ): number {
    for (const [key, atMs] of this.#last) {
      if (atMs >= nowMs) break
      this.#last.delete(key)
    }
    const keys = questionIds.map((id) => `${agentId} ${id}`)
    let atMs = nowMs
    for (const key of keys) atMs = Math.max(atMs, (this.#last.get(key) ?? -Infinity) + 1)
    while (questionIds.some((id) => isHeld(id, atMs))) atMs += 1
    for (const key of keys) {
      this.#last.delete(key)
      this.#last.set(key, atMs)
    }
    return atMs
  }
}
