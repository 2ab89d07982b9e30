// Calls that take effect once however often they are sent, on whatever node: a claim, kept in the store under the
// hash of the Idempotency-Key, fixes all that chance and the clock give to a call, so doing it again does the same.
import { hkdfSync, timingSafeEqual } from 'node:crypto'
import pMap from 'p-map'
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { instant, publishedUuid, sha256 } from '../../schemas/values.ts'
import { canonical, sha256Hex } from '../proof/canonical.ts'
import { CLAIMS_PREFIX, claimPath } from '../store/paths.ts'
import { readRecord } from '../store/records.ts'
import type { Store } from '../store/store.ts'

const HOUR_MS = 60 * 60_000
/** After this an Idempotency-Key may be used for something else. */
const VALID_MS = 24 * HOUR_MS
/** Long enough after that for no clock of a node or a store to be in doubt. */
const KEPT_MS = 48 * HOUR_MS
const SALT_BYTES = 32
const DELETIONS_AT_ONCE = 16
export const MAX_KEY_LENGTH = 255
/** The most that HKDF with SHA-256 gives. */
const SEALED_BYTES = 255 * 32
/** Of a registration's key, from which the agent's API key is derived. */
export const MIN_UNGUESSABLE_LENGTH = 20

/** What chance and the clock give to a call. */
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
})
type ClaimRecord = z.infer<typeof claimRecord>

export interface IdempotentRequest {
  /** Within which keys are told apart: the call, and where there is one its caller. */
  scope: string
  key: string
  /** Everything that must be the same when the key is used again, in any form: only its hash is stored. */
  fingerprint: string
}

export interface IdempotentWork<T> {
  /**
   * Throws for a request that cannot be done, and changes nothing. Asked before every commit: also of a claim that
   * is taken over, whose `at` may then lie hours back.
   */
  check: (claim: Claim) => Promise<void>
  /** Follows from the request and the claim alone. */
  answer: (claim: Claim) => T
  /** Makes the answer durable. It may be done several times for one claim, even at once. */
  commit: (claim: Claim, answer: T) => Promise<void>
}

export interface IdempotencyComponents {
  store: Store
  /** A new version 7 UUID. */
  newId: () => string
  now: () => Date
  randomBytes: (size: number) => Uint8Array
  /** Longer than any call takes: a claim that has been under way for so long was left by a node that died. */
  leaseMs: number
}

export class Idempotency {
  readonly #components: IdempotencyComponents
  /** Keys of the claims that this process works on. */
  readonly #running = new Set<string>()

  constructor(components: IdempotencyComponents) {
    this.#components = components
  }

  /**
   * Does the work of a request, or gives the answer that it had the first time.
   *
   * @throws ServiceError `invalid` where the key was used for another request, `conflict` while the first request
   *   is under way; and whatever the work throws.
   */
  async run<T>(request: IdempotentRequest, work: IdempotentWork<T>): Promise<T> {
    const key = claimPath(request.scope, request.key)
    if (this.#running.has(key)) throw underWay(1)
    this.#running.add(key)
    try {
      return await this.#once(request, work)
    } finally {
      this.#running.delete(key)
    }
  }

  async #once<T>(request: IdempotentRequest, work: IdempotentWork<T>): Promise<T> {
    const { store } = this.#components
    const { place, found } = await this.#find(request)
    if (found) return this.#again(request, found, work)
    const mine = this.#newClaim(request.fingerprint)
    // First of all, so that a refused request leaves its key free for the corrected one.
    await work.check(claimOf(mine))
    if (!(await store.putIfAbsent(place, canonical(mine)))) {
      const { found: first } = await this.#find(request)
      if (!first) throw underWay(1)
      // A create whose answer was lost is refused when the client of the store repeats it.
      if (first.id !== mine.id) return this.#again(request, first, work)
    }
    const key = claimPath(request.scope, request.key)
    if (place !== key) await store.put(key, canonical(mine))
    return this.#carryOut(key, mine, work)
  }

