// Lines of a stage on their way to DuckDB.
import { type FileHandle, open } from 'node:fs/promises'
import { literal } from '../../duckdb.ts'
import { type Fields, NULL, lineOfFields } from './lines.ts'

/** Returns SQL for the lines of a file, in their order. */
export function spooled(path: string, columns: Readonly<Record<string, string>>): string {
  const types = Object.entries(columns).map(([name, type]) => `${literal(name)}: ${literal(type)}`)
  return `read_csv(${literal(path)}, columns = {${types.join(', ')}}, auto_detect = false, header = false, delim = '\t',
    quote = '', escape = '', nullstr = ${literal(NULL)}, new_line = '\\n')`
}

/** A file of lines, because a part of the scores would not fit in memory as text. */
export class Spool {
  static readonly #mostLength = 1 << 20
  readonly #file: FileHandle
  #text = ''
  count = 0

  private constructor(file: FileHandle) {
    this.#file = file
  }

  static async open(path: string): Promise<Spool> {
    return new Spool(await open(path, 'w'))
  }

  add(fields: Fields): void | Promise<void> {
    this.#text += lineOfFields(fields)
    this.count += 1
    if (this.#text.length > Spool.#mostLength) return this.#flush()
  }

  async close(): Promise<void> {
    await this.#flush()
    await this.#file.close()
  }

  /** Closes the file, even if it is closed already. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close()
  }

  async #flush(): Promise<void> {
    const text = this.#text
    this.#text = ''
    await this.#file.writeFile(text)
  }
}
