// One worker, as its primary sees it.
import cluster from 'node:cluster'
import type { Measured } from '../../../api/http/metrics.ts'
import { closeLostConnections } from './lost-connections.ts'
import { Questions, type ToPrimary, type ToWorker } from './messages.ts'

export type FromWorker = Exclude<ToPrimary, { kind: 'answer' }>

export interface Ended {
  code: number | null
  signal: string | null
  /** The reason why there was no process at all. */
  error?: Error
}

export class WorkerProcess {
  readonly ended: Promise<Ended>
  readonly #worker = cluster.fork()
  readonly #questions = new Questions()

  constructor(receive: (message: FromWorker, from: WorkerProcess) => void) {
    this.ended = new Promise<Ended>((resolve) => {
      this.#worker.once('exit', (code: number | null, signal: string | null) => {
        resolve({ code, signal })
      })
      this.#worker.on('error', (error) => {
        if (this.#worker.process.pid === undefined) resolve({ code: null, signal: null, error })
      })
    }).finally(() => {
      this.#questions.giveUp()
    })
    closeLostConnections(this.#worker)
    this.#worker.on('message', (message: ToPrimary) => {
      if (message.kind === 'answer') this.#questions.settle(message)
      else receive(message, this)
    })
  }

  /** Unique to each process. */
  get id(): number {
    return this.#worker.id
  }

  get pid(): number | undefined {
    return this.#worker.process.pid
  }

  /** Resolves to undefined if the worker is ending. */
  measure(): Promise<Measured | undefined> {
    return this.#questions.ask<'measure'>((id) => {
      this.send({ kind: 'measure', id })
    })
  }

  /** Takes back a lease. Resolves to the calls left of it, or to undefined if the worker is ending. */
  recall(name: string, caller: string): Promise<number | undefined> {
    return this.#questions.ask<'recall'>((id) => {
      this.send({ kind: 'recall', id, name, caller })
    })
  }

  /** Sends nothing to a worker that is ending. */
  send(message: ToWorker): void {
    if (this.#worker.isConnected()) this.#worker.send(message, undefined, undefined, () => {})
    else this.#questions.giveUp()
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL')
  }
}
