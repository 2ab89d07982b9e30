// Makes a call take effect once, however often and to whichever node it is sent. A claim, stored under the
// hash of the Idempotency-Key, fixes the random bytes and the time of the call, so that doing the call again
// has the same result.
import { hkdfSync, timingSafeEqual } from 'node:crypto'
import pMap from 'p-map'
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { instant, publishedUuid, sha256 } from '../../schemas/values.ts'
import { canonical, sha256Hex } from '../proof/canonical.ts'
import { CLAIMS_PREFIX, claimPath } from '../store/paths.ts'
import { recordAt } from '../store/records.ts'
import type { Store } from '../store/store.ts'

/** The time from the last write of a claim to its deletion. Until then it holds. */
const KEPT_MS = 48 * 60 * 60_000
const SALT_BYTES = 32
const DELETIONS_AT_ONCE = 16
/** The most bytes that HKDF with SHA-256 gives. */
const SEALED_BYTES = 255 * 32

/** The values that would differ if the call were simply done again. */
export interface Claim {
  /** A version 7 UUID. */
  id: string
  at: Date
  /** 32 random bytes in hex. */
  salt: string
}

const claimRecord = z.strictObject({
  fingerprint: sha256,
  id: publishedUuid,
  at: instant,
  salt: z.string().regex(/^[0-9a-f]{64}$/),
  state: z.enum(['under_way', 'interrupted', 'done']),
  /** The decision of the check of the request. */
  decided: z.unknown().optional(),
})
type ClaimRecord = z.infer<typeof claimRecord>

const claimAt = (store: Store, path: string) => recordAt(store, path, claimRecord)
type Stored = ReturnType<typeof claimAt>

export interface IdempotentRequest {
  /** The call, and its caller if known. The same key in another scope is another key. */
  scope: string
  /** Undefined if the caller sent none: then the work is done without a claim. */
  key: string | undefined
  /** The content, which must be the same when the key is used again. Only its hash is stored. */
  body: object
}

/** The input of a check: the earlier decision for a claim that is taken over, and new ids. */
export interface Deciding<D> {
  earlier: D | undefined
  /** A new version 7 UUID. */
  newId: () => string
}

/**
 * The steps of a request. `D` is JSON: a decision that is made once and kept with the claim, such as which
 * parts of the request can be done.
 */
export interface IdempotentWork<T, D = void> {
  /** Returns the time of a new claim, if it is not `now`. */
  timeOf?: (now: Date) => Date
  /**
   * Throws for a request that cannot be done, and changes nothing. Runs before every commit. For a claim that
   * is taken over, whose `at` may be days ago, it must decide as it did `earlier`.
   */
  check: (claim: Claim, deciding: Deciding<D>) => Promise<D>
  /**
   * Must return the same for the same request, claim and decision. May throw once it is too late to repeat
   * the answer.
   */
  answer: (claim: Claim, decided: D) => T
  /** Makes the answer durable. It may run several times for one claim, even at the same time. */
  commit: (claim: Claim, answer: T) => Promise<void>
}

export interface IdempotencyComponents {
  store: Store
  /** A new version 7 UUID. */
  newId: () => string
  now: () => Date
  randomBytes: (size: number) => Uint8Array
  /** Must be longer than any call takes: a claim under way for this long comes from a node that died. */
  leaseMs: number
}

export class Idempotency {
  readonly #components: IdempotencyComponents
  /** Paths of the claims that this process works on. */
  readonly #running = new Set<string>()

  constructor(components: IdempotencyComponents) {
    this.#components = components
  }

