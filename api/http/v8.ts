// Three habits of V8 that a serving process works around.
//
// With `holdTickShape`, reads without a key on 32 connections have 1.21 of the rate and 0.82 of the CPU
// (bench/notes/decisions.md). It can go when `node bench/ticks.ts` shows no difference between its lines.
//
// `compileNoMore` can go when https://github.com/nodejs/node/issues/54918 is closed.
//
// With `beginYoung`, forecasts on 256 connections have 1.12 of the rate and 0.85 of the CPU, and on 32
// connections 1.12 and 0.83 (bench/notes/decisions.md). Reads gain nothing. It can go when `npm run bench --
// --only writes` uses no less CPU with its call in jobs/serve/service.ts than without it.
import { executionAsyncResource } from 'node:async_hooks'
import { setFlagsFromString } from 'node:v8'

let held: object | undefined

/**
 * Keeps an object of `process.nextTick` for as long as the process runs, and with it the object's hidden
 * class.
 *
 * For every answer, Node calls `process.nextTick` several times. V8 learns the hidden class of the object
 * that each call makes. If all such objects are collected before V8 has compiled the call, as in a process
 * that waits for callers, it never learns the next one, and each call takes four times as long until the
 * process ends.
 */
export function holdTickShape(): Promise<object> {
  return new Promise((resolve) => {
    process.nextTick(() => {
      held ??= executionAsyncResource()
      resolve(held)
    })
  })
}

/**
 * Makes all objects of this process begin young, from now on.
 *
 * V8 counts, for each place in the code, the objects from there that outlive a collection of its young
 * generation. It then makes the objects of such a place in the old generation from the start. In a server
 * with hundreds of calls under way, these are the objects of a call. Each object that is dead, but not yet
 * collected from the old generation, keeps all that it refers to, so that whole calls outlive two
 * collections, are copied twice and become old too. The places differ from process to process, so only
 * several processes show the cost.
 */
export function beginYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}

/**
 * Keeps V8 from beginning compilations by Maglev. Call it when the process begins to stop.
 *
 * At its end Node waits for the threads that compile, and such a compilation may in turn wait for the main
 * thread. A process in which both happen has closed all that it had open, and never ends.
 */
export function compileNoMore(): void {
  setFlagsFromString('--no-maglev')
}
