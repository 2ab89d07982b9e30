// The registry of agents and of the keys of agents and clients: point look-ups in the store that all nodes
// share.
import type { PipelineComponents } from '../components.ts'
import pLimit from 'p-limit'
import { pMapIterable } from 'p-map'
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { TIERS, type Tier } from '../../schemas/tiers.ts'
import { type Environment, publishedUuid, instant, sha256 } from '../../schemas/values.ts'
import { type ApiKey, type RandomBytes, isWellFormedKey, newApiKey, redactKeys } from './api-key.ts'
import { sha256Hex } from '../proof/canonical.ts'
import {
  API_KEYS_PREFIX,
  RETIRING_PREFIX,
  agentPath,
  apiKeyPath,
  keyIdPath,
  retiredPath,
  retiringAgent,
  retiringPath,
} from '../store/paths.ts'
import { readRecord, recordBytes } from '../store/records.ts'
import { type Store, putExactly, putOnce } from '../store/store.ts'

const keyFields = {
  key_id: z.string(),
  /** The first key of a chain of rotations: quotas are counted by it. */
  account_id: z.string(),
  tier: z.enum(TIERS),
  /** The quota of an enterprise key; null where the tier decides. */
  monthly_calls: z.number().int().min(0).nullable(),
  created_at: instant,
  /** The instant at which a replaced key stops working. */
  expires_at: instant.nullable(),
  revoked_at: instant.nullable(),
}
const keyRecord = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('agent'), agent_id: publishedUuid, ...keyFields }),
  z.strictObject({ kind: z.literal('client'), owner: z.string(), ...keyFields }),
])
/** Everything that is stored about a key; the key itself is not. */
export type KeyRecord = z.infer<typeof keyRecord>

/** The quota of a key: a number, or null for the quota of its tier. */
export type KeyQuota =
  { tier: Exclude<Tier, 'enterprise'>; monthly_calls: null } | { tier: 'enterprise'; monthly_calls: number }

const FREE: KeyQuota = { tier: 'free', monthly_calls: null }

type KeyGrant = Pick<KeyRecord, 'tier' | 'monthly_calls'> &
  ({ kind: 'agent'; agent_id: string } | { kind: 'client'; owner: string })

const keyIdRecord = z.strictObject({ sha256 })

const agentRecord = z.strictObject({ agent_id: publishedUuid, registered_at: instant })
type AgentRecord = z.infer<typeof agentRecord>

const retiredRecord = z.strictObject({ agent_id: publishedUuid, retired_at: instant })

/** A rotated key keeps working for this long. */
export const ROTATION_MS = 24 * 3_600_000

const READS_AT_ONCE = 16
/** Anyone can trigger look-ups, so they get a bounded share of the store's connections. */
const LOOKUPS_AT_ONCE = 16
const MOST_LOOKUPS_WAITING = 1_000

export type RegistryComponents = Pick<PipelineComponents, 'store' | 'environment'> & {
  randomBytes: RandomBytes
}

export class Registry {
  readonly environment: Environment
  readonly #store: Store
  readonly #randomBytes: RandomBytes
  readonly #lookUps = pLimit(LOOKUPS_AT_ONCE)

  constructor({ store, environment, randomBytes }: RegistryComponents) {
    this.environment = environment
    this.#store = store
    this.#randomBytes = randomBytes
  }

  /** A key that works once an agent has been created with it. */
  newKey(randomBytes = this.#randomBytes): ApiKey {
    return newApiKey(this.environment, randomBytes)
  }

