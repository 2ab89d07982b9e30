// Questions by keys, such as the words of their titles. The questions of a key are in the order in which they
// close.
import { type Ordered, byClose, changed, indexAfter } from './order.ts'
import type { KnownQuestion } from './question.ts'

/**
 * Shorter lists are copied to grow, because a list that grows in place reserves room for at least this many
 * questions.
 */
const GROWS_FROM = 64

interface Change {
  gone: KnownQuestion[]
  come: KnownQuestion[]
}

export class ByKey {
  readonly #keysOf: (question: KnownQuestion) => readonly string[]
  /** A key of one question has no list, because most words occur in one title only. */
  readonly #lists = new Map<string, KnownQuestion | KnownQuestion[]>()

  constructor(keysOf: (question: KnownQuestion) => readonly string[]) {
    this.#keysOf = keysOf
  }

  /** Returns the questions of a key. The list is valid until the next change. */
  list(key: string): Ordered {
    const found = this.#lists.get(key)
    if (found === undefined) return []
    return Array.isArray(found) ? found : [found]
  }

  /** Returns the keys with most questions, at most `most`, in order of their numbers and then of the keys. */
  largest(most: number): { key: string; questions: number }[] {
    return Array.from(this.#lists.keys(), (key) => ({ key, questions: this.list(key).length }))
      .sort((a, b) => b.questions - a.questions || (a.key < b.key ? -1 : 1))
      .slice(0, most)
  }

  /** Replaces the questions in `gone`, all of which are listed, by those in `come`. Both are in order. */
  change(gone: Ordered, come: Ordered): void {
    const changes = new Map<string, Change>()
    const changeOf = (key: string) => {
      let change = changes.get(key)
      if (!change) changes.set(key, (change = { gone: [], come: [] }))
      return change
    }
    for (const question of gone) for (const key of this.#keysOf(question)) changeOf(key).gone.push(question)
    for (const question of come) {
      for (const key of this.#keysOf(question)) {
        // Gathering the questions that come for a key takes longer than all else, so it is done only if it
        // saves a copy of a long list.
        if (gone.length > 0 || !this.#add(key, question)) changeOf(key).come.push(question)
      }
    }
    for (const [key, change] of changes) this.#changeList(key, change)
  }

  /** Adds a question to a key. Returns false, and adds nothing, if that would cost a copy of a long list. */
  #add(key: string, question: KnownQuestion): boolean {
    const found = this.#lists.get(key)
    if (!found) this.#lists.set(key, question)
    else if (!Array.isArray(found))
      this.#lists.set(key, byClose(found, question) < 0 ? [found, question] : [question, found])
    else if (found.length < GROWS_FROM)
      this.#lists.set(key, found.toSpliced(indexAfter(found, question), 0, question))
    else if (byClose(found.at(-1)!, question) < 0) found.push(question)
    else return false
    return true
  }

  #changeList(key: string, { gone, come }: Change): void {
    const found = this.#lists.get(key)
    // An outcome changes no question's place.
    const isInPlace =
      gone.length === come.length && gone.every((question, index) => byClose(question, come[index]!) === 0)
    if (Array.isArray(found) && isInPlace) {
      for (const question of come) found[indexAfter(found, question) - 1] = question
      return
    }
    // `changed` returns a new list, because a question is gone or has come.
    const list = changed(this.list(key), gone, come) as KnownQuestion[]
    if (list.length === 0) this.#lists.delete(key)
    else this.#lists.set(key, list.length === 1 ? list[0]! : list)
  }
}
