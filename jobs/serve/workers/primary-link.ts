// A worker's side of the messages between it and its primary.
import { setImmediate as othersHaveRun } from 'node:timers/promises'
import { MirroredCounters } from '../../../api/limits/mirrored-counters.ts'
import { RemoteCounters } from '../../../api/limits/remote-counters.ts'
import type { CallCounters } from '../../../api/limits/counters.ts'
import type { Measured } from '../../../api/http/metrics.ts'
import {
  type Failure,
  type News,
  Questions,
  type ServingWorker,
  type ToPrimary,
  type ToWorker,
} from './messages.ts'

export class PrimaryLink {
  /** Resolves once the primary wants this worker to stop, or is gone. */
  readonly stopped: Promise<void>
  /** The number of workers. */
  readonly workers: number
  readonly counters: CallCounters
  readonly #questions = new Questions()
  readonly #attempts = new MirroredCounters((attempt) => {
    this.#send({ kind: 'attempt', attempt })
  })
  readonly #counted = new RemoteCounters((calls) =>
    this.#questions.ask<'count'>((id) => {
      this.#send({ kind: 'count', id, calls })
    }),
  )
  #learn: (news: News) => void = () => {}
  #measure: () => Promise<Measured> = () => Promise.resolve([])

  constructor(workers: number) {
    this.workers = workers
    this.counters = { quotas: this.#counted, reads: this.#counted, attempts: this.#attempts }
    this.stopped = new Promise((resolve) => {
      process.on('message', (message: ToWorker) => {
        if (message.kind === 'stop') resolve()
        else this.#receive(message)
      })
      process.once('disconnect', () => {
        this.#questions.giveUp()
        resolve()
      })
    })
  }

  /** Sets the functions that learn what other workers did, and that measure this one. */
  serve(learn: (news: News) => void, measure: () => Promise<Measured>): void {
    this.#learn = learn
    this.#measure = measure
  }

  ready(ready: ServingWorker): void {
    this.#send({ kind: 'ready', ...ready })
  }

  failed(failure: Failure): void {
    this.#send({ kind: 'failed', failure })
  }

  /** Tells news. Resolves once every other worker that asks for the latest will know it. */
  async tell(news: News): Promise<void> {
    await this.#questions.ask<'news'>((id) => {
      this.#send({ kind: 'news', id, news })
    })
  }

  /** Resolves once this worker knows what others told before this call. */
  async latest(): Promise<void> {
    await this.#questions.ask<'latest'>((id) => {
      this.#send({ kind: 'latest', id })
    })
  }

  /** Returns the measurements of all workers together, or an empty text if the primary is gone. */
  async measurements(): Promise<string> {
    const text = await this.#questions.ask<'measurements'>((id) => {
      this.#send({ kind: 'measurements', id })
    })
    return text ?? ''
  }

  #receive(message: Exclude<ToWorker, { kind: 'stop' }>): void {
    switch (message.kind) {
      case 'answer':
        this.#questions.settle(message)
        break
      case 'attempt':
        this.#attempts.learn(message.attempt)
        break
      case 'recall':
        void this.#recall(message)
        break
      case 'news':
        this.#learn(message.news)
        break
      case 'measure':
        void this.#measure().then((answer) => {
          this.#send({ kind: 'answer', id: message.id, answer })
        })
    }
  }

  async #recall({ id, name, caller }: Extract<ToWorker, { kind: 'recall' }>): Promise<void> {
    // This process must first have taken a lease that was granted just before.
    await othersHaveRun()
    this.#send({ kind: 'answer', id, answer: this.#counted.recall(name, caller) })
  }

  #send(message: ToPrimary): void {
    // A message to a primary that is gone has no answer: its end settles all questions.
    if (process.connected) process.send?.(message, undefined, undefined, () => {})
    else this.#questions.giveUp()
  }
}
