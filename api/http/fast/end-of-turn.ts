// Answers are sent at the end of a turn of the event loop, once all requests that it found have been read. Sending wakes the receiver
// where that sleeps, which costs most of sending to a program of the same machine, such as a proxy; one that is sent several answers right
// after one another is woken once.
import { setImmediate as othersHaveRun } from 'node:timers/promises'

let turn: Promise<void> | undefined

/** Those who wait for the same turn go on right after one another. Who asks at the end of a turn waits for that of the next. */
export function endOfTurn(): Promise<void> {
  turn ??= othersHaveRun().then(() => {
    turn = undefined
  })
  return turn
}
