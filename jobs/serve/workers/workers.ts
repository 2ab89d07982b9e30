// Starts and stops the workers of a node, replaces those that end, and answers what they ask of their
// primary.
import cluster from 'node:cluster'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import type { CounterCall, CounterTable } from '../../../api/limits/counter-table.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import { type ServingWorker, type ToWorker, errorOf } from './messages.ts'
import { NodeMetrics } from './node-metrics.ts'
import { Replacement } from './replacement.ts'
import { type Ended, type FromWorker, WorkerProcess } from './worker-process.ts'

const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url))

interface WorkersComponents {
  /** Whether the primary makes releases on schedule. */
  releases: boolean
  logger: Logger
  counters: CounterTable
}

export class Workers {
  readonly #components: WorkersComponents
  readonly #metrics = new NodeMetrics()
  readonly #running = new Set<WorkerProcess>()
  readonly #stopping = new AbortController()
  readonly #started = Promise.withResolvers<ServingWorker>()
  readonly #places: Promise<void>[]
  readonly #size: number
  #missing: number

  constructor(count: number, components: WorkersComponents) {
    this.#components = components
    this.#size = count
    this.#missing = count
    cluster.setupPrimary({ exec: WORKER, args: [String(count), String(components.releases)] })
    // However this process ends, no worker may serve on, because it would count calls by itself.
    process.on('exit', this.#killAll)
    this.#places = Array.from({ length: count }, () => this.#keepOne())
  }

  /**
   * Resolves once all of them serve.
   *
   * @throws whatever keeps one of them from starting, after the others have stopped.
   */
  async started(): Promise<ServingWorker> {
    try {
      return await this.#started.promise
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  /**
   * Stops all workers. Resolves once each has answered the calls under way, has made durable what it took,
   * and has ended.
   */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#sendAll({ kind: 'stop' })
    await Promise.all(this.#places)
    process.off('exit', this.#killAll)
  }

  /** Keeps one worker running, and replaces it when it ends. */
  async #keepOne(): Promise<void> {
    const { signal } = this.#stopping
    const replacement = new Replacement()
    while (!signal.aborted) {
      const startedMs = performance.now()
      const worker = new WorkerProcess((message, from) => void this.#receive(message, from))
      this.#running.add(worker)
      const ended = await worker.ended
      this.#running.delete(worker)
      await this.#metrics.ended(worker)
      if (!(await this.#hasStarted(ended))) return
      if (!signal.aborted)
        await this.#pauseAfter(worker, ended, replacement.pauseMs(performance.now() - startedMs))
    }
  }

  /**
   * Resolves to whether all workers have come to serve. A worker that ends before that keeps the node from
   * starting.
   */
  #hasStarted({ code, signal, error }: Ended): Promise<boolean> {
    if (this.#missing > 0) {
      const how = signal ?? `with ${code}`
      this.#started.reject(
        error ?? new ServiceError('unavailable', `a worker ended ${how} before all served`),
      )
    }
    return this.#started.promise.then(
      () => true,
      () => false,
    )
  }

  async #pauseAfter({ id, pid }: WorkerProcess, { error, ...ended }: Ended, pauseMs: number): Promise<void> {
    const fields = { worker: id, pid, ...ended, pauseMs, ...(error ? { err: error } : {}) }
    this.#components.logger.error(fields, 'a worker has ended; another one takes its place')
    await pause(pauseMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
  }

  async #receive(message: FromWorker, from: WorkerProcess): Promise<void> {
    switch (message.kind) {
      case 'ready':
        this.#missing -= 1
        if (this.#missing <= 0) this.#started.resolve(message)
        break
      case 'failed': {
        const error = errorOf(message.failure)
        if (this.#missing > 0) this.#started.reject(error)
        else this.#components.logger.error({ err: error, worker: from.id }, 'a worker could not serve')
        break
      }
      case 'attempt':
        this.#sendAll(message, from)
        break
      case 'count':
        await this.#count(message, from)
        break
      case 'news':
        this.#sendAll({ kind: 'news', news: message.news }, from)
        from.send({ kind: 'answer', id: message.id, answer: null })
        break
      case 'latest':
        from.send({ kind: 'answer', id: message.id, answer: null })
        break
      case 'measurements':
        from.send({ kind: 'answer', id: message.id, answer: await this.#metrics.text(this.#running) })
    }
  }

  #count({ id, calls }: { id: number; calls: readonly CounterCall[] }, from: WorkerProcess): Promise<void> {
    // The lease of a worker that has ended counts as used.
    const recall = async (holder: number, name: string, caller: string) =>
      (await [...this.#running].find((worker) => worker.id === holder)?.recall(name, caller)) ?? 0
    const asking = { process: from.id, processes: this.#size, recall }
    return this.#components.counters.answer(calls, asking, (answer) => {
      from.send({ kind: 'answer', id, answer })
    })
  }

  #sendAll(message: ToWorker, except?: WorkerProcess): void {
    for (const worker of this.#running) if (worker !== except) worker.send(message)
  }

  readonly #killAll = (): void => {
    for (const worker of this.#running) worker.kill()
  }
}
