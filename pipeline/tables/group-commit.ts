// Group commit: rows that arrive while one inbox object is being written wait for the next, which takes them all.
import { ServiceError } from '../../schemas/errors.ts'
import type { Row, TableName } from '../../schemas/tables.ts'
import { inboxPath } from '../store/paths.ts'
import type { Store } from '../store/store.ts'
import { encodeRows } from './inbox.ts'

export interface GroupCommitSettings {
  /** Rows that may wait; more are refused at once. */
  queueLimit: number
  /** How long the store may take for one object. A row waits at most twice as long. */
  timeoutMs: number
}

export interface GroupCommitComponents {
  store: Store
  /** A new version 7 UUID. */
  newId: () => string
  /** Told of every object written, for metrics. */
  onCommit?: (rows: number, durationMs: number) => void
  /** Milliseconds of a clock that only goes forward. */
  monotonicMs: () => number
}

interface Waiting {
  row: Row
  resolve: () => void
  reject: (error: ServiceError) => void
}

/** Rows in one object at most, so that encoding never stalls the process for long. */
const GROUP_LIMIT = 5_000
const RETRY_AFTER_S = 5

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
   * @throws ServiceError `unavailable`: with a full queue the row was not written; when the store failed or took
   *   too long it may yet turn up, as with any store, so writing the same again must be harmless.
   */
  submit(row: Row): Promise<void> {
    if (this.#closed) return Promise.reject(unavailable('the service is shutting down; nothing was recorded'))
    if (this.#waiting.length >= this.#settings.queueLimit) {
      return Promise.reject(unavailable('too much is waiting to be written; nothing was recorded'))
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ row, resolve, reject })
      this.#writing ??= this.#writeAll()
    })
  }

  /** Refuses new rows and resolves when every row accepted so far has its answer. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#writing
  }

  async #writeAll(): Promise<void> {
    // Requests of one turn of the event loop belong to one object.
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
    // A key nobody else uses: where it is taken, an earlier try of this very request came through.
    const write = store.putIfAbsent(inboxPath(this.#table, newId()), bytes, signal)
    await Promise.race([write, expired])
    onCommit?.(group.length, monotonicMs() - startedMs)
  }
}

function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError('unavailable', message, { expose: true, retryAfterS: RETRY_AFTER_S, cause })
}
