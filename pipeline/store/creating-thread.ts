// The thread of creator.ts: started when it is first needed, replaced after its death, and no reason for a process to stay.
import { Worker } from 'node:worker_threads'
import type { Creation, Outcome } from './creator.ts'

const CREATOR = new URL('./creator.ts', import.meta.url)

export class CreatingThread {
  readonly #script: URL
  #worker: Worker | undefined
  /** It answers in the order in which it is asked. */
  #waiting: PromiseWithResolvers<Outcome>[] = []

  constructor(script = CREATOR) {
    this.#script = script
  }

  /** @throws Error if the thread dies: the object may be there or not. */
  create(creation: Creation): Promise<Outcome> {
    const worker = (this.#worker ??= this.#start())
    const asked = Promise.withResolvers<Outcome>()
    this.#waiting.push(asked)
    worker.ref()
    worker.postMessage(creation)
    return asked.promise
  }

  /** Ends the thread, without waiting for a disk that hangs. Of an object under way nobody knows whether it is there. */
  close(): void {
    this.#worker?.unref()
    void this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(this.#script)
    let cause: unknown
    worker.on('message', (outcome: Outcome) => {
      this.#waiting.shift()!.resolve(outcome)
      if (this.#waiting.length === 0) worker.unref()
    })
    worker.on('error', (error) => (cause = error))
    worker.on('exit', () => {
      this.#worker = undefined
      const lost = this.#waiting.splice(0)
      for (const { reject } of lost) reject(new Error('the thread that creates objects has ended', { cause }))
    })
    return worker
  }
}
