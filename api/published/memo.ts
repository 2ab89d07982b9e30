// Values derived from a publication, stored on it so that both are freed together.

/** The source of an answer, such as a publication. */
export interface AnswerSource {
  readonly memo: Memo
}

/**
 * Stores a value only when it is requested a second time: most are requested once, and the garbage collector
 * pays for each.
 *
 * A WeakMap from publications to values would need no field on them. But V8 goes through the entries of
 * WeakMaps while every call waits: with one for each publication they took half of the pause of a full
 * collection (docs/performance.md).
 */
export class Memo {
  /** A key without a value was requested once. */
  readonly #values = new Map<symbol, unknown>()

  /** Returns the stored value under a key, or makes it. */
  of<T extends object>(key: symbol, make: () => T): T {
    const stored = this.#values.get(key)
    if (stored !== undefined) return stored as T
    const made = make()
    this.#values.set(key, this.#values.has(key) ? made : undefined)
    return made
  }
}
