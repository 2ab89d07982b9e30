// The orders of questions, (closes_at, question_id) and (opened_at, question_id): a search for a place in
// one, and many changes to a list at once.
import type { KnownQuestion } from './question.ts'

/** Strings that sort before and after every id. */
export const [FIRST_ID, LAST_ID] = ['', '~']

/** A place in the order. The question itself need not exist. */
export type ClosePosition = Pick<KnownQuestion, 'closesAtMs' | 'question_id'>

/** A place in the order of opening. */
export type OpenPosition = Pick<KnownQuestion, 'openedAtMs' | 'question_id'>

/** Questions in an order, that of `byClose` where nothing else is said. */
export type Ordered = readonly KnownQuestion[]

type Order<Place> = (one: Place, other: Place) => number

export function byClose(a: ClosePosition, b: ClosePosition): number {
  if (a.closesAtMs !== b.closesAtMs) return a.closesAtMs - b.closesAtMs
  if (a.question_id === b.question_id) return 0
  return a.question_id < b.question_id ? -1 : 1
}

export function byOpening(a: OpenPosition, b: OpenPosition): number {
  if (a.openedAtMs !== b.openedAtMs) return a.openedAtMs - b.openedAtMs
  if (a.question_id === b.question_id) return 0
  return a.question_id < b.question_id ? -1 : 1
}

/** Returns the index of the first question after a place, from `low` up to `high`. */
export function indexAfter(list: Ordered, place: ClosePosition, low = 0, high = list.length): number {
  return indexIn(byClose, list, place, low, high)
}

/** Returns the index of the first question that opens after an instant, in the order of `byOpening`. */
export function indexOfOpening(list: Ordered, afterMs: number): number {
  return indexIn(byOpening, list, { openedAtMs: afterMs, question_id: LAST_ID }, 0, list.length)
}

function indexIn<Place>(
  order: Order<Place>,
  list: readonly Place[],
  place: Place,
  low: number,
  high: number,
): number {
  while (low < high) {
    const middle = (low + high) >>> 1
    if (order(list[middle]!, place) > 0) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * Returns the list without the questions in `gone`, all of which it has, and with those in `come`. All three
 * are in one order. Any number of changes costs one copy of the list and comparisons with few of its
 * questions.
 */
export function changed(
  list: Ordered,
  gone: Ordered,
  come: Ordered,
  order: Order<KnownQuestion> = byClose,
): Ordered {
  if (gone.length === 0 && come.length === 0) return list
  const result = new Array<KnownQuestion>(list.length - gone.length + come.length)
  let [written, read, left] = [0, 0, 0]
  const copyTo = (end: number) => {
    while (read < end) result[written++] = list[read++]!
  }
  const leaveOut = (question: KnownQuestion) => {
    copyTo(soonAfter(order, list, question, read) - 1)
    read += 1
  }
  for (const question of come) {
    while (left < gone.length && order(gone[left]!, question) <= 0) leaveOut(gone[left++]!)
    copyTo(soonAfter(order, list, question, read))
    result[written++] = question
  }
  while (left < gone.length) leaveOut(gone[left++]!)
  copyTo(list.length)
  return result
}

/** Returns the same as `indexAfter`, faster if the place is near `low`. */
export function indexSoonAfter(list: Ordered, place: ClosePosition, low: number): number {
  return soonAfter(byClose, list, place, low)
}

function soonAfter<Place>(order: Order<Place>, list: readonly Place[], place: Place, low: number): number {
  let step = 1
  while (low + step < list.length && order(list[low + step]!, place) <= 0) step *= 2
  return indexIn(order, list, place, low, Math.min(list.length, low + step))
}
