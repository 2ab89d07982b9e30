// Finds out who calls, from a key, asking the registry only for keys that could be one.
import { LRUCache } from 'lru-cache'
import { KEY_PREFIXES, isWellFormedKey } from '../../pipeline/access/api-key.ts'
import { type KeyRecord, type Registry, isInForce } from '../../pipeline/access/registry.ts'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { ENVIRONMENTS, type Environment } from '../../schemas/values.ts'

export type Caller = { kind: 'anonymous' } | KeyRecord

const PLACES: Record<Environment, string> = {
  production: 'works in production only, not under /sandbox',
  sandbox: 'works under /sandbox only',
}

export class Callers {
  readonly #environment: Environment
  readonly #now: () => Date
  readonly #cache: LRUCache<string, { record: KeyRecord | undefined }, string>

  /** Answers, also of keys that do not exist, are kept for `ttlMs`: so long may a revoked key still work. */
  constructor(registry: Registry, ttlMs: number, now: () => Date) {
    this.#environment = registry.environment
    this.#now = now
    this.#cache = new LRUCache({
      // A `max` would have room made for all of them at once.
      maxSize: 100_000,
      sizeCalculation: () => 1,
      ttl: Math.max(1, ttlMs),
      // What falls out of the cache while it is being looked up is still wanted by who asked for it.
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

  /** @throws ServiceError `unauthorized` for a key that is sent and does not work here. */
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
          `a key that begins with ${KEY_PREFIXES[environment]} ${PLACES[environment]}`,
        )
      }
    }
    const record = (await this.#cache.fetch(sha256Hex(key), { context: key }))?.record
    return record && isInForce(record, this.#now()) ? record : undefined
  }
}
