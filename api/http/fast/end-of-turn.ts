// Answers are sent at the end of a turn of the event loop, after all requests that it found have been read.
// Sending wakes a sleeping receiver, which is most of its cost to a program on the same machine, such as a
// proxy. A receiver of several answers in a row is woken once.
import { setImmediate as othersHaveRun } from 'node:timers/promises'

let turn: Promise<void> | undefined

/** Resolves all promises of a turn in a row. A promise made at the end of a turn resolves in the next one. */
export function endOfTurn(): Promise<void> {
  turn ??= othersHaveRun().then(() => {
    turn = undefined
  })
  return turn
}
