// The changes of single questions and of their outcomes, read from the tables on request.
import { LRUCache } from 'lru-cache'
import type { Database } from '../../pipeline/duckdb.ts'
import type { LocalFiles } from '../../pipeline/store/local-files.ts'
import {
  QUESTION_TABLES,
  CHANGES_IN_ORDER,
  type QuestionVersions,
  attachCompared,
  changesOf,
} from '../../pipeline/tables/compare.ts'
import type { Change } from '../../schemas/manifests.ts'
import { CALLS_OF_READ, DatabaseInTurn } from './database-in-turn.ts'
import type { Asker } from '../turns.ts'

const KEPT = 1_000

export class Changes {
  readonly #local: LocalFiles
  readonly #database: DatabaseInTurn
  readonly #cache = new LRUCache<string, readonly Change[]>({ max: KEPT })

  constructor({ local, openDatabase }: { local: LocalFiles; openDatabase: () => Promise<Database> }) {
    this.#local = local
    this.#database = new DatabaseInTurn(openDatabase)
  }

  /**
   * `asker` counts further calls before changes are read that are not in memory.
   *
   * @throws ServiceError `corrupt` for a data file that is damaged or missing.
   */
  async changesOf(questionId: string, versions: QuestionVersions, asker: Asker): Promise<readonly Change[]> {
    const states = QUESTION_TABLES.map((table) => [versions[table].version, versions[table].undone?.length])
    const key = [questionId, ...states].join(' ')
    const known = this.#cache.get(key)
    if (known) return known
    await asker.countMore(CALLS_OF_READ)
    return this.#database.run(asker, async (database) => {
      // Another call may have read them while this one waited.
      const found = this.#cache.get(key) ?? (await this.#read(database, questionId, versions))
      this.#cache.set(key, found)
      return found
    })
  }

  #read(database: Database, questionId: string, versions: QuestionVersions): Promise<Change[]> {
    return this.#local.reading(async () => {
      await attachCompared(database, this.#local, versions)
      return database.rows<Change>(`FROM (${changesOf(questionId)}) ${CHANGES_IN_ORDER}`)
    })
  }
}
