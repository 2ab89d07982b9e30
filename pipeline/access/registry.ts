// The registry of agents and of the keys of agents and clients: point look-ups in the store that all nodes
// share.
import { timingSafeEqual } from 'node:crypto'
import type { PipelineComponents } from '../components.ts'
import pLimit from 'p-limit'
import { pMapIterable } from 'p-map'
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { type OperatorScope, OPERATOR_SCOPES, TIERS, type Tier } from '../../schemas/tiers.ts'
import { type Environment, publishedUuid, instant, sha256 } from '../../schemas/values.ts'
import {
  type ApiKey,
  type RandomBytes,
  firstKeyId,
  isWellFormedKey,
  newApiKey,
  publicId,
  redactKeys,
} from './api-key.ts'
import { canonicalText, sha256Hex } from '../proof/canonical.ts'
import {
  API_KEYS_PREFIX,
  RETIRING_PREFIX,
  keyDecisionPath,
  keyPath,
  retiredPath,
  retiringAgent,
  retiringPath,
} from '../store/paths.ts'
import { recordAt, records } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { READS_AT_ONCE } from '../store/store.ts'

const keyFields = {
  key_id: z.string(),
  /** The hash of the key. */
  sha256,
  /** The first key of a chain of rotations, by which quotas are counted. */
  account_id: z.string(),
  tier: z.enum(TIERS),
  /** The quota of an enterprise key; null if the tier decides. */
  monthly_calls: z.number().int().min(0).nullable(),
  created_at: instant,
  /** The instant at which a replaced key stops working. */
  expires_at: instant.nullable(),
  revoked_at: instant.nullable(),
  /** The id of the key that it replaces, if any. */
  replaces: z.string().optional(),
}
const keyRecord = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('agent'), agent_id: publishedUuid, ...keyFields }),
  z.strictObject({ kind: z.literal('client'), owner: z.string(), ...keyFields }),
  z.strictObject({
    kind: z.literal('operator'),
    owner: z.string(),
    scopes: z.array(z.enum(OPERATOR_SCOPES)),
    ...keyFields,
  }),
])
/** The stored facts of a key. The key itself is not stored. */
export type KeyRecord = z.infer<typeof keyRecord>

/** The quota of a key: a number, or null for the quota of its tier. */
export type KeyQuota =
  { tier: Exclude<Tier, 'enterprise'>; monthly_calls: null } | { tier: 'enterprise'; monthly_calls: number }

const FREE: KeyQuota = { tier: 'free', monthly_calls: null }

type KeyGrant = Pick<KeyRecord, 'tier' | 'monthly_calls'> &
  (
    | { kind: 'agent'; agent_id: string }
    | { kind: 'client'; owner: string }
    | { kind: 'operator'; owner: string; scopes: OperatorScope[] }
  )

interface AgentRecord {
  agent_id: string
  registered_at: string
}

/**
 * Decisions about a key. Of several, the first revocation, the first replacement and the last quota stand.
 */
const revokedDecision = z.strictObject({ revoked_at: instant })
const replacedDecision = z.strictObject({ expires_at: instant, by_key_id: z.string() })
const quotaDecision = z.strictObject({ tier: z.enum(TIERS), monthly_calls: keyFields.monthly_calls })

const retiredRecord = z.strictObject({ agent_id: publishedUuid, retired_at: instant })
const retiringRecord = z.strictObject({ agent_id: publishedUuid })

/** How long a rotated key keeps working, unless its holder ends it at once. */
export const ROTATION_MS = 24 * 3_600_000
/** How long an agent that retires itself goes on. It may change its mind until then. */
const RETIREMENT_MS = 24 * 3_600_000

/** How a key is rotated. */
export interface Rotation {
  /** The holder rotates the key. A revoked key cannot be rotated then. */
  isByHolder?: boolean
  /** The old key and all keys before it end now. */
  isAtOnce?: boolean
}

/** Anyone can trigger look-ups, so they get a bounded share of the store's connections. */
const LOOKUPS_AT_ONCE = 16
const MOST_LOOKUPS_WAITING = 1_000

export type RegistryComponents = Pick<PipelineComponents, 'store' | 'environment'> & {
  randomBytes: RandomBytes
}

