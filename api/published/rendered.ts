// Rendered pages in memory. Each is rendered once for a release, and all together have a size limit.
import { LRUCache } from 'lru-cache'
import type { Release } from './release-payloads.ts'
import type { People } from './people.ts'
import { ShardCache } from './shard-cache.ts'
import type { NextRelease, Warm } from './warm.ts'
import type { WorkBeside } from './work-beside.ts'
import type { Html } from '../pages/html.ts'

/** Some two thousand profiles. */
const CACHE_BYTES = 32 * 1024 * 1024

/** The most pages that are rendered before a switch. */
const MOST_AGAIN = 100

interface Rendered {
  bytes: Uint8Array
}

type Render = (release: Release) => unknown

export class RenderedPages implements Warm {
  readonly #pages = new ShardCache<Rendered>(CACHE_BYTES)
  /** The pages of this release that callers asked for last. */
  readonly #asked = new LRUCache<string, Render>({ max: MOST_AGAIN })
  readonly #people: Pick<People, 'version'>

  /** @param people Pages are rendered again when a name has changed. */
  constructor(people: Pick<People, 'version'>) {
    this.#people = people
  }

  /**
   * Returns the bytes of a page. Calls that ask for it during its rendering share the work.
   *
   * @param key names everything that the page depends on but the names of people, such as its path and the
   *   release.
   */
  async get(key: string, render: () => Html | Uint8Array | Promise<Html | Uint8Array>): Promise<Uint8Array> {
    const rendered = await this.#pages.get(this.#keyOf(key), async () => {
      const made = await render()
      const bytes = made instanceof Uint8Array ? made : bytesOf(made)
      return { value: { bytes }, sizeBytes: bytes.byteLength + key.length }
    })
    return rendered.bytes
  }

  /** Whether a page is in memory. */
  has(key: string): boolean {
    return this.#pages.atHand(this.#keyOf(key)) !== undefined
  }

  #keyOf(key: string): string {
    return `${this.#people.version} ${key}`
  }

  /** Notes that a caller asked for a page, and how it is rendered. */
  wasAsked(name: string, render: Render): void {
    this.#asked.set(name, render)
  }

  /** Renders the pages that callers asked for since the last switch, latest first. */
  async warm({ payloads }: NextRelease, beside: WorkBeside): Promise<void> {
    const renders = [...this.#asked.values()]
    this.#asked.clear()
    for (const render of renders) {
      if (!(await beside.goesOn())) return
      try {
        await render(payloads)
      } catch {
        // The callers that ask for it get the error.
      }
    }
  }
}

export function bytesOf(page: Html): Uint8Array {
  return new TextEncoder().encode(page.text)
}
