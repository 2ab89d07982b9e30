// Which release is current, and how this node goes over from one to the next without keeping callers waiting.
import { setTimeout as pause } from 'node:timers/promises'
import { currentRelease, readManifest } from '../../pipeline/release/read.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { ReleaseManifest } from '../../schemas/payloads.ts'
import { type Release, type ReleaseFile, ReleasePayloads } from './release-payloads.ts'
import { ShardCache } from './shard-cache.ts'
import type { Sign } from './signature.ts'
import { WorkBeside } from './work-beside.ts'

/** How much later than it could a node goes over to a release, to read first what it will be asked for. */
const LONGEST_MS = 2_000

/** Makes ready to answer from a release that is about to be current. */
export type MakeReady = (upcoming: Release, beside: WorkBeside) => Promise<void>

export class CurrentRelease implements Release {
  readonly #store: Store
  readonly #sign: Sign
  readonly #files: ShardCache<ReleaseFile>
  #now: ReleasePayloads
  #refreshing: Promise<void> | undefined

  constructor(store: Store, sign: Sign, cacheBytes: number) {
    this.#store = store
    this.#sign = sign
    this.#files = new ShardCache(cacheBytes)
    this.#now = this.#payloadsOf(undefined)
  }

  /** The same object as long as no other release is current. */
  get now(): Release {
    return this.#now
  }

  get current(): ReleaseManifest | undefined {
    return this.#now.current
  }

  readonly find: Release['find'] = (...named) => this.#now.find(...named)
  readonly atHand: Release['atHand'] = (...named) => this.#now.atHand(...named)
  readonly allAtHand: Release['allAtHand'] = (...named) => this.#now.allAtHand(...named)
  readonly findOwner: Release['findOwner'] = (ownerId) => this.#now.findOwner(ownerId)

  /**
   * Reads the manifest of the newest release, and goes over to it: at once, or once it is ready to answer what callers asked of the
   * one before. Calls made while one is under way share it.
   */
  refresh(makeReady?: MakeReady): Promise<void> {
    this.#refreshing ??= this.#readNewest(makeReady).finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  async #readNewest(makeReady: MakeReady | undefined): Promise<void> {
    const known = this.current?.release ?? 0
    const release = await currentRelease(this.#store, known)
    if (release === known) return
    const manifest = await readManifest(this.#store, release)
    // The store may fail to show it again. What is known stays until it does.
    if (!manifest) return
    const upcoming = this.#payloadsOf(manifest)
    if (makeReady && known > 0) await this.#makeReady(upcoming, makeReady)
    this.#now = upcoming
    upcoming.forgetOthers()
  }

  /** Ends in time even if the store does not answer. What fails here fails again for those who ask for it. */
  async #makeReady(upcoming: ReleasePayloads, makeReady: MakeReady): Promise<void> {
    const beside = new WorkBeside(LONGEST_MS)
    const ready = async () => {
      await upcoming.openWhatIsOpenIn(this.#now, beside)
      await makeReady(upcoming, beside)
    }
    const over = new AbortController()
    const late = pause(LONGEST_MS, undefined, { signal: over.signal }).catch(() => undefined)
    await Promise.race([ready().catch(() => undefined), late])
    over.abort()
  }

  #payloadsOf(manifest: ReleaseManifest | undefined): ReleasePayloads {
    return new ReleasePayloads(manifest, { store: this.#store, sign: this.#sign, files: this.#files })
  }
}