export class Registry {
  readonly environment: Environment
  readonly #store: Store
  readonly #keys
  readonly #retired
  readonly #retiring
  readonly #randomBytes: RandomBytes
  readonly #lookUps = pLimit(LOOKUPS_AT_ONCE)

  constructor({ store, environment, randomBytes }: RegistryComponents) {
    this.environment = environment
    this.#store = store
    this.#keys = records(store, keyPath, keyRecord)
    this.#retired = records(store, retiredPath, retiredRecord)
    this.#retiring = records(store, retiringPath, retiringRecord)
    this.#randomBytes = randomBytes
  }

  /** Returns a new key. It works once it has been created. */
  newKey(randomBytes = this.#randomBytes): ApiKey {
    return newApiKey(this.environment, randomBytes)
  }

  /** Returns the first key of an agent. It works once the agent has been created with it. */
  firstKey(agentId: string, randomBytes = this.#randomBytes): ApiKey {
    return newApiKey(this.environment, randomBytes, firstKeyId(agentId))
  }

  /**
   * Registers an agent with its first key, in the free tier. One object is the record of both. When this
   * resolves, the key works; repeating the call is harmless.
   */
  async createAgent(agentId: string, key: ApiKey, now: Date): Promise<void> {
    await this.#createKey(key, { kind: 'agent', agent_id: agentId, ...FREE }, now)
  }

  /**
   * Notes that an agent takes no forecasts after `RETIREMENT_MS`, and asks the first release from then on to
   * write that to the table of agents. Returns that instant. A repeated call returns the first instant, and
   * finishes a call that was cut off.
   */
  async askToRetire(agentId: string, now: Date): Promise<string> {
    await this.#retiring.replace(agentId, { agent_id: agentId })
    return this.noteRetired(agentId, new Date(now.getTime() + RETIREMENT_MS))
  }

