// The payloads of one release: the bytes as they were published, and a signature made when they are served.
import { ownersFile } from '../../pipeline/release/files/owners.ts'
import { readReleaseBytes, shardFile } from '../../pipeline/release/read.ts'
import { canonical } from '../../pipeline/proof/canonical.ts'
import type { PublicationKind } from '../../schemas/metric.ts'
import type { ManifestFile, ReleaseManifest } from '../../schemas/manifests.ts'
import type { OwnerShard } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import type { Form, ReleaseFiles } from './release-files.ts'
import { ShardText } from './shard-text.ts'
import type { SignAnswer } from './signature.ts'
import { type Asker, SERVICE } from '../turns.ts'
import { heavyWork } from './work-beside.ts'

/** A payload as it is sent. */
export class Publication {
  /** Exactly the bytes that were hashed and signed. */
  readonly bytes: Uint8Array
  /** The header's value; undefined if signing is off. */
  readonly signature: string | undefined
  /** Its form in an answer about many, once somebody has asked for that. */
  amongOthers: Uint8Array | undefined

  constructor(bytes: Uint8Array, signature: string | undefined) {
    this.bytes = bytes
    this.signature = signature
  }

  /** The payload, parsed at each access. */
  get payload(): object {
    return JSON.parse(new TextDecoder().decode(this.bytes)) as object
  }
}

/** The release that a call is answered from, so that no answer mixes two. */
export interface Release {
  /** Undefined before the first release. */
  readonly manifest: ReleaseManifest | undefined
  /** The current release, if the call names this earlier one. */
  readonly earlierThan: Release | undefined
  /**
   * Returns a payload of an entity; undefined if the release does not have the entity. `asker` counts further
   * calls before a file is read that is not in memory.
   */
  find(
    entityType: EntityType,
    entityId: string,
    kind: PublicationKind | 'profile',
    asker?: Asker,
  ): Promise<Publication | undefined>
  /** Returns what `find` returns of each whose file is in memory. */
  allAtHand(
    entityType: EntityType,
    entityIds: readonly string[],
    kind: PublicationKind | 'profile',
  ): (Publication | undefined)[]
  /** Returns the payload of an owner; undefined if the release has no agent of that owner. */
  findOwner(ownerId: string): Promise<Publication | undefined>
}

/** A file of payloads, opened. */
interface OpenPayloads {
  payload: (id: string, kind: Kind) => Uint8Array | undefined
  /** The publications that were found in it so far. */
  found: Map<string, Publication>
}

type Kind = PublicationKind | 'profile' | 'owner'

/** As how many further calls a file counts that is not in memory: one of 1.4 MB takes 8 ms. */
const CALLS_OF_FILE = 2

/** Memory holds a payload in two forms, each about as large: as published, and in an answer about many. */
const KEPT_FACTOR = 2

const SHARD: Form<OpenPayloads> = {
  name: 'shard',
  isWarmed: true,
  open: async ({ store, monotonicMs }, { release }, file) => {
    const bytes = await readReleaseBytes(store, release, file)
    const shard = await heavyWork(monotonicMs, (besideAnswers) => ShardText.open(bytes, besideAnswers))
    const payload = (id: string, kind: Kind) => shard.payload(id, kind)
    return { value: { payload, found: new Map() }, sizeBytes: file.size_bytes * KEPT_FACTOR }
  },
}

const OWNERS: Form<OpenPayloads> = {
  name: 'owners',
  isWarmed: true,
  open: async ({ store, monotonicMs }, { release }, file) => {
    const bytes = await readReleaseBytes(store, release, file)
    const { owners } = await heavyWork(
      monotonicMs,
      () => JSON.parse(new TextDecoder().decode(bytes)) as OwnerShard,
    )
    const byId = new Map(owners.map(({ payload }) => [payload.owner_id, payload]))
    const payload = (ownerId: string) => {
      const found = byId.get(ownerId)
      return found && canonical(found)
    }
    return { value: { payload, found: new Map() }, sizeBytes: file.size_bytes * KEPT_FACTOR }
  },
}

export class ReleasePayloads implements Release {
  readonly manifest: ReleaseManifest | undefined
  readonly earlierThan: Release | undefined
  readonly #files: ReleaseFiles
  readonly #sign: SignAnswer

  constructor(
    manifest: ReleaseManifest | undefined,
    files: ReleaseFiles,
    sign: SignAnswer,
    earlierThan?: Release,
  ) {
    this.manifest = manifest
    this.earlierThan = earlierThan
    this.#files = files
    this.#sign = sign
  }

  async find(
    entityType: EntityType,
    entityId: string,
    kind: PublicationKind | 'profile',
    asker = SERVICE,
  ): Promise<Publication | undefined> {
    const { manifest } = this
    const file = manifest && shardFile(manifest.files, entityType, entityId)
    if (!file) return undefined
    const atHand = this.#files.openedAtHand(manifest, file.path, SHARD)
    if (!atHand) await asker.countMore(CALLS_OF_FILE)
    return this.#in(atHand ?? (await this.#files.opened(manifest, file.path, SHARD)), kind, entityId)
  }

  allAtHand(
    entityType: EntityType,
    entityIds: readonly string[],
    kind: PublicationKind | 'profile',
  ): (Publication | undefined)[] {
    const { manifest } = this
    if (!manifest) return entityIds.map(() => undefined)
    // Each file is looked up once, because a call may have hundreds of ids in the same files.
    const open = new Map<ManifestFile, OpenPayloads | undefined>()
    return entityIds.map((id) => {
      const file = shardFile(manifest.files, entityType, id)
      if (!file) return undefined
      if (!open.has(file)) open.set(file, this.#files.openedAtHand(manifest, file.path, SHARD))
      return this.#in(open.get(file), kind, id)
    })
  }

  async findOwner(ownerId: string): Promise<Publication | undefined> {
    const { manifest } = this
    const file = manifest && ownersFile(manifest.files, ownerId)
    return file && this.#in(await this.#files.opened(manifest, file.path, OWNERS), 'owner', ownerId)
  }

  #in(opened: OpenPayloads | undefined, kind: Kind, id: string): Publication | undefined {
    const key = `${id} ${kind}`
    const known = opened?.found.get(key)
    if (known) return known
    const bytes = opened?.payload(id, kind)
    if (!bytes) return undefined
    // The secrets in force now sign it, so that a rotation takes effect at once and not with the next
    // release.
    const publication = new Publication(bytes, this.#sign(bytes))
    opened!.found.set(key, publication)
    return publication
  }
}
