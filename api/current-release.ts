// The payloads of the current release: the bytes as they were published, with a signature made when they are served.
import {
  currentRelease,
  ownersFile,
  readManifest,
  readReleaseFile,
  shardFile,
} from '../pipeline/release/read.ts'
import { canonical } from '../pipeline/proof/canonical.ts'
import type { Store } from '../pipeline/store/store.ts'
import { ServiceError } from '../schemas/errors.ts'
import type { PublicationKind } from '../schemas/metric.ts'
import type { ManifestFile, OwnerShard, ReleaseManifest, ReleaseShard } from '../schemas/payloads.ts'
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

/** A parsed payload takes about three times as much memory as its bytes, and what is sent of it, prepared, up to twice more. */
const PARSED_FACTOR = 5

interface CachedShard {
  shard: ReleaseShard | OwnerShard
  publications: Map<string, Publication>
}

/** What a publication is of, and how it is found in a release. */
interface Subject {
  file: (files: readonly ManifestFile[]) => ManifestFile | undefined
  payload: (shard: CachedShard['shard']) => object | undefined
  /** Tells it from all others in the file. */
  name: string
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
  find(
    entityType: EntityType,
    entityId: string,
    kind: PublicationKind | 'profile',
  ): Promise<Publication | undefined> {
    return this.#find({
      file: (files) => shardFile(files, entityType, entityId),
      payload: (shard) => {
        const entities = (shard as ReleaseShard).entities
        return Object.hasOwn(entities, entityId) ? entities[entityId]?.[kind].payload : undefined
      },
      name: `${entityId} ${kind}`,
    })
  }

  /** As `find`, if it was found before and is still in memory. */
  atHand(
    entityType: EntityType,
    entityId: string,
    kind: PublicationKind | 'profile',
  ): Publication | undefined {
    const manifest = this.#manifest
    const file = manifest && shardFile(manifest.files, entityType, entityId)
    return (
      file && this.#shards.atHand(`${manifest.release} ${file.path}`)?.publications.get(`${entityId} ${kind}`)
    )
  }

  /** What the current release says of an owner; undefined if it has no agent of that owner. */
  findOwner(ownerId: string): Promise<Publication | undefined> {
    return this.#find({
      file: (files) => ownersFile(files, ownerId),
      payload: (shard) =>
        (shard as OwnerShard).owners.find(({ payload }) => payload.owner_id === ownerId)?.payload,
      name: ownerId,
    })
  }

  async #find(subject: Subject): Promise<Publication | undefined> {
    try {
      return await this.#read(subject)
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind !== 'notFound') throw error
      // Retention has thinned the release, which it does only when there is a newer one.
      await this.refresh()
      return this.#read(subject)
    }
  }

  async #read({ file: fileIn, payload: payloadIn, name }: Subject): Promise<Publication | undefined> {
    const manifest = this.#manifest
    const file = manifest && fileIn(manifest.files)
    if (!file) return undefined
    const { release } = manifest
    const cached = await this.#shards.get(`${release} ${file.path}`, async () => ({
      value: { shard: await readReleaseFile(this.#store, release, file), publications: new Map() },
      sizeBytes: file.size_bytes * PARSED_FACTOR,
    }))
    let publication = cached.publications.get(name)
    if (!publication) {
      const payload = payloadIn(cached.shard)
      if (!payload) return undefined
      publication = this.#publish(payload)
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
