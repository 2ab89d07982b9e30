// Identifies a caller by its key. Only a key of the right form is looked up in the registry.
import { LRUCache } from 'lru-cache'
import { KEY_PREFIXES, isWellFormedKey } from '../../pipeline/access/api-key.ts'
import { type KeyRecord, type Registry, isInForce } from '../../pipeline/access/registry.ts'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { ENVIRONMENTS, type Environment } from '../../schemas/values.ts'

export type Caller = { kind: 'anonymous' } | KeyRecord

const WORKS: Record<Environment, string> = {
  production: 'works in production only, not under /sandbox',
  sandbox: 'works under /sandbox only',
}

export class Callers {
  readonly #environment: Environment
  readonly #now: () => Date
  readonly #cache: LRUCache<string, { record: KeyRecord | undefined }, string>

  /** Results are kept for `ttlMs`, also for unknown keys, so a revoked key may still work for that long. */
  constructor(registry: Registry, ttlMs: number, now: () => Date) {
    this.#environment = registry.environment
    this.#now = now
    this.#cache = new LRUCache({
      // A `max` would have room made for all of them at once.
      maxSize: 100_000,
      sizeCalculation: () => 1,
      ttl: Math.max(1, ttlMs),
      // An entry evicted while it loads must still reach its caller.
      ignoreFetchAbort: true,
      fetchMethod: async (_hash, _stale, { context: key }) => ({ record: await registry.findKey(key) }),
    })
  }

  /** @throws ServiceError `unauthorized`. */
  async ofBearer(authorization: string | undefined): Promise<KeyRecord & { kind: 'agent' }> {
    if (authorization === undefined) {
      throw new ServiceError('unauthorized', 'no API key: send the header Authorization: Bearer <api_key>')
    }
    const key = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
    const record = key === undefined ? undefined : await this.#find(key)
    if (record?.kind !== 'agent') {
      throw new ServiceError(
        'unauthorized',
        'the bearer token is not the API key of an agent, or was revoked',
      )
    }
    return record
  }

  /** @throws ServiceError `unauthorized` for a key that does not work here; sending none is allowed. */
  async ofApiKey(header: string | undefined): Promise<Caller> {
    if (header === undefined) return { kind: 'anonymous' }
    const record = await this.#find(header)
    if (!record) throw new ServiceError('unauthorized', 'the X-API-Key is unknown or was revoked')
    return record
  }

  async #find(key: string): Promise<KeyRecord | undefined> {
    if (!isWellFormedKey(key)) return undefined
    for (const environment of ENVIRONMENTS) {
      if (environment !== this.#environment && key.startsWith(KEY_PREFIXES[environment])) {
        throw new ServiceError(
          'unauthorized',
          `a key that begins with ${KEY_PREFIXES[environment]} ${WORKS[environment]}`,
        )
      }
    }
    const record = (await this.#cache.fetch(sha256Hex(key), { context: key }))?.record
    return record && isInForce(record, this.#now()) ? record : undefined
  }
}
