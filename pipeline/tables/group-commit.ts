// Group commit: rows that arrive while an inbox object is being written wait and go together into the next one.
import { ServiceError } from '../../schemas/errors.ts'
import type { Row, TableName } from '../../schemas/tables.ts'
import { inboxPath } from '../store/paths.ts'
import type { Store } from '../store/store.ts'
import { encodeRows } from './inbox.ts'

export interface GroupCommitSettings {
  /** The most rows that may wait. Further ones are refused at once. */
  queueLimit: number
  /** The longest that the store may take for one object. A row waits at most twice as long. */
  timeoutMs: number
}

export interface GroupCommitComponents {
  store: Store
  /** A new version 7 UUID. */
  newId: () => string
  /** Called after every object that is written, for metrics. */
  onCommit?: (rows: number, durationMs: number) => void
  /** Milliseconds of a clock that only goes forward. */
  monotonicMs: () => number
}

interface Waiting {
  row: Row
  resolve: () => void
  reject: (error: ServiceError) => void
}

/** The most rows in one object, so that encoding never blocks the process for long. */
const GROUP_LIMIT = 5_000

export class GroupCommit {
  readonly #table: TableName
  readonly #settings: GroupCommitSettings
  readonly #components: GroupCommitComponents
  #waiting: Waiting[] = []
  #writing: Promise<void> | undefined
  #closed = false

  constructor(table: TableName, settings: GroupCommitSettings, components: GroupCommitComponents) {
    this.#table = table
    this.#settings = settings
    this.#components = components
  }

  get queued(): number {
    return this.#waiting.length
  }

  /**
   * Resolves once the row is durable in the inbox.
   *
   * @throws ServiceError `unavailable`. If the queue was full, the row was not written. If the store failed or took too
   *   long, it may still turn up, so writing the same again must be harmless.
   */
  submit(row: Row): Promise<void> {
    if (this.#closed) return Promise.reject(unavailable('the service is shutting down; nothing was recorded'))
    if (this.#waiting.length >= this.#settings.queueLimit) {
      return Promise.reject(unavailable('too many rows are waiting to be written; nothing was recorded'))
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#waiting.push({ row, resolve, reject })
    this.#writing ??= this.#writeAll()
    return promise
  }

  /** Refuses new rows, and resolves once every row accepted so far is written or has failed. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#writing
  }

  async #writeAll(): Promise<void> {
    // The rows of one turn of the event loop go into one object.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, GROUP_LIMIT)
      try {
        await this.#write(group)
        for (const { resolve } of group) resolve()
      } catch (cause) {
        const error = unavailable('the store did not confirm the write in time; submit again', cause)
        for (const { reject } of group) reject(error)
      }
    }
    this.#writing = undefined
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    const { store, newId, onCommit, monotonicMs } = this.#components
    const startedMs = monotonicMs()
    const bytes = encodeRows(
      this.#table,
      group.map(({ row }) => row),
    )
    const signal = AbortSignal.timeout(this.#settings.timeoutMs)
    const expired = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => {
        reject(new Error(`no answer within ${this.#settings.timeoutMs} ms`))
      })
    })
    // No other object has this path: if it is taken, an earlier attempt of this request succeeded.
    const write = store.putIfAbsent(inboxPath(this.#table, newId(), bytes), bytes, signal)
    await Promise.race([write, expired])
    onCommit?.(group.length, monotonicMs() - startedMs)
  }
}

function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError('unavailable', message, { expose: true, retryAfterS: 5, cause })
}
