// A thread that answers questions. It starts with the first question, is replaced after its death, and keeps
// the process alive only while a question waits.
import { Worker } from 'node:worker_threads'

export class Thread<Question, Answer> {
  readonly #program: URL
  #worker: Worker | undefined
  /** The thread answers in the order in which it is asked. */
  #waiting: PromiseWithResolvers<Answer>[] = []

  /**
   * @param program must answer each message with one message, in order.
   */
  constructor(program: URL) {
    this.#program = program
  }

  /**
   * @param given memory of the question. It moves to the thread without a copy, and is empty here afterwards.
   * @throws Error if the thread dies: the work may be done or not. DataCloneError for a question that cannot
   *   be sent.
   */
  ask(question: Question, given: readonly ArrayBuffer[] = []): Promise<Answer> {
    const worker = (this.#worker ??= this.#start())
    // Send it first, because a question that cannot be sent is never answered.
    worker.postMessage(question, given)
    const pending = Promise.withResolvers<Answer>()
    this.#waiting.push(pending)
    worker.ref()
    return pending.promise
  }

  /** Ends the thread without waiting for the questions under way. Their work may be done or not. */
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
