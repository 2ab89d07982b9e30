// The net under callbacks: an exception in one is nobody's to catch. It is given to the work that began the
// callback, so that one call or one step fails, and not the process.
import { AsyncLocalStorage } from 'node:async_hooks'

type Fail = (error: unknown) => void

const work = new AsyncLocalStorage<Fail>()

/** Does work, and gives `fail` the exceptions of its callbacks, also those that come after its end. */
export function withNet(fail: Fail, run: () => void): void {
  work.run(fail, run)
}

/** Takes a step. Resolves once it ends, or a callback of it throws, after which it might never end. */
export function netted(step: () => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    withNet(
      () => {
        resolve()
      },
      () => void step().then(resolve, reject),
    )
  })
}

/** Lets the work fail that began the callback of an exception. Returns false if there is none. */
export function failWork(error: unknown): boolean {
  const fail = work.getStore()
  fail?.(error)
  return fail !== undefined
}