  /** Notes that an agent takes no forecasts from an instant on. Returns the earliest that was noted. */
  async noteRetired(agentId: string, at: Date): Promise<string> {
    const record = { agent_id: agentId, retired_at: at.toISOString() }
    if (await this.#retired.create(agentId, record)) return record.retired_at
    const known = await this.retiredAt(agentId)
    if (known !== null && known <= record.retired_at) return known
    await this.#retired.replace(agentId, record)
    return record.retired_at
  }

  /** Takes back a retirement. Repeating the call is harmless. */
  async noteUnretired(agentId: string): Promise<void> {
    await this.#retired.delete(agentId)
    await this.retirementTold(agentId)
  }

  /** Returns the instant of an agent's retirement, past or future; null without one. */
  async retiredAt(agentId: string): Promise<string | null> {
    return (await this.#retired.get(agentId))?.retired_at ?? null
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
    await this.#retiring.delete(agentId)
  }

  /** Creates a key for a client of the verification calls. */
  async createClientKey(owner: string, now: Date, quota: KeyQuota = FREE): Promise<string> {
    const key = this.newKey()
    await this.#createKey(key, { kind: 'client', owner, ...quota }, now)
    return key.key
  }

  /** Creates a key for the operator's calls. */
  async createOperatorKey(owner: string, now: Date, scopes: readonly OperatorScope[]): Promise<string> {
    const key = this.newKey()
    await this.#createKey(key, { kind: 'operator', owner, scopes: [...scopes], ...FREE }, now)
    return key.key
  }

  /**
   * Creates a key with the same owner and quota. The old key works for `ROTATION_MS` more, unless it was
   * revoked or ends at once. Both count against the same quota. Rotating to the same new `key` again finishes
   * a rotation that was cut off.
   *
   * @throws ServiceError `notFound` if no key has the id, `conflict` if the key was rotated already,
   *   `unauthorized` for the holder of a revoked key.
   */
  async rotateKey(
    keyId: string,
    now: Date,
    key = this.newKey(),
    { isByHolder = false, isAtOnce = false }: Rotation = {},
  ): Promise<{ key: ApiKey; replaced: KeyRecord }> {
    const old = await this.#rotatable(keyId, key)
    if (old.expires_at !== null) {
      if (isAtOnce) await this.#endReplaced(old, now)
      return { key, replaced: old }
    }
    if (isByHolder) assertNotRevoked(old)
    await this.#createKey(key, old, now, old)
    const endsMs = now.getTime() + (isAtOnce ? 0 : ROTATION_MS)
    const expires_at = old.revoked_at ?? new Date(endsMs).toISOString()
    const replacing = this.#decisions(keyId).replaced
    await replacing.create({ expires_at, by_key_id: key.id })
    const replaced = await this.#settled(keyId)
    const decided = await replacing.get()
    // Do not hand out this key if another rotation was first, or the old key was revoked meanwhile.
    const isLost = decided?.by_key_id !== key.id
    if (isLost || (isByHolder && replaced.revoked_at !== null)) await this.revokeKey(key.id, now)
    if (isLost) throw rotated(replaced)
    if (isByHolder) assertNotRevoked(replaced)
    if (isAtOnce) await this.#endReplaced(replaced, now)
    return { key, replaced }
  }

  /** Ends the keys before a key that still work. */
  async #endReplaced({ replaces }: KeyRecord, now: Date): Promise<void> {
    for (let id = replaces; id !== undefined;) {
      const record = await this.#byId(id)
      if (!isInForce(record, now)) return
      await this.revokeKey(id, now)
      id = record.replaces
    }
  }

  /**
   * Ends every key of an agent, whoever made it, and creates another one with the same quota. A rotation
   * under way ends the key that it creates.
   *
   * @throws ServiceError `notFound` if no key is of this agent.
   */
  async resetKeys(agentId: string, now: Date): Promise<ApiKey> {
    let last: KeyRecord | undefined
    for (let ended = 1; ended > 0;) {
      ended = 0
      for await (const record of this.listKeys()) {
        if (record.kind !== 'agent' || record.agent_id !== agentId) continue
        if (!last || record.created_at > last.created_at) last = record
        if (!isInForce(record, now)) continue
        await this.revokeKey(record.key_id, now)
        ended += 1
      }
    }
    if (!last)
      throw new ServiceError('notFound', `no agent is registered by the id ${JSON.stringify(agentId)}`)
    const key = this.newKey()
    await this.#createKey(key, last, now, last)
    return key
  }

  /** Changes nothing. @throws ServiceError as `rotateKey` to this new key would. */
  async assertRotatable(keyId: string, key: ApiKey): Promise<void> {
    await this.#rotatable(keyId, key)
  }

  /** Returns the record of a key that nothing replaces, unless it is this `key`. */
  async #rotatable(keyId: string, key: ApiKey): Promise<KeyRecord> {
    const record = await this.#byId(keyId)
    if (record.expires_at === null) return record
    const decided = await this.#decisions(keyId).replaced.get()
    if (decided?.by_key_id !== key.id) throw rotated(record)
    return record
  }

  async #createKey({ key, id }: ApiKey, grant: KeyGrant, now: Date, replaced?: KeyRecord): Promise<void> {
    const record: KeyRecord = {
      ...grant,
      key_id: id,
      sha256: sha256Hex(key),
      account_id: replaced?.account_id ?? id,
      created_at: now.toISOString(),
      expires_at: null,
      revoked_at: null,
      ...(replaced ? { replaces: replaced.key_id } : {}),
    }
    if (await this.#keys.create(id, record)) return
    // The key exists already, and may have been revoked since: keep its record.
    if ((await this.#keys.get(id))?.sha256 === record.sha256) return
    // The probability is one in 218 million million.
    throw new ServiceError('unavailable', 'the random id of the new key is taken; try again', {
      expose: true,
      retryAfterS: 1,
    })
  }

  /** @throws ServiceError `unavailable` while too many look-ups wait. */
  async findAgent(agentId: string): Promise<AgentRecord | undefined> {
    return this.#lookUp(async () => {
      const key = await this.#keys.get(firstKeyId(agentId))
      if (key?.kind !== 'agent' || key.agent_id !== agentId) return undefined
      return { agent_id: agentId, registered_at: key.created_at }
    })
  }

