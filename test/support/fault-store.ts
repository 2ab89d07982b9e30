// A store that fails where a test wants it to, and records the calls to it.
import { ServiceError } from '../../schemas/errors.ts'
import type { Store, StoredObject } from '../../pipeline/store/store.ts'

/** How a write fails: without a trace, or after it took effect. The writer cannot tell the two apart. */
export type Fault = 'failed' | 'failed but persisted'
export const FAULTS: readonly Fault[] = ['failed', 'failed but persisted']

export interface Call {
  operation: 'get' | 'range' | 'list' | 'putIfAbsent' | 'put' | 'delete'
  key: string
}

export interface FaultSettings {
  /** The write that fails, counted from 1 over putIfAbsent, put and delete; without it none does. */
  at?: number
  fault?: Fault
  /** After the failing write nothing answers any more, as for a process that has died. */
  crash?: boolean
  /** Awaited before each call, so that a test can hold one back. */
  before?: (call: Call) => void | Promise<void>
}

export class FaultStore implements Store {
  readonly url: string
  readonly localPath?: (key: string) => string
  /** Everything that was asked, in order; calls that failed included. */
  readonly calls: Call[] = []
  readonly #store: Store
  readonly #settings: FaultSettings
  #writes = 0
  #crashed = false

  constructor(store: Store, settings: FaultSettings = {}) {
    this.#store = store
    this.#settings = settings
    this.url = store.url
    if (store.localPath) this.localPath = (key) => store.localPath!(key)
  }

  /** Writes asked for, whether or not they succeeded. */
  get writes(): number {
    return this.#writes
  }

  /** Whether the chosen write was reached. */
  get failed(): boolean {
    return this.#settings.at !== undefined && this.#writes >= this.#settings.at
  }

  count(...operations: Call['operation'][]): number {
    return this.calls.filter(({ operation }) => operations.includes(operation)).length
  }

  async get(key: string, signal?: AbortSignal): Promise<Uint8Array | undefined> {
    await this.#begin({ operation: 'get', key })
    return this.#store.get(key, signal)
  }

  async range(key: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    await this.#begin({ operation: 'range', key })
    return this.#store.range(key, offset, length)
  }

  async *list(prefix: string, after?: string): AsyncIterable<StoredObject> {
    await this.#begin({ operation: 'list', key: prefix })
    yield* this.#store.list(prefix, after)
  }

  async putIfAbsent(key: string, bytes: Uint8Array, signal?: AbortSignal): Promise<boolean> {
    return this.#write({ operation: 'putIfAbsent', key }, () => this.#store.putIfAbsent(key, bytes, signal))
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    return this.#write({ operation: 'put', key }, () => this.#store.put(key, bytes))
  }

  async delete(key: string): Promise<void> {
    return this.#write({ operation: 'delete', key }, () => this.#store.delete(key))
  }

  async #write<T>(call: Call, write: () => Promise<T>): Promise<T> {
    await this.#begin(call)
    this.#writes += 1
    if (this.#writes !== this.#settings.at) return write()
    this.#crashed = this.#settings.crash ?? false
    if (this.#settings.fault === 'failed but persisted') await write()
    throw new ServiceError('unavailable', `injected: ${call.operation} of ${call.key} failed`)
  }

  async #begin(call: Call): Promise<void> {
    this.calls.push(call)
    await this.#settings.before?.(call)
    if (this.#crashed) throw new ServiceError('unavailable', `injected: crashed before ${call.operation}`)
  }
}
