// The order of questions, (closes_at, question_id): a search for a place in it, and many changes to a list at
// once.
import type { KnownQuestion } from './question.ts'

/** A place in the order. The question itself need not exist. */
export type ClosePosition = Pick<KnownQuestion, 'closesAtMs' | 'question_id'>

/** Questions in the order of `byClose`. */
export type Ordered = readonly KnownQuestion[]

export function byClose(a: ClosePosition, b: ClosePosition): number {
  if (a.closesAtMs !== b.closesAtMs) return a.closesAtMs - b.closesAtMs
  if (a.question_id === b.question_id) return 0
  return a.question_id < b.question_id ? -1 : 1
}

/** Returns the index of the first question after a place, from `low` up to `high`. */
export function indexAfter(list: Ordered, place: ClosePosition, low = 0, high = list.length): number {
  while (low < high) {
    const middle = (low + high) >>> 1
    if (byClose(list[middle]!, place) > 0) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * Returns the list without the questions in `gone`, all of which it has, and with those in `come`. Any number
 * of changes costs one copy of the list and comparisons with few of its questions.
 */
export function changed(list: Ordered, gone: Ordered, come: Ordered): Ordered {
  if (gone.length === 0 && come.length === 0) return list
  const result = new Array<KnownQuestion>(list.length - gone.length + come.length)
  let [written, read, left] = [0, 0, 0]
  const copyTo = (end: number) => {
    while (read < end) result[written++] = list[read++]!
  }
  const leaveOut = (question: KnownQuestion) => {
    copyTo(indexSoonAfter(list, question, read) - 1)
    read += 1
  }
  for (const question of come) {
    while (left < gone.length && byClose(gone[left]!, question) <= 0) leaveOut(gone[left++]!)
    copyTo(indexSoonAfter(list, question, read))
    result[written++] = question
  }
  while (left < gone.length) leaveOut(gone[left++]!)
  copyTo(list.length)
  return result
}

/** Returns the same as `indexAfter`, faster if the place is near `low`. */
export function indexSoonAfter(list: Ordered, place: ClosePosition, low: number): number {
  let step = 1
  while (low + step < list.length && byClose(list[low + step]!, place) <= 0) step *= 2
  return indexAfter(list, place, low, Math.min(list.length, low + step))
}
