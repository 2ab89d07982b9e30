// The payloads of one release: the bytes as they were published, and a signature made when they are served.
import { ownersFile } from '../../pipeline/release/files/owners.ts'
import { readReleaseBytes, shardFile } from '../../pipeline/release/read.ts'
import { canonical } from '../../pipeline/proof/canonical.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { PublicationKind } from '../../schemas/metric.ts'
import type { ManifestFile, ReleaseManifest } from '../../schemas/manifests.ts'
import type { OwnerShard } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import type { ShardCache } from './shard-cache.ts'
import { ShardText } from './shard-text.ts'
import type { SignAnswer } from './signature.ts'
import { type Asker, SERVICE } from '../turns.ts'
import { type WorkBeside, heavyWork } from './work-beside.ts'

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
  readonly current: ReleaseManifest | undefined
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
  /** Returns what `find` returns of each, where it was found before and is still in memory. */
  allAtHand(
    entityType: EntityType,
    entityIds: readonly string[],
    kind: PublicationKind | 'profile',
  ): (Publication | undefined)[]
  /** Returns the payload of an owner; undefined if the release has no agent of that owner. */
  findOwner(ownerId: string): Promise<Publication | undefined>
}

/** A file in memory. */
export interface ReleaseFile {
  /** In the order of the file; none in a file of owners. */
  entityIds: readonly string[]
  payload: (id: string, kind: Subject['kind']) => Uint8Array | undefined
  /** The publications found in it so far, by kind and id. */
  found: Record<Subject['kind'], Map<string, FoundPublication>>
}

type OpenFile = Omit<ReleaseFile, 'found'>

interface FoundPublication {
  subject: Subject
  publication: Publication
  /** Whether a caller has asked this release for it. */
  isAsked: boolean
}

/** The subject of a publication, and the way to find it in a release. */
interface Subject {
  file: (files: readonly ManifestFile[]) => ManifestFile | undefined
  open: (bytes: Uint8Array, besideAnswers: () => Promise<void>) => OpenFile | Promise<OpenFile>
  kind: PublicationKind | 'profile' | 'owner'
  id: string
}

/** As how many further calls a file counts that is not in memory: one of 1.4 MB takes 8 ms. */
const CALLS_OF_FILE = 2

/** Memory holds a payload in two forms, each about as large: as published, and in an answer about many. */
const KEPT_FACTOR = 2

/** The parts that all releases served at the same time share. */
export interface PayloadParts {
  store: Store
  sign: SignAnswer
  monotonicMs: () => number
}

export class ReleasePayloads implements Release {
  readonly current: ReleaseManifest | undefined
  readonly #parts: PayloadParts
  readonly #files: ShardCache<ReleaseFile>

  constructor(manifest: ReleaseManifest | undefined, parts: PayloadParts, files: ShardCache<ReleaseFile>) {
    this.current = manifest
    this.#parts = parts
    this.#files = files
  }

