// What was made of something to answer with, kept beside it: as long as it is kept, and no longer.

/** Something to answer with, such as a publication. */
export interface AnswerSource {
  readonly memo: Memo
}

interface Made {
  key: symbol
  /** Undefined while it has been asked for only once. */
  value: unknown
  next: Made | undefined
}

/**
 * Keeps what is asked for twice: most of a release is not, and what is kept has to be gone through again and again by the garbage collection.
 *
 * A WeakMap could have what was made of any object. But V8 goes through the entries of WeakMaps while every call waits, and there
 * are some for each publication in memory: they took half of the pause of a full collection (docs/performance.md).
 */
export class Memo {
  /** A list, because there are few. */
  #made: Made | undefined

  /** What was made under a key before, or is made now. */
  of<T extends object>(key: symbol, make: () => T): T {
    for (let made = this.#made; made; made = made.next) {
      if (made.key === key) return (made.value ??= make()) as T
    }
    this.#made = { key, value: undefined, next: this.#made }
    return make()
  }
}
