// Finds out who calls, from a key, asking the registry only for keys that could be one.
import { LRUCache } from 'lru-cache'
import { isWellFormedKey } from '../pipeline/keys.ts'
import type { KeyRecord, Registry } from '../pipeline/registry.ts'
import { sha256Hex } from '../pipeline/store/keys.ts'
import { ServiceError } from '../schemas/errors.ts'

export type Caller = { kind: 'anonymous' } | KeyRecord

export class Callers {
  readonly #cache: LRUCache<string, { record: KeyRecord | undefined }, string>

  /** Answers, also of keys that do not exist, are kept for `ttlMs`: so long may a revoked key still work. */
  constructor(registry: Registry, ttlMs: number) {
    this.#cache = new LRUCache({
      max: 100_000,
      ttl: Math.max(1, ttlMs),
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

  /** @throws ServiceError `unauthorized` for a key that is sent and not known. */
  async ofApiKey(header: string | undefined): Promise<Caller> {
    if (header === undefined) return { kind: 'anonymous' }
    const record = await this.#find(header)
    if (!record) throw new ServiceError('unauthorized', 'the X-API-Key is unknown or was revoked')
    return record
  }

  async #find(key: string): Promise<KeyRecord | undefined> {
    if (!isWellFormedKey(key)) return undefined
    return (await this.#cache.fetch(sha256Hex(key), { context: key }))?.record
  }
}
