// Large files of a release that are written one after another while other work goes on.
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

export class FilesInTurn implements AsyncDisposable {
  readonly #directory: string
  readonly #locations: string[] = []
  #last: Promise<void> = Promise.resolve()
  #isDisposed = false

  /** @param directory where the files are until they are disposed of. */
  constructor(directory: string) {
    this.#directory = directory
  }

  /**
   * Has a file written as soon as those before it are. Returns a function that reads it once it is written,
   * and deletes it.
   */
  add(name: string, write: (location: string) => Promise<void>): () => Promise<Uint8Array> {
    const location = join(this.#directory, name.replace('/', '-'))
    this.#locations.push(location)
    const written = this.#last.then(() => (this.#isDisposed ? undefined : write(location)))
    // A failure is met where it is awaited, which may be later.
    written.catch(() => undefined)
    this.#last = written
    return async () => {
      await written
      const bytes = await readFile(location)
      await rm(location)
      return bytes
    }
  }

  /** Waits for the file that is being written. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    await Promise.allSettled([this.#last])
    for (const location of this.#locations) await rm(location, { force: true })
  }
}
