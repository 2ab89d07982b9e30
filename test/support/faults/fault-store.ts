// A store that fails where a test wants it to, and records its calls.
import { ServiceError } from '../../../schemas/errors.ts'
import type { Body } from '../../../pipeline/store/body.ts'
import { type OneByOne, type Store, type StoredObject, byPutIfAbsent } from '../../../pipeline/store/store.ts'

/** How a write fails: without a trace, or after it took effect. Its caller cannot tell the two apart. */
export type Fault = 'failed' | 'failed but persisted'
export const FAULTS: readonly Fault[] = ['failed', 'failed but persisted']

export interface Call {
  operation: 'get' | 'range' | 'list' | 'putIfAbsent' | 'put' | 'delete'
  path: string
}

export interface FaultSettings {
  /**
   * The number of the write that fails, counted from 1 over putIfAbsent, put and delete. Without it no write
   * fails.
   */
  at?: number
  fault?: Fault
  /** Whether every call after the failing write fails too, as if the process had died. */
  crash?: boolean
  /** Awaited before each call, so that a test can delay it or make it fail. */
  before?: (call: Call) => void | Promise<void>
}

/** What calls of the API made a node do: without its looks at what stands and at names, which it makes by itself. */
export function madeByCalls({ calls }: FaultStore): Call[] {
  return calls.filter(({ path }) => !/^(people|(tables|inbox)\/forecasts)\//.test(path))
}

export class FaultStore implements Store {
  readonly url: string
  readonly mark: string | undefined
  /** All calls in order, including those that failed. */
  readonly calls: Call[] = []
  readonly #store: Store
  readonly #settings: FaultSettings
  #writes = 0
  #crashed = false

  constructor(store: Store, settings: FaultSettings = {}) {
    this.#store = store
    this.#settings = settings
    this.url = store.url
    this.mark = store.mark
  }

  localPath(path: string): string | undefined {
    return this.#store.localPath(path)
  }

  oneByOne(): OneByOne {
    return byPutIfAbsent(this)
  }

  /** The number of writes so far, including those that failed. */
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

  async get(path: string, signal?: AbortSignal): Promise<Uint8Array | undefined> {
    await this.#begin({ operation: 'get', path })
    return this.#store.get(path, signal)
  }

  async range(path: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    await this.#begin({ operation: 'range', path })
    return this.#store.range(path, offset, length)
  }

  async *list(...asked: Parameters<Store['list']>): AsyncIterable<StoredObject> {
    await this.#begin({ operation: 'list', path: asked[0] })
    yield* this.#store.list(...asked)
  }

  async putIfAbsent(path: string, body: Body, signal?: AbortSignal): Promise<boolean> {
    return this.#write({ operation: 'putIfAbsent', path }, () => this.#store.putIfAbsent(path, body, signal))
  }

  async put(path: string, body: Body): Promise<void> {
    return this.#write({ operation: 'put', path }, () => this.#store.put(path, body))
  }

  async delete(path: string): Promise<void> {
    return this.#write({ operation: 'delete', path }, () => this.#store.delete(path))
  }

  async #write<T>(call: Call, write: () => Promise<T>): Promise<T> {
    await this.#begin(call)
    this.#writes += 1
    if (this.#writes !== this.#settings.at) return write()
    this.#crashed = this.#settings.crash ?? false
    if (this.#settings.fault === 'failed but persisted') await write()
    throw new ServiceError('unavailable', `injected: ${call.operation} of ${call.path} failed`)
  }

  async #begin(call: Call): Promise<void> {
    this.calls.push(call)
    await this.#settings.before?.(call)
    if (this.#crashed) throw new ServiceError('unavailable', `injected: crashed before ${call.operation}`)
  }
}
