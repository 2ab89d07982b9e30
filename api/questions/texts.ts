// The long texts of questions, read from the table on request. A node keeps only the texts requested lately.
import { LRUCache } from 'lru-cache'
import { type Database, literal } from '../../pipeline/duckdb.ts'
import type { LocalFiles } from '../../pipeline/store/local-files.ts'
import { type DataFile, statisticsOf } from '../../pipeline/tables/delta.ts'
import { localPath } from '../../pipeline/tables/delta-log.ts'
import { currentRowIn } from '../../pipeline/tables/views.ts'
import type { QuestionTexts } from '../../schemas/answers.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { CALLS_OF_READ, DatabaseInTurn } from './database-in-turn.ts'
import type { KnownQuestion } from './question.ts'

const CACHE_BYTES = 16 * 1024 * 1024
const NONE: QuestionTexts = { resolution_criteria: null, background: null }

/** A data file, and the range of rows that it may have. */
interface IndexedFile {
  file: DataFile
  hasTexts: boolean
  firstId: string
  lastId: string
  firstMs: number
  lastMs: number
  /** When the first row of its version was recorded. */
  versionFirstMs: number
}

interface TextSource {
  local: LocalFiles
  openDatabase: () => Promise<Database>
}

export class Texts {
  readonly #source: TextSource
  readonly #parts: IndexedFile[] = []
  readonly #cache = new LRUCache<string, QuestionTexts>({
    maxSize: CACHE_BYTES,
    sizeCalculation: (texts) => 200 + 2 * Object.values(texts).join('').length,
  })
  readonly #database: DatabaseInTurn

  constructor(source: TextSource) {
    this.#source = source
    this.#database = new DatabaseInTurn(source.openDatabase)
  }

  /** Takes in the data files of the table, except the first ones, which it knows already. */
  follow(files: readonly DataFile[]): void {
    const fresh = files.slice(this.#parts.length).map(partOf)
    for (const parts of Map.groupBy(fresh, ({ file }) => file.version).values()) {
      const versionFirstMs = Math.min(...parts.map(({ firstMs }) => firstMs))
      this.#parts.push(...parts.map((part) => ({ ...part, versionFirstMs })))
    }
  }

  /**
   * Returns the number of the file that has a row. Rows of a later version are recorded later, so the time of
   * a row tells its version.
   */
  fileOf(questionId: string, recordedAtMs: number): number {
    let [low, high] = [0, this.#parts.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#parts[middle]!.versionFirstMs <= recordedAtMs) low = middle + 1
      else high = middle
    }
    const { version } = this.#parts[low - 1]?.file ?? {}
    for (let number = low - 1; this.#parts[number]?.file.version === version; number--) {
      const { firstId, lastId, firstMs, lastMs } = this.#parts[number]!
      const isInTime = firstMs <= recordedAtMs && recordedAtMs <= lastMs
      if (isInTime && firstId <= questionId && questionId <= lastId) return number
    }
    throw new ServiceError('corrupt', `no data file of the questions says that it has ${questionId}`)
  }

  /**
   * `countMore` counts further calls before texts are read that are not in memory.
   *
   * @throws ServiceError `corrupt` for a data file that is damaged or missing.
   */
  async of(
    { question_id, file }: Pick<KnownQuestion, 'question_id' | 'file'>,
    countMore: (calls: number) => Promise<void> = () => Promise.resolve(),
  ): Promise<QuestionTexts> {
    const part = this.#parts[file]!
    if (!part.hasTexts) return NONE
    const key = `${file}/${question_id}`
    const known = this.#cache.get(key)
    if (known) return known
    await countMore(CALLS_OF_READ)
    return this.#database.run(async (database) => {
      // Another call may have read it while this one waited.
      const texts = this.#cache.get(key) ?? (await this.#read(database, part.file, question_id))
      this.#cache.set(key, texts)
      return texts
    })
  }

  async #read(database: Database, file: DataFile, questionId: string): Promise<QuestionTexts> {
    const { local } = this.#source
    return local.reading(async () => {
      const path = await localPath(local, 'questions', file)
      const row = currentRowIn('questions', path, literal(questionId))
      const [texts] = await database.rows<QuestionTexts>(
        `SELECT resolution_criteria, background FROM (${row})`,
      )
      if (texts) return texts
      throw new ServiceError(
        'corrupt',
        `${file.path} of the questions lacks ${questionId}, which was read from it before`,
      )
    })
  }
}

function partOf(file: DataFile): Omit<IndexedFile, 'versionFirstMs'> {
  const { numRecords, nullCount, minValues, maxValues } = statisticsOf(file)
  return {
    file,
    hasTexts: Object.keys(NONE).some((column) => (nullCount[column] ?? 0) < numRecords),
    firstId: String(minValues['question_id']),
    lastId: String(maxValues['question_id']),
    firstMs: Date.parse(String(minValues['recorded_at'])),
    lastMs: Date.parse(String(maxValues['recorded_at'])),
  }
}
