// A served address as a read-only store. `/data` of a service has the paths of its store, and any web server
// may serve the same files. The reader need not trust the server: answers are bounded in bytes and time, and
// every request is counted.
import { ServiceError } from '../../schemas/errors.ts'
import { type BoundedAnswer, boundedFetch, isTooSlow } from '../bounded-fetch.ts'
import { quoted } from '../proof/quoted.ts'
import { LOG_PREFIX, assertPath, logTilePath } from './paths.ts'
import type { ReadableStore } from './store.ts'

/** The longest note; a tile has 8 KiB. */
const NOTE_BYTES = 64 * 1024
/** The most bytes of a bundle: 256 entries of less than 2 KiB. */
const BUNDLE_BYTES = 512 * 1024
/** Some 300,000 corrections in a manifest. */
export const MANIFEST_BYTES = 64 * 1024 * 1024
const ATTEMPTS = 4
/** How many answers may take too long before the server is given up. */
const MOST_SLOW = 12
const FIRST_WAIT_MS = 250
const MOST_WAIT_S = 60

export interface HttpOptions {
  headers?: Record<string, string>
  /** Waits before a failed request is repeated. Without it no request is repeated. */
  wait?: (ms: number) => Promise<void>
  /** No request starts after this time, because a server could drip each of hundreds of answers. */
  withinMs?: number
}

/** The requests made, and the bytes of the bodies that came. */
export interface Cost {
  requests: number
  bytes: number
}

interface Limited {
  mostBytes: number
  headers?: Record<string, string>
}

interface Traffic {
  cost: Cost
  slow: number
  isOver: boolean
}

export class HttpStore implements ReadableStore {
  readonly url: string
  readonly #options: HttpOptions
  readonly #traffic: Traffic

  /**
   * @throws ServiceError `invalid` for anything but the address of a service.
   */
  constructor(address: string, options: HttpOptions = {}, traffic?: Traffic) {
    if (!/^https?:\/\/[^?#]+$/.test(address)) {
      throw new ServiceError('invalid', `the address of a service is http[s]://host, not ${quoted(address)}`)
    }
    this.url = address.replace(/\/+$/, '')
    this.#options = options
    this.#traffic = traffic ?? { cost: { requests: 0, bytes: 0 }, slow: 0, isOver: false }
    const end = () => {
      this.#traffic.isOver = true
    }
    if (!traffic && options.withinMs !== undefined) setTimeout(end, options.withinMs).unref()
  }

  /**
   * Returns the store at another address of the same server. Both share one count of requests and one time
   * limit.
   */
  at(address: string): HttpStore {
    return new HttpStore(address, this.#options, this.#traffic)
  }

  get cost(): Cost {
    return this.#traffic.cost
  }

  /**
   * Returns the object, or undefined if there is none.
   *
   * @throws ServiceError `unavailable` for any other answer, for no answer, and for more bytes than an object
   *   at this path may have.
   */
  async get(path: string): Promise<Uint8Array | undefined> {
    assertPath(path)
    return this.ask(path, mostBytesAt(path))
  }

  localPath(): undefined {
    return undefined
  }

  /** A server without ranges answers with the whole object, which must then be as short as the range. */
  async range(path: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    assertPath(path)
    const headers = { range: `bytes=${offset}-${offset + Math.max(length, 1) - 1}` }
    const answer = await this.#fetched(path, { headers, mostBytes: Math.max(length, NOTE_BYTES) })
    switch (answer.status) {
      case 200:
        return answer.bytes.subarray(offset, offset + length)
      case 206:
        return answer.bytes.subarray(0, length)
      case 416:
        return new Uint8Array()
      default:
        return this.#bodyOf(path, answer)
    }
  }

  /**
   * Gets an answer that is not an object of the store, such as the proof of a record.
   *
   * @param path may have a query.
   * @throws ServiceError as `get` does, and for more bytes than a note or `mostBytes`.
   */
  async ask(path: string, mostBytes = NOTE_BYTES): Promise<Uint8Array | undefined> {
    return this.#bodyOf(path, await this.answer(path, mostBytes))
  }

  /** Asks as `ask` does, and returns an answer of any status. */
  async answer(path: string, mostBytes = NOTE_BYTES): Promise<BoundedAnswer> {
    return this.#fetched(path, { mostBytes })
  }

  #bodyOf(path: string, { status, bytes }: BoundedAnswer): Uint8Array | undefined {
    if (status === 404) return undefined
    if (status === 200) return bytes
    throw unexpectedStatus(`${this.url}/${path}`, status)
  }

  async #fetched(path: string, { headers, mostBytes }: Limited): Promise<BoundedAnswer> {
    const url = `${this.url}/${path}`
    const { wait, withinMs = 0, headers: own } = this.#options
    const traffic = this.#traffic
    // Ask for no coding, so that the body has the known number of bytes.
    const sent = { ...own, ...headers, 'accept-encoding': 'identity' }
    for (let attempt = 1; ; attempt++) {
      if (traffic.isOver) {
        throw new ServiceError(
          'unavailable',
          `${url} is not asked for any more: the answers before it took ${withinMs / 60_000} minutes`,
        )
      }
      traffic.cost.requests += 1
      const isLast = wait === undefined || attempt === ATTEMPTS
      const answer = await boundedFetch(url, { mostBytes, headers: sent }).catch((error: unknown) => {
        if (isTooSlow(error)) traffic.slow += 1
        if (isLast || traffic.slow > MOST_SLOW) throw error
        return undefined
      })
      traffic.cost.bytes += answer?.bytes.byteLength ?? 0
      const isBusy = answer === undefined || answer.status === 429 || answer.status >= 500
      if (answer && (!isBusy || isLast)) return answer
      await wait!(waitMs(answer, attempt))
    }
  }
}

/** Returns the error of an answer that is none to what was asked. */
export function unexpectedStatus(url: string, status: number): ServiceError {
  const isRedirect = status >= 300 && status < 400
  const what = isRedirect ? ', which leads elsewhere: give the address that it leads to' : ''
  return new ServiceError('unavailable', `${url} answered ${status}${what}`)
}

function mostBytesAt(path: string): number {
  if (path.startsWith(logTilePath('tile/entries/'))) return BUNDLE_BYTES
  return path.startsWith(LOG_PREFIX) ? NOTE_BYTES : MANIFEST_BYTES
}

/** Returns the wait that the server asks for, or else twice the wait before. */
function waitMs(answer: BoundedAnswer | undefined, attempt: number): number {
  const seconds = Number(answer?.headers.get('retry-after') ?? Number.NaN)
  if (seconds >= 0) return Math.min(seconds, MOST_WAIT_S) * 1000
  return FIRST_WAIT_MS * 2 ** attempt
}