  /**
   * Registers an agent with its key, in the free tier. The key works once this resolves; repeating the call
   * is harmless.
   */
  async createAgent(agentId: string, key: ApiKey, now: Date): Promise<void> {
    const agent: AgentRecord = { agent_id: agentId, registered_at: now.toISOString() }
    const path = agentPath(agentId)
    await putExactly(this.#store, path, recordBytes(path, agent))
    await this.#createKey(key, { kind: 'agent', agent_id: agentId, ...FREE }, now)
  }

  /**
   * Notes that an agent takes no forecasts any more, and asks the next release to write that to the table of
   * agents. Returns the instant of the first such note. Repeating the call is harmless, and finishes a call
   * that was cut off.
   */
  async askToRetire(agentId: string, now: Date): Promise<string> {
    const path = retiringPath(agentId)
    await this.#store.put(path, recordBytes(path, { agent_id: agentId }))
    return this.noteRetired(agentId, now)
  }

  /** Notes that an agent takes no forecasts any more. Returns the instant of the first such note. */
  async noteRetired(agentId: string, now: Date): Promise<string> {
    const path = retiredPath(agentId)
    const record = { agent_id: agentId, retired_at: now.toISOString() }
    if (await this.#store.putIfAbsent(path, recordBytes(path, record))) return record.retired_at
    return (await this.retiredAt(agentId)) ?? record.retired_at
  }

  /** Returns the instant since which an agent takes no forecasts; null if it takes them. */
  async retiredAt(agentId: string): Promise<string | null> {
    return (await readRecord(this.#store, retiredPath(agentId), retiredRecord))?.retired_at ?? null
  }

  /** Returns the agents whose retirement a release must still write to the table of agents. */
  async retiring(): Promise<string[]> {
    const found: string[] = []
    for await (const { path } of this.#store.list(RETIRING_PREFIX)) {
      const agentId = retiringAgent(path)
      if (agentId !== undefined) found.push(agentId)
    }
    return found
  }

  /** Notes that the table of agents has the retirement. */
  async retirementTold(agentId: string): Promise<void> {
    await this.#store.delete(retiringPath(agentId))
  }

  /** Creates a key for a client of the verification calls. */
  async createClientKey(owner: string, now: Date, quota: KeyQuota = FREE): Promise<string> {
    const key = this.newKey()
    await this.#createKey(key, { kind: 'client', owner, ...quota }, now)
    return key.key
  }

  /**
   * Creates a key with the same owner and quota; the old key works for `ROTATION_MS` more, unless it was
   * revoked. Both count against the same quota. Rotating to the same new `key` again finishes a rotation that
   * was cut off.
   *
   * @throws ServiceError `notFound` if no key has the id, `conflict` if the key was rotated already.
   */
  async rotateKey(
    keyId: string,
    now: Date,
    key = this.newKey(),
  ): Promise<{ key: ApiKey; replaced: KeyRecord }> {
    const old = await this.#byId(keyId)
    if (old.record.expires_at !== null) {
      await this.#assertReplacedBy(old.record, key)
      return { key, replaced: old.record }
    }
    await this.#createKey(key, old.record, now, old.record.account_id)
    // Read again, because a revocation in the meantime must not be undone.
    const { path, record } = await this.#replaceable(keyId)
    const endsAt = record.revoked_at ?? new Date(now.getTime() + ROTATION_MS).toISOString()
    const replaced = { ...record, expires_at: endsAt }
    await this.#store.put(path, recordBytes(path, replaced))
    return { key, replaced }
  }

  /** Changes nothing. @throws ServiceError as `rotateKey` to this new key would. */
  async assertRotatable(keyId: string, key: ApiKey): Promise<void> {
    const { record } = await this.#byId(keyId)
    if (record.expires_at !== null) await this.#assertReplacedBy(record, key)
  }

  async #replaceable(keyId: string): Promise<{ path: string; record: KeyRecord }> {
    const found = await this.#byId(keyId)
    if (found.record.expires_at === null) return found
    throw rotated(found.record)
  }

  async #assertReplacedBy(record: KeyRecord, key: ApiKey): Promise<void> {
    if ((await this.findKey(key.key)) === undefined) throw rotated(record)
  }

  async #createKey({ key, id }: ApiKey, grant: KeyGrant, now: Date, accountId = id): Promise<void> {
    const hash = sha256Hex(key)
    const idPath = keyIdPath(id)
    if ((await putOnce(this.#store, idPath, recordBytes(idPath, { sha256: hash }))) === 'different') {
      // The probability is one in 218 million million.
      throw new ServiceError('unavailable', 'the random id of the new key is taken; try again', {
        expose: true,
        retryAfterS: 1,
      })
    }
    const record: KeyRecord = {
      ...grant,
      key_id: id,
      account_id: accountId,
      created_at: now.toISOString(),
      expires_at: null,
      revoked_at: null,
    }
    // An existing record is this key's, and may have been revoked since.
    const path = apiKeyPath(hash)
    await this.#store.putIfAbsent(path, recordBytes(path, record))
  }

  /** @throws ServiceError `unavailable` while too many look-ups wait. */
  async findAgent(agentId: string): Promise<AgentRecord | undefined> {
    return this.#lookUp(() => readRecord(this.#store, agentPath(agentId), agentRecord))
  }

  /**
   * Returns the record of a key; undefined for a malformed or unknown one. The key is looked up by its hash,
   * so that no comparison of secrets can be timed.
   *
   * @throws ServiceError `unavailable` while too many look-ups wait.
   */
  async findKey(key: string): Promise<KeyRecord | undefined> {
    if (!isWellFormedKey(key)) return undefined
    return this.#lookUp(() => readRecord(this.#store, apiKeyPath(sha256Hex(key)), keyRecord))
  }

  async #lookUp<T>(read: () => Promise<T>): Promise<T> {
    if (this.#lookUps.pendingCount >= MOST_LOOKUPS_WAITING) {
      throw new ServiceError('unavailable', 'too many keys and agents are being looked up; try again later', {
        expose: true,
        retryAfterS: 5,
      })
    }
    return this.#lookUps(read)
  }

  /** Every key ever created, in no order. */
  listKeys(): AsyncIterable<KeyRecord> {
    return pMapIterable(
      this.#store.list(API_KEYS_PREFIX),
      async ({ path }) => {
        const record = await readRecord(this.#store, path, keyRecord)
        if (!record) throw new ServiceError('corrupt', `${path} was listed but does not exist`)
        return record
      },
      { concurrency: READS_AT_ONCE },
    )
  }

  /** Gives a key another quota. @throws ServiceError `notFound` if no key has the id. */
  async setQuota(keyId: string, quota: KeyQuota): Promise<KeyRecord> {
    const { path, record } = await this.#byId(keyId)
    const changed: KeyRecord = { ...record, ...quota }
    await this.#store.put(path, recordBytes(path, changed))
    return changed
  }

  /** @throws ServiceError `notFound` if no key has the id. */
  async revokeKey(keyId: string, now: Date): Promise<KeyRecord> {
    for (;;) {
      const { path, record } = await this.#byId(keyId)
      if (record.revoked_at !== null) return record
      await this.#store.put(path, recordBytes(path, { ...record, revoked_at: now.toISOString() }))
      // Read again, because a simultaneous rotation may have overwritten the revocation.
    }
  }

  async #byId(keyId: string): Promise<{ path: string; record: KeyRecord }> {
    if (/^[0-9A-Za-z]{1,64}$/.test(keyId)) {
      const found = await readRecord(this.#store, keyIdPath(keyId), keyIdRecord)
      const path = found && apiKeyPath(found.sha256)
      const record = path && (await readRecord(this.#store, path, keyRecord))
      if (record) return { path, record }
    }
    throw new ServiceError(
      'notFound',
      // Someone may pass the whole key instead of its id, and it must not reach a log.
      `no key has the id ${JSON.stringify(redactKeys(keyId))} in ${this.environment}; ` +
        `\`fvs keys list --environment ${this.environment}\` shows them`,
    )
  }
}

function rotated({ key_id, expires_at }: KeyRecord): ServiceError {
  return new ServiceError(
    'conflict',
    `the key ${key_id} was rotated already, with its end at ${expires_at}: use the one in its place, which \`fvs keys list\` shows the operator`,
    { type: 'key-rotated' },
  )
}

/** Whether a key works at an instant: it was neither revoked nor replaced too long ago. */
export function isInForce({ revoked_at, expires_at }: KeyRecord, now: Date): boolean {
  return revoked_at === null && (expires_at === null || now.toISOString() < expires_at)
}
