// Every answer has Node call `process.nextTick` several times. V8 learns the hidden class of the object that this makes; if all such
// objects are collected before it has compiled the call, as in a process that waits for callers, it never learns the next one, and each
// call takes four times as long until the process ends (`node bench/ticks.ts`).
import { executionAsyncResource } from 'node:async_hooks'

let held: object | undefined

/** Keeps an object of `process.nextTick` for as long as the process runs, and with it the hidden class. */
export function holdTickShape(): Promise<object> {
  return new Promise((resolve) => {
    process.nextTick(() => {
      held ??= executionAsyncResource()
      resolve(held)
    })
  })
}
