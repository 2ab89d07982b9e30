// Answers leave at the end of a turn of the event loop, after all requests that the turn found have been
// read. If the receiver is a program on the same machine, such as a proxy, most of the cost of sending is
// waking it. Several answers in a row wake it once: reads without a key on 32 connections have 1.2 of the
// rate (bench/notes/decisions.md; `npm run bench -- --only reads`).
import { setImmediate as othersHaveRun } from 'node:timers/promises'

let turn: Promise<void> | undefined

/**
 * Resolves at the end of this turn, in a row with all other promises of the turn. A promise made at the end
 * of a turn resolves in the next one.
 */
export function endOfTurn(): Promise<void> {
  turn ??= othersHaveRun().then(() => {
    turn = undefined
  })
  return turn
}
