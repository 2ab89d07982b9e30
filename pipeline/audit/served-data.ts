// Reads what is served under an address, for an auditor who trusts nobody: no answer may be longer than is
// known beforehand, a request that fails is made again, and every request is counted.
import { createHash } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ServiceError } from '../../schemas/errors.ts'
import { unexpectedAnswer } from '../transparency/remote-log.ts'
import { type BoundedAnswer, type Request, boundedFetch, isTooSlow } from '../bounded-fetch.ts'

/** A file that is longer comes in pieces, so that no piece takes long. */
const PIECE_BYTES = 8 * 1024 * 1024
const ATTEMPTS = 4
/** The answers of one audit that may take too long. A server that has more is given up. */
const MOST_SLOW = 12
const FIRST_WAIT_MS = 250
const MOST_WAIT_S = 60

export interface Expected {
  sha256: string
  size_bytes: number
}

export class ServedData {
  readonly #url: string
  readonly #wait: (ms: number) => Promise<void>
  #slow = 0
  /** The requests made, and the bytes of the bodies that came. */
  readonly cost = { requests: 0, bytes: 0 }

  /** @param url without a slash at its end. */
  constructor(url: string, wait: (ms: number) => Promise<void>) {
    this.#url = url
    this.#wait = wait
  }

  /** As `boundedFetch`, again after a failure and where the server asks to wait. */
  readonly fetch = async (url: string, given: Request): Promise<BoundedAnswer> => {
    const { headers, ...request } = given
    for (let attempt = 1; ; attempt++) {
      this.cost.requests += 1
      // A body that is not coded has as many bytes as the manifest says.
      const identity = { ...(headers as Record<string, string>), 'accept-encoding': 'identity' }
      const answer = await boundedFetch(url, { ...request, headers: identity }).catch((error: unknown) => {
        if (isTooSlow(error)) this.#slow += 1
        if (attempt === ATTEMPTS || this.#slow > MOST_SLOW) throw error
        return undefined
      })
      this.cost.bytes += answer?.bytes.byteLength ?? 0
      const isBusy = answer === undefined || answer.status === 429 || answer.status >= 500
      if (!isBusy || attempt === ATTEMPTS) return answer!
      await this.#wait(waitMs(answer, attempt))
    }
  }

  /**
   * Returns the bytes at a path; undefined if nothing is there.
   *
   * @throws ServiceError `unavailable` for every other answer, and for one of more than `mostBytes`.
   */
  async get(path: string, mostBytes: number, headers = {}): Promise<Uint8Array | undefined> {
    const { status, bytes } = await this.fetch(`${this.#url}/${path}`, { mostBytes, headers })
    if (status === 404) return undefined
    if (status === 200 || status === 206) return bytes
    throw unexpectedAnswer(`${this.#url}/${path}`, status)
  }

  /**
   * Writes the file at a path to a place on this machine. Returns false if nothing is there.
   *
   * @throws ServiceError `corrupt` for other bytes than expected, of which nothing stays, and as `get`.
   */
  async download(path: string, location: string, { sha256, size_bytes }: Expected): Promise<boolean> {
    await mkdir(dirname(location), { recursive: true })
    const found = await this.#write(path, location, size_bytes)
    if (found?.sha256 === sha256 && found.size_bytes === size_bytes) return true
    await rm(location)
    if (!found) return false
    throw new ServiceError(
      'corrupt',
      `${path}: expected ${size_bytes} bytes with the SHA-256 ${sha256}, found ${found.size_bytes} bytes with the SHA-256 ${found.sha256}`,
    )
  }

  /** Returns undefined if nothing is there. A piece that is too short is the last one. */
  async #write(path: string, location: string, sizeBytes: number): Promise<Expected | undefined> {
    const hash = createHash('sha256')
    await using file = await open(location, 'w')
    for (let at = 0; ;) {
      const mostBytes = Math.min(PIECE_BYTES, sizeBytes - at)
      const range = { range: `bytes=${at}-${at + mostBytes - 1}` }
      const piece = await this.get(path, mostBytes, mostBytes < sizeBytes ? range : {})
      if (!piece) return undefined
      hash.update(piece)
      await file.writeFile(piece)
      at += piece.byteLength
      if (at === sizeBytes || piece.byteLength < mostBytes) {
        return { sha256: hash.digest('hex'), size_bytes: at }
      }
    }
  }
}

/** The server says how long; without a word of it each wait is twice the one before. */
function waitMs(answer: BoundedAnswer | undefined, attempt: number): number {
  const seconds = Number(answer?.headers.get('retry-after') ?? Number.NaN)
  if (seconds >= 0) return Math.min(seconds, MOST_WAIT_S) * 1000
  return FIRST_WAIT_MS * 2 ** attempt
}