  async find(
    entityType: EntityType,
    entityId: string,
    kind: PublicationKind | 'profile',
    asker = SERVICE,
  ): Promise<Publication | undefined> {
    const { current } = this
    const file = current && shardFile(current.files, entityType, entityId)
    if (file && !this.#files.atHand(this.#keyOf(file))) await asker.countMore(CALLS_OF_FILE)
    return this.#findAsked({
      file: (files) => shardFile(files, entityType, entityId),
      open: openShard,
      kind,
      id: entityId,
    })
  }

  allAtHand(
    entityType: EntityType,
    entityIds: readonly string[],
    kind: PublicationKind | 'profile',
  ): (Publication | undefined)[] {
    const { current } = this
    if (!current) return entityIds.map(() => undefined)
    // Each file is looked up once, because a call may have hundreds of ids in the same files.
    const open = new Map<ManifestFile, ReleaseFile | undefined>()
    return entityIds.map((id) => {
      const file = shardFile(current.files, entityType, id)
      if (!file) return undefined
      if (!open.has(file)) open.set(file, this.#files.atHand(this.#keyOf(file)))
      return askedIn(open.get(file), kind, id)
    })
  }

  findOwner(ownerId: string): Promise<Publication | undefined> {
    return this.#findAsked({
      file: (files) => ownersFile(files, ownerId),
      open: openOwners,
      kind: 'owner',
      id: ownerId,
    })
  }

  /**
   * Opens in the next release the files that this one has open, and preloads what callers asked of this one,
   * latest first. It also opens a file that no caller asked for, which stays open while the cache has room,
   * because reading a shard keeps many callers waiting. It reads the files one after another, because several
   * at once would take the cores that answer calls.
   */
  async warm({ payloads: next }: { payloads: ReleasePayloads }, beside: WorkBeside): Promise<void> {
    const files = [...this.#files.inMemory()].filter(([key]) => this.#isOwn(key))
    for (const [, { found }] of files) {
      try {
        for (const { subject } of askedOrFirst(found)) {
          if (!(await beside.goesOn())) return
          await next.#find(subject)
        }
      } catch {
        // The callers that ask for it get the error.
      }
    }
  }

  /** Removes the files of all other releases from memory. */
  forgetOthers(): void {
    this.#files.keepOnly((key) => this.#isOwn(key))
  }

  async #findAsked(subject: Subject): Promise<Publication | undefined> {
    const found = await this.#find(subject)
    if (found) found.isAsked = true
    return found?.publication
  }

  async #find(subject: Subject): Promise<FoundPublication | undefined> {
    const { kind, id, open } = subject
    const { current } = this
    const file = current && subject.file(current.files)
    if (!file) return undefined
    const { payload, found } = await this.#fileAt(file, open)
    const known = found[kind].get(id)
    if (known) return known
    const bytes = payload(id, kind)
    if (!bytes) return undefined
    // The secrets in force now sign it, so that a rotation takes effect at once and not with the next
    // release.
    const publication = new Publication(bytes, this.#parts.sign(bytes))
    const first = { subject, publication, isAsked: false }
    found[kind].set(id, first)
    return first
  }

  #fileAt(file: ManifestFile, open: Subject['open']): Promise<ReleaseFile> {
    return this.#files.get(this.#keyOf(file), async () => {
      const { store, monotonicMs } = this.#parts
      const bytes = await readReleaseBytes(store, this.current!.release, file)
      const opened = await heavyWork(monotonicMs, (besideAnswers) => open(bytes, besideAnswers))
      return { value: { ...opened, found: noneFound() }, sizeBytes: file.size_bytes * KEPT_FACTOR }
    })
  }

  #keyOf({ path }: ManifestFile): string {
    return `${this.current?.release} ${path}`
  }

  #isOwn(key: string): boolean {
    return key.startsWith(`${this.current?.release} `)
  }
}

/** Returns the publications of a file that callers asked for, or one other if they asked for none. */
function askedOrFirst(found: ReleaseFile['found']): FoundPublication[] {
  const all = Object.values(found).flatMap((ofKind) => [...ofKind.values()])
  const asked = all.filter(({ isAsked }) => isAsked)
  return asked.length > 0 ? asked : all.slice(0, 1)
}

/** Returns a publication of a file in memory, and notes that a caller has asked for it. */
function askedIn(file: ReleaseFile | undefined, kind: Subject['kind'], id: string): Publication | undefined {
  const found = file?.found[kind].get(id)
  if (found) found.isAsked = true
  return found?.publication
}

function noneFound(): ReleaseFile['found'] {
  return {
    verification: new Map(),
    metrics: new Map(),
    rankings: new Map(),
    advanced_metrics: new Map(),
    profile: new Map(),
    owner: new Map(),
  }
}

async function openShard(bytes: Uint8Array, besideAnswers: () => Promise<void>): Promise<OpenFile> {
  const shard = await ShardText.open(bytes, besideAnswers)
  return { entityIds: shard.entityIds, payload: (id, kind) => shard.payload(`${id} ${kind}`) }
}

function openOwners(bytes: Uint8Array): OpenFile {
  const { owners } = JSON.parse(new TextDecoder().decode(bytes)) as OwnerShard
  const byId = new Map(owners.map(({ payload }) => [payload.owner_id, payload]))
  const payload = (ownerId: string) => {
    const found = byId.get(ownerId)
    return found && canonical(found)
  }
  return { entityIds: [], payload }
}