  /**
   * Returns the record of a key; undefined for a malformed or unknown one. The key is looked up by its id,
   * and its hash is compared in constant time.
   *
   * @throws ServiceError `unavailable` while too many look-ups wait.
   */
  async findKey(key: string): Promise<KeyRecord | undefined> {
    if (!isWellFormedKey(key)) return undefined
    const hash = sha256Hex(key)
    return this.#lookUp(async () => {
      const record = await this.#keys.get(publicId(key))
      return record && isSameHash(record.sha256, hash) ? record : undefined
    })
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

  /** Yields every key ever created, in no order. */
  listKeys(): AsyncIterable<KeyRecord> {
    return pMapIterable(
      this.#store.list(API_KEYS_PREFIX),
      async ({ path }) => {
        const record = await recordAt(this.#store, path, keyRecord).get()
        if (!record) throw new ServiceError('corrupt', `${path} was listed but does not exist`)
        return record
      },
      { concurrency: READS_AT_ONCE },
    )
  }

  /** Gives a key another quota. @throws ServiceError `notFound` if no key has the id. */
  async setQuota(keyId: string, quota: KeyQuota): Promise<KeyRecord> {
    await this.#byId(keyId)
    await this.#decisions(keyId).quota.replace(quota)
    return this.#settled(keyId)
  }

  /** @throws ServiceError `notFound` if no key has the id. */
  async revokeKey(keyId: string, now: Date): Promise<KeyRecord> {
    const record = await this.#byId(keyId)
    if (record.revoked_at !== null) return record
    await this.#decisions(keyId).revoked.create({ revoked_at: now.toISOString() })
    return this.#settled(keyId)
  }

  /** The decisions about a key, each a record of its own. */
  #decisions(keyId: string) {
    const store = this.#store
    return {
      quota: recordAt(store, keyDecisionPath(keyId, 'quota'), quotaDecision),
      replaced: recordAt(store, keyDecisionPath(keyId, 'replaced'), replacedDecision),
      revoked: recordAt(store, keyDecisionPath(keyId, 'revoked'), revokedDecision),
    }
  }

  /**
   * Brings all decisions about a key into its record, so that a look-up reads one object, and returns the
   * record. After writing it looks again, so that of several simultaneous calls none undoes the decision of
   * another. After a crash the next decision about the key brings in the unfinished one.
   */
  async #settled(keyId: string): Promise<KeyRecord> {
    for (;;) {
      const record = await this.#byId(keyId)
      const decisions = this.#decisions(keyId)
      const [quota, replaced, revoked] = await Promise.all([
        decisions.quota.get(),
        decisions.replaced.get(),
        decisions.revoked.get(),
      ])
      const revoked_at = revoked?.revoked_at ?? record.revoked_at
      const settled: KeyRecord = { ...record, ...quota, revoked_at }
      if (replaced) {
        const isRevokedFirst = revoked_at !== null && revoked_at < replaced.expires_at
        settled.expires_at = isRevokedFirst ? revoked_at : replaced.expires_at
      }
      if (canonicalText(settled) === canonicalText(record)) return record
      await this.#keys.replace(keyId, settled)
    }
  }

  async #byId(keyId: string): Promise<KeyRecord> {
    const record = /^[0-9A-Za-z]{1,64}$/.test(keyId) ? await this.#keys.get(keyId) : undefined
    if (record) return record
    throw new ServiceError(
      'notFound',
      // The caller may have passed the whole key instead of its id, and that must not reach a log.
      `no key has the id ${JSON.stringify(redactKeys(keyId))} in ${this.environment}; ` +
        `\`fvs keys list --environment ${this.environment}\` shows them`,
    )
  }
}

function isSameHash(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one, 'hex'), Buffer.from(other, 'hex'))
}

/** @throws ServiceError `unauthorized` for a revoked key. */
function assertNotRevoked({ key_id, revoked_at }: KeyRecord): void {
  if (revoked_at === null) return
  throw new ServiceError('unauthorized', `the key ${key_id} was revoked`)
}

function rotated({ key_id, expires_at }: KeyRecord): ServiceError {
  return new ServiceError(
    'conflict',
    `the key ${key_id} was rotated already, with its end at ${expires_at}: use the one in its place, which \`fvs keys list\` shows the operator`,
    { type: 'key-rotated' },
  )
}

/** Whether a key works at an instant: it is neither revoked nor expired. */
export function isInForce({ revoked_at, expires_at }: KeyRecord, now: Date): boolean {
  return revoked_at === null && (expires_at === null || now.toISOString() < expires_at)
}
