// Group commit: rows that arrive while an inbox object is being written wait and go together into the next
// one.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ServiceError } from '../../schemas/errors.ts'
import type { Row, TableName } from '../../schemas/tables.ts'
import { inboxPath } from '../store/paths.ts'
import type { OneByOne } from '../store/store.ts'
import { encodeRows } from './inbox.ts'

export interface GroupCommitSettings {
  /** The most rows that may wait. Further ones are refused at once. */
  queueLimit: number
  /** The most time that the store may take for one object. A row waits at most twice as long. */
  timeoutMs: number
}

export interface GroupCommitComponents {
  store: Pick<OneByOne, 'putIfAbsent'>
  /** A new version 7 UUID. */
  newId: () => string
  /**
   * Makes a receipt for each row of the object with this `id`, or no receipts, while the store writes the
   * object. Receipts are handed out only if the object is durable.
   */
  receiptsOf?: (rows: readonly Row[], id: string) => readonly string[]
  /** Called after each object is written, before its submitters get their answers. It never fails. */
  onCommit?: (written: Written) => void
  /** Milliseconds of a clock that only goes forward. */
  monotonicMs: () => number
}

/** An object in the inbox. */
export interface Written {
  path: string
  rows: readonly Row[]
  /** The time that it took to make the object durable. */
  durationMs: number
}

/** Rows that must go into one object. */
interface Waiting {
  rows: readonly Row[]
  resolve: (receipts: readonly string[]) => void
  reject: (error: ServiceError) => void
}

/** The most rows in one object, so that encoding never blocks the process for long. */
const GROUP_LIMIT = 5_000

export class GroupCommit {
  readonly #table: TableName
  readonly #settings: GroupCommitSettings
  readonly #components: GroupCommitComponents
  #waiting: Waiting[] = []
  #queued = 0
  #writing: Promise<void> | undefined
  #closed = false

  constructor(table: TableName, settings: GroupCommitSettings, components: GroupCommitComponents) {
    this.#table = table
    this.#settings = settings
    this.#components = components
  }

  get queued(): number {
    return this.#queued
  }

  /**
   * Resolves once the rows are durable in the inbox, all in one object, with the receipts for them.
   *
   * @throws ServiceError `unavailable`. If the queue was full, no row was written. If the store failed or
   *   took too long, the rows may still turn up, so writing the same again must be harmless.
   */
  submit(...rows: Row[]): Promise<readonly string[]> {
    if (this.#closed) return Promise.reject(unavailable('the service is shutting down; nothing was recorded'))
    if (rows.length === 0) return Promise.resolve([])
    if (this.#queued + rows.length > this.#settings.queueLimit) {
      return Promise.reject(unavailable('too many rows are waiting to be written; nothing was recorded'))
    }
    const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>()
    this.#waiting.push({ rows, resolve, reject })
    this.#queued += rows.length
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
      const group = this.#takeGroup()
      try {
        const receipts = await this.#write(group)
        let from = 0
        for (const { rows, resolve } of group) resolve(receipts.slice(from, (from += rows.length)))
      } catch (cause) {
        const error = unavailable('the store did not confirm the write in time; submit again', cause)
        for (const { reject } of group) reject(error)
      }
      // Let the process read the requests that have arrived, so that fewer objects are written.
      await nextTurn()
    }
    this.#writing = undefined
  }

  /** Takes as many submissions as fit into one object, and at least one. */
  #takeGroup(): Waiting[] {
    let rows = 0
    let count = 0
    while (count < this.#waiting.length) {
      rows += this.#waiting[count]!.rows.length
      if (rows > GROUP_LIMIT && count > 0) break
      count += 1
    }
    const group = this.#waiting.splice(0, count)
    for (const { rows: taken } of group) this.#queued -= taken.length
    return group
  }

  async #write(group: readonly Waiting[]): Promise<readonly string[]> {
    const { store, newId, receiptsOf, onCommit, monotonicMs } = this.#components
    const startedMs = monotonicMs()
    const rows = group.flatMap((waiting) => waiting.rows)
    const bytes = encodeRows(this.#table, rows)
    const { promise: expired, reject } = Promise.withResolvers<never>()
    const expiry = new AbortController()
    const timer = setTimeout(() => {
      expiry.abort()
      reject(new Error(`no answer within ${this.#settings.timeoutMs} ms`))
    }, this.#settings.timeoutMs)
    // No other object has this path: if it is taken, an earlier attempt of this request succeeded.
    const id = newId()
    const path = inboxPath(this.#table, id, bytes)
    try {
      const write = store.putIfAbsent(path, bytes, expiry.signal)
      const [receipts] = await Promise.all([
        Promise.resolve().then(() => receiptsOf?.(rows, id) ?? []),
        Promise.race([write, expired]),
      ])
      onCommit?.({ path, rows, durationMs: monotonicMs() - startedMs })
      return receipts
    } finally {
      // A running timer would hold on to the rows until it ends.
      clearTimeout(timer)
    }
  }
}

function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError('unavailable', message, { expose: true, retryAfterS: 5, cause })
}
