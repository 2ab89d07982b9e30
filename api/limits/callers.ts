// Identifies a caller by its key. Only a key of the right form is looked up in the registry.
import { LRUCache } from 'lru-cache'
import { KEY_LENGTH, KEY_PREFIXES, isWellFormedKey } from '../../pipeline/access/api-key.ts'
import { type KeyRecord, type Registry, isInForce } from '../../pipeline/access/registry.ts'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { OperatorScope } from '../../schemas/tiers.ts'
import { ENVIRONMENTS, type Environment } from '../../schemas/values.ts'

/** A known key. `retired_at`: from when on its agent takes no forecasts, which may be to come. */
export type KnownKey = KeyRecord & { retired_at: string | null }

export type KeyOf<K extends KeyRecord['kind']> = KnownKey & { kind: K }

export type Caller = { kind: 'anonymous' } | KnownKey

/** Checks that a call must pass before its key is trusted. They throw if the caller has no attempt left. */
export interface Guard {
  /** Called first. */
  assertAttemptLeft: () => Promise<void>
  /** Called before a key is looked up. The returned function is called after the look-up. */
  hold: () => Promise<() => Promise<unknown>>
}

const FREE: Guard = {
  assertAttemptLeft: () => Promise.resolve(),
  hold: () => Promise.resolve(() => Promise.resolve()),
}

interface LookUp extends Pick<Guard, 'hold'> {
  key: string
}

const WORKS: Record<Environment, string> = {
  production: 'works in production only, not under /sandbox',
  sandbox: 'works under /sandbox only',
}

/** @throws ServiceError `forbidden` for a key without the scope. */
export function assertScope({ scopes }: KeyOf<'operator'>, scope: OperatorScope): void {
  if (scopes.includes(scope)) return
  throw new ServiceError(
    'forbidden',
    `this key has the scope ${scopes.join(', ')}, and the call needs ${scope}`,
    { type: 'missing-scope' },
  )
}

export class Callers {
  readonly #environment: Environment
  readonly #now: () => Date
  readonly #ttlMs: number
  readonly #cache: LRUCache<string, { record: KnownKey | undefined }, LookUp>