  /**
   * The claim in force, or the place where put-if-absent decides on one. An expired claim is not deleted, since a
   * slower rival could then delete the claim that came after it: its follower is decided under a key of its own, and
   * takes its place only then.
   */
  async #find({ scope, key }: IdempotentRequest): Promise<{ place: string; found?: ClaimRecord }> {
    const { store, now } = this.#components
    const first = claimPath(scope, key)
    for (let place = first; ;) {
      const found = await readRecord(store, place, claimRecord)
      if (!found) return { place }
      if (ageMs(found, now()) < VALID_MS) {
        // What became of a follower is written only where it took its place.
        const placed = place === first ? found : await readRecord(store, first, claimRecord)
        return { place, found: placed?.id === found.id ? placed : found }
      }
      place = claimPath(scope, key, found.id)
    }
  }

  async #again<T>(request: IdempotentRequest, found: ClaimRecord, work: IdempotentWork<T>): Promise<T> {
    const { store, now, leaseMs } = this.#components
    if (!isSame(found.fingerprint, sha256Hex(request.fingerprint))) {
      throw new ServiceError(
        'invalid',
        'this Idempotency-Key was used for another request: send that one unchanged, or use a new key',
      )
    }
    const claim = claimOf(found)
    if (found.state === 'done') return work.answer(claim)
    const leftMs = leaseMs - ageMs(found, now())
    if (found.state === 'under_way' && leftMs > 0) throw underWay(Math.ceil(leftMs / 1000))
    await work.check(claim)
    const key = claimPath(request.scope, request.key)
    const mine: ClaimRecord = { ...found, state: 'under_way' }
    await store.put(key, canonical(mine))
    return this.#carryOut(key, mine, work)
  }

  async #carryOut<T>(key: string, record: ClaimRecord, work: IdempotentWork<T>): Promise<T> {
    const claim = claimOf(record)
    let answer: T
    try {
      answer = work.answer(claim)
      await work.commit(claim, answer)
    } catch (error) {
      // Where this fails too, the lease runs out.
      await this.#note(key, { ...record, state: 'interrupted' })
      throw error
    }
    // The call is durable. Where this is not noted, the next one with the key commits the same again.
    await this.#note(key, { ...record, state: 'done' })
    return answer
  }

  async #note(key: string, record: ClaimRecord): Promise<void> {
    await this.#components.store.put(key, canonical(record)).catch(() => undefined)
  }

  #newClaim(fingerprint: string): ClaimRecord {
    const { newId, now, randomBytes } = this.#components
    return {
      fingerprint: sha256Hex(fingerprint),
      id: newId(),
      at: now().toISOString(),
      salt: Buffer.from(randomBytes(SALT_BYTES)).toString('hex'),
      state: 'under_way',
    }
  }
}

/** Claims are swept in parts, by the first digit of their hash. */
const PARTS = 16
/** Together as long as claims are kept, so each part is swept once in that time. */
const PART_MS = KEPT_MS / PARTS

/** The part whose turn it is: each has three hours of every two days. */
export function sweepPart(now: Date): number {
  return Math.floor(now.getTime() / PART_MS) % PARTS
}

/**
 * Deletes the claims of a part that were written more than 48 hours ago, and returns how many. None is read. A key that
 * is used again in the very moment in which its old claim is deleted may lose its new one.
 */
export async function sweepExpired(store: Store, now: Date, part: number): Promise<number> {
  const expired: string[] = []
  for await (const { path, modifiedAt } of store.list(CLAIMS_PREFIX + part.toString(PARTS))) {
    if (now.getTime() - modifiedAt.getTime() > KEPT_MS) expired.push(path)
  }
  await pMap(expired, (key) => store.delete(key), { concurrency: DELETIONS_AT_ONCE })
  return expired.length
}

/**
 * The key in an `Idempotency-Key` header: visible ASCII characters, bare or as the string of RFC 8941 that
 * draft-ietf-httpapi-idempotency-key-header asks for.
 *
 * @throws ServiceError `invalid`; its message does not hold the key, which may be a secret.
 */
export function parseIdempotencyKey(header: string): string {
  const quoted = /^"((?:[!#-[\]-~]|\\["\\])*)"$/.exec(header)?.[1]
  const key = quoted === undefined ? header : quoted.replace(/\\(["\\])/g, '$1')
  const isKey = /^[!-~]+$/.test(key) && key.length <= MAX_KEY_LENGTH
  if (!isKey || (quoted === undefined && key.startsWith('"'))) {
    throw new ServiceError(
      'invalid',
      `the Idempotency-Key must be 1 to ${MAX_KEY_LENGTH} visible ASCII characters, bare or in double quotes; ` +
        `a header of ${header.length} characters came`,
    )
  }
  return key
}

/** @throws ServiceError `invalid` for a key so short that others could find it by trying. */
export function assertUnguessable(key: string): void {
  if (key.length >= MIN_UNGUESSABLE_LENGTH) return
  throw new ServiceError(
    'invalid',
    `the Idempotency-Key of a registration must have at least ${MIN_UNGUESSABLE_LENGTH} characters, ` +
      `and this one has ${key.length}: use a random UUID`,
  )
}

/**
 * Chance that comes out the same again for who has both `secret` and `salt`, and for nobody else: HKDF with SHA-256
 * (RFC 5869). The bytes do not depend on how many are taken at a time; there are far more than a key is made of.
 */
export function sealedBytes(secret: string, salt: string): (size: number) => Uint8Array {
  const stream = new Uint8Array(
    hkdfSync('sha256', secret, Buffer.from(salt, 'hex'), 'sealed chance', SEALED_BYTES),
  )
  let taken = 0
  return (size) => {
    if (size > SEALED_BYTES - taken) throw new RangeError(`sealed chance has ${SEALED_BYTES} bytes, no more`)
    taken += size
    return stream.slice(taken - size, taken)
  }
}

function claimOf({ id, at, salt }: ClaimRecord): Claim {
  return { id, at: new Date(at), salt }
}

function ageMs({ at }: ClaimRecord, now: Date): number {
  return now.getTime() - Date.parse(at)
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one, 'hex'), Buffer.from(other, 'hex'))
}

function underWay(retryAfterS: number): ServiceError {
  return new ServiceError(
    'conflict',
    'a request with this Idempotency-Key is still under way: send it again later',
    { retryAfterS },
  )
}
