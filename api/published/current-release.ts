// The current release, and the switch to the next one, which keeps no caller waiting.
import { setTimeout as pause } from 'node:timers/promises'
import { currentRelease, readManifest } from '../../pipeline/release/read.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { type PayloadParts, type Release, type ReleaseFile, ReleasePayloads } from './release-payloads.ts'
import { ShardCache } from './shard-cache.ts'
import type { NextRelease, Warm } from './warm.ts'
import { WorkBeside } from './work-beside.ts'

/** The longest that a node delays a switch to warm its caches. */
const LONGEST_MS = 2_000

export class CurrentRelease implements Release {
  readonly #parts: PayloadParts
  readonly #files: ShardCache<ReleaseFile>
  readonly #warmed: readonly Warm[]
  #now: ReleasePayloads
  #refreshing: Promise<void> | undefined

  /** @param warmed the parts to warm before a switch, in this order, after the payloads. */
  constructor(parts: PayloadParts, cacheBytes: number, warmed: readonly Warm[] = []) {
    this.#parts = parts
    this.#files = new ShardCache(cacheBytes)
    this.#warmed = warmed
    this.#now = this.#payloadsOf(undefined)
  }

  /** The same object until another release is current. */
  get now(): Release {
    return this.#now
  }

  get current(): ReleaseManifest | undefined {
    return this.#now.current
  }

  readonly find: Release['find'] = (...named) => this.#now.find(...named)
  readonly allAtHand: Release['allAtHand'] = (...named) => this.#now.allAtHand(...named)
  readonly findOwner: Release['findOwner'] = (ownerId) => this.#now.findOwner(ownerId)

  /**
   * Reads the manifest of the newest release, and switches to it: at once, or after warming the data that
   * callers asked of the current one. Calls made during a refresh share it.
   */
  refresh({ warmFirst = false }: { warmFirst?: boolean } = {}): Promise<void> {
    this.#refreshing ??= this.#readNewest(warmFirst).finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  async #readNewest(warmFirst: boolean): Promise<void> {
    const { store } = this.#parts
    const known = this.current?.release ?? 0
    const release = await currentRelease(store, known)
    if (release === known) return
    const manifest = await readManifest(store, release)
    // The store may fail to return a manifest that it has listed. The current release stays until it does.
    if (!manifest) return
    const payloads = this.#payloadsOf(manifest)
    if (warmFirst && known > 0) await this.#warm({ manifest, payloads })
    this.#now = payloads
    payloads.forgetOthers()
  }

  /** Warms all parts. Ends in time even if the store does not answer, and never fails. */
  async #warm(next: NextRelease): Promise<void> {
    const beside = new WorkBeside(this.#parts.monotonicMs, LONGEST_MS)
    const warmAll = async () => {
      for (const part of [this.#now, ...this.#warmed]) await part.warm(next, beside)
    }
    const over = new AbortController()
    const late = pause(LONGEST_MS, undefined, { signal: over.signal }).catch(() => undefined)
    await Promise.race([warmAll().catch(() => undefined), late])
    over.abort()
  }

  #payloadsOf(manifest: ReleaseManifest | undefined): ReleasePayloads {
    return new ReleasePayloads(manifest, this.#parts, this.#files)
  }
}
