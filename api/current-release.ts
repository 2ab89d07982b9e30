// The payloads of the current release: the bytes as they were published, with a signature made when they are served.
import { currentRelease, readManifest, readReleaseShard, shardFile } from '../pipeline/release/read.ts'
import { canonical } from '../pipeline/proof/canonical.ts'
import type { Store } from '../pipeline/store/store.ts'
import { ServiceError } from '../schemas/errors.ts'
import type { PublicationKind } from '../schemas/metric.ts'
import type { ReleaseManifest, ReleaseShard } from '../schemas/payloads.ts'
import type { EntityType } from '../schemas/tables.ts'
import { ShardCache } from './shard-cache.ts'
import type { Sign } from './signature.ts'

/** A payload as it is sent: the exact bytes that were hashed and signed. */
export interface Publication {
  payload: object
  bytes: Uint8Array
  /** The header's value; undefined if signing is off. */
  signature: string | undefined
}

/** A parsed payload takes about three times as much memory as its bytes. */
const PARSED_FACTOR = 3

interface CachedShard {
  shard: ReleaseShard
  publications: Map<string, Publication>
}

export class CurrentRelease {
  readonly #store: Store
  readonly #sign: Sign
  readonly #shards: ShardCache<CachedShard>
  #manifest: ReleaseManifest | undefined
  #refreshing: Promise<void> | undefined

  constructor(store: Store, sign: Sign, cacheBytes: number) {
    this.#store = store
    this.#sign = sign
    this.#shards = new ShardCache(cacheBytes)
  }

  get current(): ReleaseManifest | undefined {
    return this.#manifest
  }

  /** Reads the manifest of the newest release. Calls made while one is under way share it. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#readNewest().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  async #readNewest(): Promise<void> {
    const known = this.#manifest?.release ?? 0
    const release = await currentRelease(this.#store, known)
    if (release === known) return
    // The store may fail to show it again. What is known stays until it does.
    this.#manifest = (await readManifest(this.#store, release)) ?? this.#manifest
    // Nobody asks for the payloads of the release before any more.
    if (this.#manifest?.release !== known) this.#shards.clear()
  }

  /** A payload of an entity in the current release; undefined if the release does not have the entity. */
  async find(
    entityType: EntityType,
    entityId: string,
    kind: PublicationKind,
  ): Promise<Publication | undefined> {
    try {
      return await this.#find(entityType, entityId, kind)
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind !== 'notFound') throw error
      // Retention has thinned the release, which it does only when there is a newer one.
      await this.refresh()
      return this.#find(entityType, entityId, kind)
    }
  }

  async #find(
    entityType: EntityType,
    entityId: string,
    kind: PublicationKind,
  ): Promise<Publication | undefined> {
    const manifest = this.#manifest
    const file = manifest && shardFile(manifest.files, entityType, entityId)
    if (!file) return undefined
    const { release } = manifest
    const cached = await this.#shards.get(`${release} ${file.path}`, async () => ({
      value: { shard: await readReleaseShard(this.#store, release, file), publications: new Map() },
      sizeBytes: file.size_bytes * PARSED_FACTOR,
    }))
    const entity = Object.hasOwn(cached.shard.entities, entityId)
      ? cached.shard.entities[entityId]
      : undefined
    if (!entity) return undefined
    const name = `${entityId} ${kind}`
    let publication = cached.publications.get(name)
    if (!publication) {
      publication = this.#publish(entity[kind].payload)
      cached.publications.set(name, publication)
    }
    return publication
  }

  /** Signs with the secrets in force now, so that a rotation shows at once and not with the next release. */
  #publish(payload: object): Publication {
    const bytes = canonical(payload)
    return { payload, bytes, signature: this.#sign(bytes) }
  }
}
