// Proves that payloads of the current release and of earlier ones were published.
import { type ShardTree, payloadPath, shardTree } from '../../pipeline/release/payload-tree.ts'
import { readReleaseShard, shardFile, shardsOf } from '../../pipeline/release/read.ts'
import type { PublicationKind } from '../../schemas/metric.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { loggedProof } from './logged-proof.ts'
import type { PublicLog } from './public-log.ts'
import type { Form, ReleaseFiles } from './release-files.ts'
import { SERVICE, SHORT, Turns } from '../turns.ts'

/** The estimated memory of a hash. A tree has two hashes for each leaf. */
const HASH_BYTES = 150
/** Reading and hashing a shard takes some megabytes and a whole processor. */
const SHARDS_AT_ONCE = 4

/** A shard as the tree of its payloads. */
const TREE: Form<ShardTree> = {
  name: 'tree',
  isWarmed: false,
  open: async ({ store }, { release }, file) => {
    const value = shardTree(await readReleaseShard(store, release, file))
    return { value, sizeBytes: value.subtree.size * 2 * HASH_BYTES }
  },
}

export interface ProvenPayload {
  entityType: EntityType
  entityId: string
  kind: PublicationKind
}

export class PayloadProofs {
  readonly #log: Pick<PublicLog, 'statementOf'>
  readonly #files: ReleaseFiles
  readonly #turns = new Turns({ ...SHORT, atOnce: SHARDS_AT_ONCE })

  constructor(files: ReleaseFiles, log: Pick<PublicLog, 'statementOf'>) {
    this.#files = files
    this.#log = log
  }

  /**
   * Returns the proof of a payload of a release up to the current one; undefined if the release does not have
   * the entity.
   *
   * @throws ServiceError `notFound` for a release that was thinned, `unavailable` for one that is not logged
   *   yet.
   */
  async proofOf(
    current: ReleaseManifest,
    release: number,
    payload: ProvenPayload,
    asker = SERVICE,
  ): Promise<string | undefined> {
    const manifest = release === current.release ? current : await this.#files.at(release)
    const { entityType, entityId, kind } = payload
    const file = shardFile(manifest.files, entityType, entityId)
    const tree = manifest.trees[entityType]
    if (!file || !tree) return undefined
    const shard = (await this.#files.opened(manifest, file.path, {
      ...TREE,
      open: (...args) => this.#turns.run(asker, () => TREE.open(...args)),
    }))!
    const path = payloadPath(tree, shardsOf(manifest, entityType).indexOf(file), shard, entityId, kind)
    if (!path) return undefined
    return loggedProof(this.#log, release, path)
  }
}
