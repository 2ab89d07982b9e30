// A database for reads that follow each other. It is closed when no read waits.
import type { Database } from '../../pipeline/duckdb.ts'
import { type Asker, SHORT, Turns } from '../turns.ts'

/** As how many further calls a read counts, because DuckDB has to be opened for it. */
export const CALLS_OF_READ = 3

export class DatabaseInTurn {
  readonly #open: () => Promise<Database>
  readonly #turns = new Turns(SHORT)
  #database: Database | undefined

  constructor(open: () => Promise<Database>) {
    this.#open = open
  }

  /** @throws TurnLost. */
  run<T>(asker: Asker, work: (database: Database) => Promise<T>): Promise<T> {
    return this.#turns.run(asker, async () => {
      try {
        this.#database ??= await this.#open()
        return await work(this.#database)
      } finally {
        if (this.#turns.isEmpty) {
          this.#database?.[Symbol.dispose]()
          this.#database = undefined
        }
      }
    })
  }
}
