// Proves that payloads of the current release and of earlier ones were published.
import { type ShardTree, payloadPath, shardTree } from '../../pipeline/release/payload-tree.ts'
import { readReleaseShard, shardFile, shardsOf } from '../../pipeline/release/read.ts'
import { manifestPath } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { PublicationKind } from '../../schemas/metric.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { loggedProof } from './logged-proof.ts'
import type { Manifests } from './manifests.ts'
import type { PublicLog } from './public-log.ts'
import { ShardCache } from './shard-cache.ts'
import { SERVICE, SHORT, Turns } from '../turns.ts'

const CACHE_BYTES = 32 * 1024 * 1024
/** The estimated memory of a hash. A tree has two hashes for each leaf. */
const HASH_BYTES = 150
/** Reading and hashing a shard takes some megabytes and a whole processor. */
const SHARDS_AT_ONCE = 4

export interface ProvenPayload {
  entityType: EntityType
  entityId: string
  kind: PublicationKind
}

export class PayloadProofs {
  readonly #store: Store
  readonly #log: Pick<PublicLog, 'statementOf'>
  readonly #manifests: Manifests
  readonly #shards = new ShardCache<ShardTree>(CACHE_BYTES)
  readonly #turns = new Turns({ ...SHORT, atOnce: SHARDS_AT_ONCE })

  constructor(store: Store, manifests: Manifests, log: Pick<PublicLog, 'statementOf'>) {
    this.#store = store
    this.#manifests = manifests
    this.#log = log
  }

  /**
   * Returns the proof of a payload of a release up to the current one; undefined if the release does not have
   * the entity.
   *
   * @throws ServiceError `notFound` for a release that was thinned, `unavailable` for one that is not logged
   *   yet.
   */
  async of(
    current: ReleaseManifest,
    release: number,
    payload: ProvenPayload,
    asker = SERVICE,
  ): Promise<string | undefined> {
    const isCurrent = release === current.release
    const manifest = isCurrent ? current : await this.#manifests.of(release, () => gone(release))
    const { entityType, entityId, kind } = payload
    const file = shardFile(manifest.files, entityType, entityId)
    const tree = manifest.trees[entityType]
    if (!file || !tree) return undefined
    const shard = await this.#shards.get(`${release} ${file.path}`, () =>
      this.#turns.run(asker, async () => {
        const value = shardTree(await readReleaseShard(this.#store, release, file))
        return { value, sizeBytes: value.subtree.size * 2 * HASH_BYTES }
      }),
    )
    const path = payloadPath(tree, shardsOf(manifest, entityType).indexOf(file), shard, entityId, kind)
    if (!path) return undefined
    return loggedProof(this.#log, release, path)
  }
}

function gone(release: number): ServiceError {
  return new ServiceError('corrupt', `${manifestPath(release)} is gone`)
}
