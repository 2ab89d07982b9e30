// The releases of a node: the current one, with the switch to the next, which keeps no caller waiting, and
// earlier ones, of which entities can be read until retention thins them.
import { setTimeout as pause } from 'node:timers/promises'
import { currentRelease, readManifest, thinned, thinnedAt } from '../../pipeline/release/read.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { Reading, ReleaseFiles } from './release-files.ts'
import { type Release, ReleasePayloads } from './release-payloads.ts'
import type { SignAnswer } from './signature.ts'
import type { Warm } from './warm.ts'
import { WorkBeside } from './work-beside.ts'

/** The longest that a node delays a switch to warm its caches. */
const LONGEST_MS = 2_000

interface CurrentReleaseParts extends Reading {
  files: ReleaseFiles
  sign: SignAnswer
  /** Warmed before a switch, in this order, after the files. */
  warmed?: readonly Warm[]
}

export class CurrentRelease {
  readonly #parts: CurrentReleaseParts
  #now: Release
  #refreshing: Promise<void> | undefined

  constructor(parts: CurrentReleaseParts) {
    this.#parts = parts
    this.#now = this.#payloadsOf(undefined)
  }

  /** The same object until another release is current. */
  get now(): Release {
    return this.#now
  }

  /** That of `now`. */
  get manifest(): ReleaseManifest | undefined {
    return this.#now.manifest
  }

  /**
   * Returns a release before the current one, with its payloads as it published them.
   *
   * @throws ServiceError `notFound` if retention has begun to delete it, `corrupt` if its manifest is damaged
   *   or gone.
   */
  async at(release: number): Promise<Release> {
    const { store, files } = this.#parts
    const { now } = this
    const at = await thinnedAt(store, release)
    if (at !== undefined) throw thinned(release, at)
    return this.#payloadsOf(await files.at(release), now)
  }

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
    const known = this.manifest?.release ?? 0
    const release = await currentRelease(store, known)
    if (release === known) return
    const manifest = await readManifest(store, release)
    // The store may fail to return a manifest that it has listed. The current release stays until it does.
    if (!manifest) return
    const payloads = this.#payloadsOf(manifest)
    if (warmFirst && this.manifest) await this.#warm(this.manifest, { manifest, payloads })
    this.#now = payloads
  }

  /** Warms all parts. Ends in time even if the store does not answer, and never fails. */
  async #warm(
    before: ReleaseManifest,
    next: { manifest: ReleaseManifest; payloads: Release },
  ): Promise<void> {
    const { files, monotonicMs, warmed = [] } = this.#parts
    const beside = new WorkBeside(monotonicMs, LONGEST_MS)
    const warmAll = async () => {
      await files.warm(before, next.manifest, beside)
      for (const part of warmed) await part.warm(next, beside)
    }
    const over = new AbortController()
    const late = pause(LONGEST_MS, undefined, { signal: over.signal }).catch(() => undefined)
    await Promise.race([warmAll().catch(() => undefined), late])
    over.abort()
  }

  #payloadsOf(manifest: ReleaseManifest | undefined, earlierThan?: Release): Release {
    return new ReleasePayloads(manifest, this.#parts.files, this.#parts.sign, earlierThan)
  }
}