  /**
   * Results are kept for `ttlMs`, also for unknown keys, so a revoked key may still work for that long. A
   * good key used in the second half of its lifetime is refreshed in the background, so a regular caller
   * never waits.
   */
  constructor(registry: Registry, ttlMs: number, now: () => Date) {
    this.#environment = registry.environment
    this.#now = now
    this.#ttlMs = Math.max(1, ttlMs)
    this.#cache = new LRUCache({
      // A `max` would allocate room for all entries at once.
      maxSize: 100_000,
      sizeCalculation: () => 1,
      ttl: this.#ttlMs,
      // Reading the clock costs less than a timer that caches its value.
      ttlResolution: 0,
      // Keep stale entries: they tell an expired good key from an unknown one.
      noDeleteOnStaleGet: true,
      // An entry evicted while it loads must still reach its caller.
      ignoreFetchAbort: true,
      fetchMethod: async (hash, _stale, { context: { key, hold } }) => {
        const release = await hold()
        try {
          const found = await registry.findKey(key)
          if (!found) return { record: undefined }
          const retired_at = found.kind === 'agent' ? await registry.retiredAt(found.agent_id) : null
          return { record: { ...found, sha256: hash, retired_at } }
        } finally {
          await release()
        }
      },
    })
  }

  /**
   * Finds the agent by the bearer token in the values of the header `Authorization`.
   *
   * @throws ServiceError `unauthorized`.
   */
  async ofBearer(sent: readonly string[], guard = FREE): Promise<KeyOf<'agent'>> {
    return this.#ofBearer('agent', sent, (key) => this.#find(key, guard))
  }

  /**
   * Finds the operator by its bearer token. The key is looked up in every call, so that a revoked one ends at
   * once.
   *
   * @throws ServiceError `unauthorized`.
   */
  async ofOperator(sent: readonly string[], guard = FREE): Promise<KeyOf<'operator'>> {
    return this.#ofBearer('operator', sent, async (key) => {
      const known = await this.#find(key, guard)
      if (known === undefined) return undefined
      this.forget(known)
      return this.#find(key, FREE)
    })
  }

  async #ofBearer<K extends 'agent' | 'operator'>(
    kind: K,
    sent: readonly string[],
    find: (key: string | undefined) => Promise<KnownKey | undefined>,
  ): Promise<KeyOf<K>> {
    const [authorization] = sent
    const key = sent.length === 1 ? /^Bearer +(\S+)$/i.exec(authorization!)?.[1] : undefined
    const record = await find(key)
    if (sent.length > 1) throw sentOften(sent.length)
    if (authorization === undefined) {
      throw new ServiceError('unauthorized', 'no API key: send the header Authorization: Bearer <api_key>', {
        type: 'no-key',
      })
    }
    if (record?.kind !== kind) {
      throw new ServiceError(
        'unauthorized',
        `the bearer token is not the API key of an ${kind}, or was revoked`,
      )
    }
    return record as KeyOf<K>
  }

  /** Forgets a key that has ended, so that this process refuses it before its lifetime here is over. */
  forget({ sha256 }: KeyRecord): void {
    if (sha256 !== undefined) this.#cache.delete(sha256)
  }

  /** @throws ServiceError `unauthorized` for a key that does not work here; sending none is allowed. */
  async ofApiKey(header: string | undefined, guard = FREE): Promise<Caller> {
    const record = await this.#find(header, guard)
    if (header === undefined) return { kind: 'anonymous' }
    if (!record) throw new ServiceError('unauthorized', 'the X-API-Key is unknown or was revoked')
    return record
  }

  /**
   * Finds the caller by the `X-API-Key` or, where there is none, by the bearer token.
   *
   * @throws ServiceError `unauthorized` for a key that does not work here; sending none is allowed.
   */
  async ofAnyKey(apiKey: string | undefined, bearers: readonly string[], guard = FREE): Promise<Caller> {
    if (apiKey !== undefined || bearers.length === 0) return this.ofApiKey(apiKey, guard)
    const record = await this.#find(bearers.length === 1 ? bearers[0] : undefined, guard)
    if (bearers.length > 1) throw sentOften(bearers.length)
    if (!record) throw new ServiceError('unauthorized', 'the bearer token is unknown or was revoked')
    return record
  }

  async #find(key: string | undefined, guard: Guard): Promise<KnownKey | undefined> {
    if (key?.length !== KEY_LENGTH) {
      await guard.assertAttemptLeft()
      return undefined
    }
    const hash = sha256Hex(key)
    const known = this.#lately(key, hash)
    if (known) return known
    const wasGood = this.#kept(hash) !== undefined
    if (!wasGood) await guard.assertAttemptLeft()
    if (!isWellFormedKey(key)) return undefined
    for (const environment of ENVIRONMENTS) {
      if (environment !== this.#environment && key.startsWith(KEY_PREFIXES[environment])) {
        throw new ServiceError(
          'unauthorized',
          `a key that begins with ${KEY_PREFIXES[environment]} ${WORKS[environment]}`,
        )
      }
    }
    const { hold } = wasGood ? FREE : guard
    const found = await this.#cache.fetch(hash, { context: { key, hold } })
    return this.#inForce(found?.record)
  }

  /** Finds the record of a key in force, if it is recent enough to trust. */
  #lately(key: string, hash: string): KnownKey | undefined {
    const record = this.#inForce(this.#cache.get(hash)?.record)
    if (record && this.#cache.getRemainingTTL(hash) < this.#ttlMs / 2) {
      const again = { forceRefresh: true, noDeleteOnFetchRejection: true, context: { key, hold: FREE.hold } }
      // If this fails, the next call tries again; after the lifetime of the record, a failure reaches the
      // caller.
      this.#cache.fetch(hash, again).catch(() => undefined)
    }
    return record
  }

  /** Finds the record of a key in force, even a stale one. */
  #kept(hash: string): KnownKey | undefined {
    return this.#inForce(this.#cache.peek(hash, { allowStale: true })?.record)
  }

  #inForce(record: KnownKey | undefined): KnownKey | undefined {
    return record && isInForce(record, this.#now()) ? record : undefined
  }
}

function sentOften(times: number): ServiceError {
  return new ServiceError('unauthorized', `the header Authorization was sent ${times} times: send it once`)
}
