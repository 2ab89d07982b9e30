// Rendered answers in memory: for each release one map from URL to bytes, and all together have a size limit.
import type { Html } from '../pages/html.ts'
import type { People } from './people.ts'
import type { Release } from './release-payloads.ts'
import { ShardCache } from './shard-cache.ts'
import type { NextRelease, Warm } from './warm.ts'
import type { WorkBeside } from './work-beside.ts'

/** Some two thousand profiles. */
const CACHE_BYTES = 32 * 1024 * 1024

/** The most answers that are rendered before a switch. */
const MOST_AGAIN = 100

/** An answer that is rendered once. */
export interface Rendering {
  /** All that its bytes depend on besides its URL, its release and the names of people. */
  state?: string
  /** Called before an answer that is not in memory is rendered: whoever asks for it pays. */
  count?: () => Promise<void>
  render: () => Html | Uint8Array | Promise<Html | Uint8Array>
}

/** Returns how the same URL is rendered in the next release; undefined if that waits until somebody asks. */
type Again = (next: Release) => Rendering | undefined | Promise<Rendering | undefined>

interface Held {
  url: string
  bytes: Uint8Array
  again: Again | undefined
  /** Whether a caller has asked for it since the last switch. */
  isAsked: boolean
}

export class RenderedAnswers implements Warm {
  readonly #held = new ShardCache<Held>(CACHE_BYTES)
  readonly #people: Pick<People, 'version'>

  /** @param people Answers are rendered again when a name has changed. */
  constructor(people: Pick<People, 'version'>) {
    this.#people = people
  }

  /**
   * Returns the bytes at a URL. Calls that ask for them while they are rendered share the work.
   *
   * @param release undefined for an answer that no new release changes.
   */
  async get(
    release: Release | undefined,
    url: string,
    rendering: Rendering,
    again?: Again,
  ): Promise<Uint8Array> {
    if (rendering.count && !this.#held.atHand(this.#keyOf(release, url, rendering))) await rendering.count()
    const held = await this.#rendered(release, url, rendering, again)
    held.isAsked = true
    return held.bytes
  }

  /** Renders what callers asked for since the last switch, latest first. */
  async warm({ payloads: next }: NextRelease, beside: WorkBeside): Promise<void> {
    const wanted = Array.from(this.#held.values()).filter(({ isAsked }) => isAsked)
    for (const held of wanted) held.isAsked = false
    for (const { url, again } of wanted.filter((held) => held.again).slice(0, MOST_AGAIN)) {
      if (!(await beside.goesOn())) return
      try {
        const rendering = await again!(next)
        if (rendering) await this.#rendered(next, url, rendering, again)
      } catch {
        // The callers that ask for it get the error.
      }
    }
  }

  #rendered(
    release: Release | undefined,
    url: string,
    rendering: Rendering,
    again: Again | undefined,
  ): Promise<Held> {
    const key = this.#keyOf(release, url, rendering)
    return this.#held.get(key, async () => {
      const made = await rendering.render()
      const bytes = made instanceof Uint8Array ? made : bytesOf(made)
      return { value: { url, bytes, again, isAsked: false }, sizeBytes: bytes.byteLength + key.length }
    })
  }

  #keyOf(release: Release | undefined, url: string, { state }: Rendering): string {
    const { manifest, earlierThan } = release ?? {}
    // Pages of an earlier release say which one is current.
    const releases = release && [manifest?.release, earlierThan?.manifest?.release]
    return JSON.stringify([releases, url, state, this.#people.version])
  }
}

export function bytesOf(page: Html): Uint8Array {
  return new TextEncoder().encode(page.text)
}
