// Who may call: agents and the keys of agents and clients, as point look-ups that every node sees at once.
import { z } from 'zod'
import { ServiceError } from '../schemas/errors.ts'
import { publishedUuid, instant } from '../schemas/values.ts'
import { type KeyEnvironment, isWellFormedKey, newApiKey } from './keys.ts'
import { canonical } from './sign.ts'
import { KEYS_PREFIX, agentKey, apiKeyKey, sha256Hex } from './store/keys.ts'
import { readRecord } from './store/records.ts'
import { type Store, putExactly } from './store/store.ts'

const keyRecord = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('agent'),
    key_id: z.string(),
    agent_id: publishedUuid,
    created_at: instant,
    revoked_at: instant.nullable(),
  }),
  z.strictObject({
    kind: z.literal('client'),
    key_id: z.string(),
    owner: z.string(),
    created_at: instant,
    revoked_at: instant.nullable(),
  }),
])
/** What is stored of a key: everything but the key. */
export type KeyRecord = z.infer<typeof keyRecord>

const agentRecord = z.strictObject({ agent_id: publishedUuid, registered_at: instant })
export type AgentRecord = z.infer<typeof agentRecord>

export interface RegistryComponents {
  store: Store
  environment: KeyEnvironment
  randomBytes: (size: number) => Uint8Array
}

export class Registry {
  readonly #store: Store
  readonly #environment: KeyEnvironment
  readonly #randomBytes: (size: number) => Uint8Array

  constructor({ store, environment, randomBytes }: RegistryComponents) {
    this.#store = store
    this.#environment = environment
    this.#randomBytes = randomBytes
  }

  /** Registers an agent and gives its only key. The key works as soon as this resolves. */
  async createAgent(agentId: string, now: Date): Promise<string> {
    const agent: AgentRecord = { agent_id: agentId, registered_at: now.toISOString() }
    await putExactly(this.#store, agentKey(agentId), canonical(agent))
    return this.#createKey((key_id) => ({
      kind: 'agent',
      key_id,
      agent_id: agentId,
      created_at: now.toISOString(),
      revoked_at: null,
    }))
  }

  /** Gives a client of the verification calls a key. */
  async createClientKey(owner: string, now: Date): Promise<string> {
    return this.#createKey((key_id) => ({
      kind: 'client',
      key_id,
      owner,
      created_at: now.toISOString(),
      revoked_at: null,
    }))
  }

  async #createKey(recordOf: (keyId: string) => KeyRecord): Promise<string> {
    const { key, id } = newApiKey(this.#environment, this.#randomBytes)
    await putExactly(this.#store, apiKeyKey(sha256Hex(key)), canonical(recordOf(id)))
    return key
  }

  async findAgent(agentId: string): Promise<AgentRecord | undefined> {
    return readRecord(this.#store, agentKey(agentId), agentRecord)
  }

  /**
   * The record of a key in force; undefined for one that is malformed, unknown or revoked. The key is looked up
   * by its hash, so no comparison of secrets takes place that could be timed.
   */
  async findKey(key: string): Promise<KeyRecord | undefined> {
    if (!isWellFormedKey(key)) return undefined
    const record = await readRecord(this.#store, apiKeyKey(sha256Hex(key)), keyRecord)
    return record?.revoked_at === null ? record : undefined
  }

  async *listKeys(): AsyncIterable<KeyRecord> {
    for await (const { record } of this.#records()) yield record
  }

  /** @throws ServiceError `notFound` for an id that no key has. */
  async revokeKey(keyId: string, now: Date): Promise<KeyRecord> {
    for await (const { key, record } of this.#records()) {
      if (record.key_id !== keyId) continue
      const revoked: KeyRecord = { ...record, revoked_at: record.revoked_at ?? now.toISOString() }
      await this.#store.put(key, canonical(revoked))
      return revoked
    }
    throw new ServiceError('notFound', `no key has the id ${JSON.stringify(keyId)}`)
  }

  async *#records(): AsyncIterable<{ key: string; record: KeyRecord }> {
    for await (const { key } of this.#store.list(KEYS_PREFIX)) {
      const record = await readRecord(this.#store, key, keyRecord)
      if (record) yield { key, record }
    }
  }
}
