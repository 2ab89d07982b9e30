// A database for reads that follow each other. It is closed when no read waits.
import type { Database } from '../../pipeline/duckdb.ts'

/** As how many further calls a read counts, because DuckDB has to be opened for it. */
export const CALLS_OF_READ = 3

export class DatabaseInTurn {
  readonly #open: () => Promise<Database>
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #database: Database | undefined

  constructor(open: () => Promise<Database>) {
    this.#open = open
  }

  async run<T>(work: (database: Database) => Promise<T>): Promise<T> {
    this.#waiting += 1
    const turn = this.#last.then(async () => {
      try {
        this.#database ??= await this.#open()
        return await work(this.#database)
      } finally {
        this.#waiting -= 1
        if (this.#waiting === 0) {
          this.#database?.[Symbol.dispose]()
          this.#database = undefined
        }
      }
    })
    this.#last = turn.catch(() => undefined)
    return turn
  }
}
