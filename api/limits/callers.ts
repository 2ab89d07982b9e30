// Identifies a caller by its key. Only a key of the right form is looked up in the registry.
import { LRUCache } from 'lru-cache'
import { KEY_PREFIXES, isWellFormedKey } from '../../pipeline/access/api-key.ts'
import { type KeyRecord, type Registry, isInForce } from '../../pipeline/access/registry.ts'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { ENVIRONMENTS, type Environment } from '../../schemas/values.ts'

/** A key that was found, with since when its agent takes no forecasts. */
export type KnownKey = KeyRecord & { retired_at: string | null }

export type Caller = { kind: 'anonymous' } | KnownKey

/**
 * Called before a key that was never good is looked up; what it returns, after that. It throws for a caller that may not
 * have any more looked up.
 */
export type Hold = () => Promise<() => Promise<unknown>>

const free: Hold = () => Promise.resolve(() => Promise.resolve())

interface LookUp {
  key: string
  hold: Hold
}

const WORKS: Record<Environment, string> = {
  production: 'works in production only, not under /sandbox',
  sandbox: 'works under /sandbox only',
}

export class Callers {
  readonly #environment: Environment
  readonly #now: () => Date
  readonly #ttlMs: number
  readonly #cache: LRUCache<string, { record: KnownKey | undefined }, LookUp>
  readonly #tellRetired: (agentId: string, at: string) => void
  /** Agents that retired lately, until their keys are looked up again. */
  readonly #retired = new LRUCache<string, string>({ max: 10_000 })

  /**
   * Results are kept for `ttlMs`, also for unknown keys, so a revoked key may still work for that long. A good key that is used in the
   * second half of that time is looked up again beside the call, so that who keeps calling never waits for it. `tellRetired` tells the
   * other processes of this machine which agent has retired here.
   */
  constructor(
    registry: Registry,
    ttlMs: number,
    now: () => Date,
    tellRetired: (agentId: string, at: string) => void = () => {},
  ) {
    this.#tellRetired = tellRetired
    this.#environment = registry.environment
    this.#now = now
    this.#ttlMs = Math.max(1, ttlMs)
    this.#cache = new LRUCache({
      // A `max` would have room made for all of them at once.
      maxSize: 100_000,
      sizeCalculation: () => 1,
      ttl: this.#ttlMs,
      // What is too old tells a key that was good from one that nobody has.
      noDeleteOnStaleGet: true,
      // An entry evicted while it loads must still reach its caller.
      ignoreFetchAbort: true,
      fetchMethod: async (_hash, _stale, { context: { key, hold } }) => {
        const release = await hold()
        try {
          const found = await registry.findKey(key)
          if (!found) return { record: undefined }
          const retired_at = found.kind === 'agent' ? await registry.retiredAt(found.agent_id) : null
          return { record: { ...found, retired_at } }
        } finally {
          await release()
        }
      },
    })
  }

  /** Whether a header has a key that was good when it was last looked up. Asks nobody. */
  isGood(header: string | undefined): boolean {
    const key = header?.replace(/^Bearer +/i, '')
    if (key === undefined || !isWellFormedKey(key)) return false
    return this.#kept(sha256Hex(key)) !== undefined
  }

  /** The caller with a key that is good and was looked up lately. Waits for nobody. */
  atHand(key: string): KnownKey | undefined {
    return isWellFormedKey(key) ? this.#lately(key, sha256Hex(key)) : undefined
  }

  /** @throws ServiceError `unauthorized`. */
  async ofBearer(authorization: string | undefined, hold = free): Promise<KnownKey & { kind: 'agent' }> {
    if (authorization === undefined) {
      throw new ServiceError('unauthorized', 'no API key: send the header Authorization: Bearer <api_key>', {
        type: 'no-key',
      })
    }
    const key = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
    const record = key === undefined ? undefined : await this.#find(key, hold)
    if (record?.kind !== 'agent') {
      throw new ServiceError(
        'unauthorized',
        'the bearer token is not the API key of an agent, or was revoked',
      )
    }
    return { ...record, retired_at: record.retired_at ?? this.#retired.get(record.agent_id) ?? null }
  }

  /** So that the forecasts of an agent are refused at once, and not when its key is looked up again. */
  noteRetired(agentId: string, at: string): void {
    this.learnRetired(agentId, at)
    this.#tellRetired(agentId, at)
  }

  /** Takes in that an agent has retired in another process. */
  learnRetired(agentId: string, at: string): void {
    this.#retired.set(agentId, at)
  }

  /** @throws ServiceError `unauthorized` for a key that does not work here; sending none is allowed. */
  async ofApiKey(header: string | undefined, hold = free): Promise<Caller> {
    if (header === undefined) return { kind: 'anonymous' }
    const record = await this.#find(header, hold)
    if (!record) throw new ServiceError('unauthorized', 'the X-API-Key is unknown or was revoked')
    return record
  }

  async #find(key: string, hold: Hold): Promise<KnownKey | undefined> {
    if (!isWellFormedKey(key)) return undefined
    for (const environment of ENVIRONMENTS) {
      if (environment !== this.#environment && key.startsWith(KEY_PREFIXES[environment])) {
        throw new ServiceError(
          'unauthorized',
          `a key that begins with ${KEY_PREFIXES[environment]} ${WORKS[environment]}`,
        )
      }
    }
    const hash = sha256Hex(key)
    const known = this.#lately(key, hash)
    if (known) return known
    const isNew = this.#kept(hash) === undefined
    const found = await this.#cache.fetch(hash, { context: { key, hold: isNew ? hold : free } })
    return this.#inForce(found?.record)
  }

  /** The record of a key in force that is not too old to go by. */
  #lately(key: string, hash: string): KnownKey | undefined {
    const record = this.#inForce(this.#cache.get(hash)?.record)
    if (record && this.#cache.getRemainingTTL(hash) < this.#ttlMs / 2) {
      const again = { forceRefresh: true, noDeleteOnFetchRejection: true, context: { key, hold: free } }
      // Where it fails, the next call tries again, and once time is over it says so.
      this.#cache.fetch(hash, again).catch(() => undefined)
    }
    return record
  }

  /** The record of a key in force, which may be too old to go by. */
  #kept(hash: string): KnownKey | undefined {
    return this.#inForce(this.#cache.peek(hash, { allowStale: true })?.record)
  }

  #inForce(record: KnownKey | undefined): KnownKey | undefined {
    return record && isInForce(record, this.#now()) ? record : undefined
  }
}
