// Every answer has Node call `process.nextTick` several times. V8 learns the hidden class of the object that this makes; if all such
// objects are collected before it has compiled the call, as in a process that waits for callers, it never learns the next one, and each
// call takes four times as long until the process ends (`node bench/ticks.ts`).
import { createHook } from 'node:async_hooks'

let held: object | undefined

/** Keeps one object of `process.nextTick` for as long as the process runs, and with it the hidden class. Returns whether there is one. */
export function holdTickShape(): boolean {
  if (held) return true
  const hook = createHook({
    init: (_id, type, _triggerId, resource) => {
      if (type === 'TickObject') held ??= resource
    },
  }).enable()
  process.nextTick(() => {})
  hook.disable()
  return held !== undefined
}
