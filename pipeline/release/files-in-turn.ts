// Writes large files of a release one after another while other work goes on.
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

export class FilesInTurn implements AsyncDisposable {
  readonly #directory: string
  readonly #begun = new Map<string, { location: string; written: Promise<void> }>()
  #last: Promise<void> = Promise.resolve()
  #isDisposed = false

  /** @param directory holds the files until they are read or disposed of. */
  constructor(directory: string) {
    this.#directory = directory
  }

  /** Queues a write, which begins when all before it have succeeded. */
  add(name: string, write: (location: string) => Promise<void>): void {
    const location = join(this.#directory, name.replace('/', '-'))
    const written = this.#last.then(() => (this.#isDisposed ? undefined : write(location)))
    // The caller sees a failure when it awaits the file, which may be later.
    written.catch(() => undefined)
    this.#last = written
    this.#begun.set(name, { location, written })
  }

  /** Waits for a file, reads it and deletes it. */
  async read(name: string): Promise<Uint8Array> {
    const { location, written } = this.#begun.get(name)!
    await written
    const bytes = await readFile(location)
    await rm(location)
    return bytes
  }

  /** Waits for the write under way, skips those after it, and deletes the files. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    await Promise.allSettled([this.#last])
    for (const { location } of this.#begun.values()) await rm(location, { force: true })
  }
}
