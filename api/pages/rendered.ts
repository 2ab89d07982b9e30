// Pages that were rendered, in memory: each once for a release, and bounded all together.
import { ShardCache } from '../shard-cache.ts'
import type { Html } from './html.ts'

/** Some two thousand profiles. */
const CACHE_BYTES = 32 * 1024 * 1024

interface Rendered {
  bytes: Uint8Array
}

export class RenderedPages {
  readonly #pages = new ShardCache<Rendered>(CACHE_BYTES)

  /**
   * The bytes of a page. Calls that ask for it while it is rendered share the work.
   *
   * @param key names everything that the page depends on, such as its path, the release and what else may change.
   */
  async get(key: string, render: () => Html | Promise<Html>): Promise<Uint8Array> {
    const rendered = await this.#pages.get(key, async () => {
      const bytes = bytesOf(await render())
      return { value: { bytes }, sizeBytes: bytes.byteLength + key.length }
    })
    return rendered.bytes
  }
}

export function bytesOf(page: Html): Uint8Array {
  return new TextEncoder().encode(page.text)
}
