// The mark of a store in a folder: a hidden file with a random id. It tells the store from an empty folder in
// its place, such as the mount point of a disk that is away.
import { randomUUID } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { dirname, join, parse } from 'node:path'
import { ServiceError } from '../../schemas/errors.ts'
import { linkIfAbsent, mkdirIfAbsent, mkdirInside, orUndefined, syncDirectory, writeStaged } from './disk.ts'

/** No object's path can begin with a dot. */
const MARK = '.store'
/** Other users must not read the forecasts on open questions and the secrets of webhooks in a store. */
const CLOSED = 0o750

export class StoreMark {
  readonly file: string
  readonly id: string
  readonly #root: string
  /** The `lookOf` of the file when its id was last read. */
  #look: string | undefined

  private constructor(root: string, id: string) {
    this.file = join(root, MARK)
    this.#root = root
    this.id = id
  }

  /**
   * The `lookOf` of the file when its id was last read. It stays the same as long as the store is there.
   * Undefined before the first `assertThere`.
   */
  get look(): string | undefined {
    return this.#look
  }

  static async isIn(root: string): Promise<boolean> {
    return (await readId(root)) !== undefined
  }

  /** @throws ServiceError `unavailable` if the folder has no mark. */
  static async read(root: string): Promise<StoreMark> {
    const id = await readId(root)
    if (id !== undefined) return new StoreMark(root, id)
    throw new ServiceError(
      'unavailable',
      `there is no store in ${root}: it has no file ${MARK}. If the store is on another disk, mount that; ` +
        'if it lies elsewhere, name it with --store or STORE_URL. To begin a new one, run fvs serve, import, keys create, sandbox seed or demo',
      { retryAfterS: 5 },
    )
  }

  /**
   * Makes the folder and its mark. Returns false if the mark exists, even if a simultaneous call has made it.
   */
  static async make(root: string, staging: string): Promise<boolean> {
    if ((await readId(root)) !== undefined) return false
    const made = await mkdirInside(root, parse(root).root, CLOSED)
    if (await mkdirIfAbsent(staging)) made.push(staging)
    for (const directory of made.toReversed()) await syncDirectory(directory)
    if (made.length > 0) await syncDirectory(dirname(made[0]!))
    return writeStaged(staging, join(root, MARK), Buffer.from(`${randomUUID()}\n`), linkIfAbsent)
  }

  /**
   * Checks that the folder is still the same store. As long as the file is the very same, this costs one
   * `stat`; otherwise its id decides, because a disk that was away and is back may number its files anew.
   *
   * @throws ServiceError `unavailable` if it is not.
   */
  async assertThere(): Promise<void> {
    const stats = await orUndefined(stat(this.file, { bigint: true }))
    const look = stats && lookOf(stats)
    if (look !== undefined && look === this.#look) return
    const id = await readId(this.#root)
    if (id !== this.id) {
      const found =
        id === undefined
          ? `has no file ${MARK}; mount its disk again, or restore the folder`
          : 'holds another store; mount its disk again, or start anew if the other one was put there, as fvs restore does'
      throw new ServiceError('unavailable', `the store is gone: ${this.#root} ${found}`, { retryAfterS: 5 })
    }
    this.#look = look
  }
}

/** Returns a text that identifies the very same file: another file, or a copy, has a different one. */
export function lookOf({ dev, ino, ctimeNs }: BigIntStats): string {
  return `${dev} ${ino} ${ctimeNs}`
}

async function readId(root: string): Promise<string | undefined> {
  return orUndefined(readFile(join(root, MARK), 'utf8'))
}