  /**
   * Does the work of a request, or repeats its first answer.
   *
   * @throws ServiceError `invalid` if the key was used for another request, `conflict` while the first
   *   request is under way; and whatever the work throws.
   */
  async run<T, D = void>({ scope, key, body }: IdempotentRequest, work: IdempotentWork<T, D>): Promise<T> {
    if (key === undefined) {
      const claim = this.#newClaim(work)
      const answer = work.answer(claim, await this.#decide(work, claim))
      await work.commit(claim, answer)
      return answer
    }
    const path = claimPath(scope, key)
    if (this.#running.has(path)) throw underWay(1)
    this.#running.add(path)
    try {
      const stored = claimAt(this.#components.store, path)
      return await this.#once(stored, sha256Hex(canonical(body)), work)
    } finally {
      this.#running.delete(path)
    }
  }

  async #once<T, D>(stored: Stored, fingerprint: string, work: IdempotentWork<T, D>): Promise<T> {
    const { now, leaseMs } = this.#components
    let found = await stored.get()
    if (!found) {
      const fresh = this.#newClaim(work)
      // Check before the claim is stored, so that a refused request leaves its key free for the corrected
      // one.
      const decided = await this.#decide(work, fresh)
      const mine: ClaimRecord = {
        id: fresh.id,
        salt: fresh.salt,
        at: fresh.at.toISOString(),
        fingerprint,
        state: 'under_way',
        ...(decided === undefined ? {} : { decided }),
      }
      if (await stored.create(mine)) return this.#carryOut(stored, mine, work)
      found = await stored.get()
      if (!found) throw underWay(1)
      // This process may have created the object: if the answer was lost, the store's client repeats the
      // create and is refused.
      if (found.id === mine.id) return this.#carryOut(stored, mine, work)
    }
    if (!timingSafeEqual(Buffer.from(found.fingerprint, 'hex'), Buffer.from(fingerprint, 'hex'))) {
      throw new ServiceError(
        'invalid',
        'this Idempotency-Key was used for another request: send that one unchanged, or use a new key',
        { type: 'idempotency-key-reused' },
      )
    }
    const claim = claimOf(found)
    if (found.state === 'done') return work.answer(claim, found.decided as D)
    const leftMs = claim.at.getTime() + leaseMs - now().getTime()
    if (found.state === 'under_way' && leftMs > 0) throw underWay(Math.ceil(leftMs / 1000))
    await this.#decide(work, claim, found.decided as D)
    const taken: ClaimRecord = { ...found, state: 'under_way' }
    await stored.replace(taken)
    return this.#carryOut(stored, taken, work)
  }

  #decide<T, D>(work: IdempotentWork<T, D>, claim: Claim, earlier?: D): Promise<D> {
    return work.check(claim, { earlier, newId: this.#components.newId })
  }

  async #carryOut<T, D>(stored: Stored, record: ClaimRecord, work: IdempotentWork<T, D>): Promise<T> {
    const claim = claimOf(record)
    try {
      const answer = work.answer(claim, record.decided as D)
      await work.commit(claim, answer)
      // The call is durable. If this note is lost, the next request with the key commits the same again.
      await stored.replace({ ...record, state: 'done' }).catch(() => undefined)
      return answer
    } catch (error) {
      // If this fails too, the claim can be taken over once its lease has run out.
      await stored.replace({ ...record, state: 'interrupted' }).catch(() => undefined)
      throw error
    }
  }

  #newClaim({ timeOf = (now) => now }: Pick<IdempotentWork<unknown>, 'timeOf'>): Claim {
    const { newId, now, randomBytes } = this.#components
    return new NewClaim(newId(), timeOf(now()), randomBytes)
  }
}

/** A claim that draws its salt on first use, since most calls need none. */
class NewClaim implements Claim {
  readonly id: string
  readonly at: Date
  readonly #randomBytes: IdempotencyComponents['randomBytes']
  #salt: string | undefined

  constructor(id: string, at: Date, randomBytes: IdempotencyComponents['randomBytes']) {
    this.id = id
    this.at = at
    this.#randomBytes = randomBytes
  }

  get salt(): string {
    return (this.#salt ??= Buffer.from(this.#randomBytes(SALT_BYTES)).toString('hex'))
  }
}

/** Claims are swept in parts, by the first digit of their hash. */
const PARTS = 16
/** Each part is swept once in the time that a claim is kept. */
const PART_MS = KEPT_MS / PARTS

/** Returns the part to sweep now: each has three hours of every two days. */
export function sweepPart(now: Date): number {
  return Math.floor(now.getTime() / PART_MS) % PARTS
}

/**
 * Deletes the claims of a part that were written more than 48 hours ago, without reading them, and returns
 * their number. If two sweeps run at once, the slower may delete a claim that was made after the faster had
 * deleted its predecessor.
 */
export async function sweepExpired(store: Store, now: Date, part: number): Promise<number> {
  const expired: string[] = []
  for await (const { path, modifiedAt } of store.list(CLAIMS_PREFIX + part.toString(PARTS))) {
    if (now.getTime() - modifiedAt.getTime() > KEPT_MS) expired.push(path)
  }
  await pMap(expired, (path) => store.delete(path), { concurrency: DELETIONS_AT_ONCE })
  return expired.length
}

/**
 * Returns a source of random bytes that only a holder of both `secret` and `salt` can reproduce: HKDF with
 * SHA-256 (RFC 5869). The stream is the same however many bytes are taken at a time, and far longer than a
 * key needs.
 */
export function sealedBytes(secret: string, salt: string): (size: number) => Uint8Array {
  const stream = new Uint8Array(
    hkdfSync('sha256', secret, Buffer.from(salt, 'hex'), 'sealed chance', SEALED_BYTES),
  )
  let taken = 0
  return (size) => {
    if (size > SEALED_BYTES - taken) throw new RangeError(`there are only ${SEALED_BYTES} sealed bytes`)
    taken += size
    return stream.slice(taken - size, taken)
  }
}

function claimOf({ id, at, salt }: ClaimRecord): Claim {
  return { id, at: new Date(at), salt }
}

function underWay(retryAfterS: number): ServiceError {
  return new ServiceError(
    'conflict',
    'a request with this Idempotency-Key is still under way: send it again later',
    { retryAfterS },
  )
}
