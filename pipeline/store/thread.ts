// A thread that answers: started when it is first asked, replaced after its death, and no reason for a
// process to stay.
import { Worker } from 'node:worker_threads'

export class Thread<Question, Answer> {
  readonly #program: URL
  #worker: Worker | undefined
  /** It answers in the order in which it is asked. */
  #waiting: PromiseWithResolvers<Answer>[] = []

  /** @param program answers each message with one, in their order. */
  constructor(program: URL) {
    this.#program = program
  }

  /**
   * @param given what the question has of memory goes over to the thread, without a copy, and is empty here.
   * @throws Error if the thread dies: what it was asked to do may be done or not. DataCloneError for a
   *   question that cannot be sent.
   */
  ask(question: Question, given: readonly ArrayBuffer[] = []): Promise<Answer> {
    const worker = (this.#worker ??= this.#start())
    // First, because what cannot be sent is never answered.
    worker.postMessage(question, given)
    const asked = Promise.withResolvers<Answer>()
    this.#waiting.push(asked)
    worker.ref()
    return asked.promise
  }

  /** Ends the thread without waiting for what is under way, of which nobody knows whether it is done. */
  close(): void {
    this.#worker?.unref()
    void this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(this.#program)
    worker.unref()
    let cause: unknown
    worker.on('message', (answer: Answer) => {
      this.#waiting.shift()!.resolve(answer)
      if (this.#waiting.length === 0) worker.unref()
    })
    worker.on('error', (error) => (cause = error))
    worker.on('exit', () => {
      this.#worker = undefined
      const lost = this.#waiting.splice(0)
      for (const { reject } of lost) reject(new Error('the thread has ended before it answered', { cause }))
    })
    return worker
  }
}
