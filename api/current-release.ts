// Serves what was published: the current release's payloads, byte for byte, from a bounded cache of its shards.
import { LRUCache } from 'lru-cache'
import { currentRelease, readManifest, readReleaseShard, shardFile } from '../pipeline/release/read.ts'
import { type SigningSecrets, signatureOf } from '../pipeline/proof/hmac.ts'
import { canonical, sha256Hex } from '../pipeline/proof/canonical.ts'
import type { Store } from '../pipeline/store/store.ts'
import { ServiceError } from '../schemas/errors.ts'
import type { PublicationKind, ReleaseManifest, ReleaseShard } from '../schemas/payloads.ts'
import type { EntityType } from '../schemas/tables.ts'

/** A payload as it is sent: the exact bytes that were hashed and signed. */
export interface Publication {
  payload: object
  bytes: Uint8Array
  /** The SHA-256 of the bytes, in hex. */
  sha256: string
  /** The header's value; undefined where signing is off. */
  signature: string | undefined
}

/** A publication is cached with what its payload takes in memory once parsed, about three times its bytes. */
const PARSED_FACTOR = 3

interface CachedShard {
  shard: ReleaseShard
  publications: Map<string, Publication>
}

export class CurrentRelease {
  readonly #store: Store
  readonly #secrets: SigningSecrets | undefined
  readonly #shards: LRUCache<
    string,
    CachedShard,
    { manifest: ReleaseManifest; file: ReleaseManifest['files'][number] }
  >
  #manifest: ReleaseManifest | undefined

  constructor(store: Store, secrets: SigningSecrets | undefined, cacheBytes: number) {
    this.#store = store
    this.#secrets = secrets
    this.#shards = new LRUCache({
      maxSize: Math.max(1, cacheBytes),
      // A shard larger than the whole cache is served and not kept.
      sizeCalculation: (_cached, key) => Number(key.slice(key.lastIndexOf(' ') + 1)) * PARSED_FACTOR,
      // What falls out of the cache while it is being read is still wanted by who asked for it.
      ignoreFetchAbort: true,
      fetchMethod: async (_key, _stale, { context: { manifest, file } }) => ({
        shard: await readReleaseShard(store, manifest.release, file),
        publications: new Map(),
      }),
    })
  }

  get current(): ReleaseManifest | undefined {
    return this.#manifest
  }

  /** Moves on to the newest release. */
  async refresh(): Promise<void> {
    const known = this.#manifest?.release ?? 0
    const release = await currentRelease(this.#store, known)
    if (release === known) return
    this.#manifest = await readManifest(this.#store, release)
  }

  /** What the current release says of an entity; undefined where it says nothing. */
  async find(
    entityType: EntityType,
    entityId: string,
    kind: PublicationKind,
  ): Promise<Publication | undefined> {
    const manifest = this.#manifest
    const file = manifest && shardFile(manifest.files, entityType, entityId)
    if (!file) return undefined
    const key = `${manifest.release} ${file.path} ${file.size_bytes}`
    const cached = await this.#shards.fetch(key, { context: { manifest, file } })
    if (!cached)
      throw new ServiceError('unavailable', 'the release could not be read', {
        expose: true,
        retryAfterS: 5,
      })
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
    return {
      payload,
      bytes,
      sha256: sha256Hex(bytes),
      signature: this.#secrets && signatureOf(bytes, this.#secrets),
    }
  }
}
