// The long texts of questions, read from the table on request. A node keeps only the texts requested lately.
import { LRUCache } from 'lru-cache'
import { type Database, literal } from '../../pipeline/duckdb.ts'
import type { LocalFiles } from '../../pipeline/store/local-files.ts'
import { type DataFile, statisticsOf } from '../../pipeline/tables/delta.ts'
import { localPath } from '../../pipeline/tables/delta-log.ts'
import { currentRowsIn } from '../../pipeline/tables/views.ts'
import type { QuestionTexts } from '../../schemas/answers.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { CALLS_OF_READ, DatabaseInTurn } from './database-in-turn.ts'
import type { KnownQuestion } from './question.ts'
import { type Asker, SERVICE } from '../turns.ts'

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

type WantedQuestion = Pick<KnownQuestion, 'question_id' | 'file'>

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
   * Returns the texts of questions, in their order. `asker` counts further calls before texts are read
   * that are not in memory.
   *
   * @throws ServiceError `corrupt` for a data file that is damaged or missing.
   */
  async textsOf(questions: readonly WantedQuestion[], asker: Asker = SERVICE): Promise<QuestionTexts[]> {
    const texts = new Map(questions.map((question) => [question, this.#known(question)] as const))
    const missing = questions.filter((question) => texts.get(question) === undefined)
    const files = Map.groupBy(missing, ({ file }) => file)
    if (files.size > 0) await asker.countMore(CALLS_OF_READ * files.size)
    for (const [file, wanted] of files) {
      for (const [question, read] of await this.#database.run(asker, (database) =>
        this.#read(database, file, wanted),
      )) {
        texts.set(question, read)
      }
    }
    return questions.map((question) => texts.get(question)!)
  }

  #known({ question_id, file }: WantedQuestion): QuestionTexts | undefined {
    return this.#parts[file]!.hasTexts ? this.#cache.get(textKey(file, question_id)) : NONE
  }

  /** Reads questions of one file, unless another call has read them while this one waited. */
  async #read(
    database: Database,
    number: number,
    wanted: readonly WantedQuestion[],
  ): Promise<Map<WantedQuestion, QuestionTexts>> {
    const { file } = this.#parts[number]!
    // Each text that is kept may put another one out, so none is looked up afterwards.
    const texts = new Map(wanted.map((question) => [question, this.#known(question)] as const))
    const unread = wanted.filter((question) => texts.get(question) === undefined)
    const ids = unread.map(({ question_id }) => literal(question_id))
    const rows = ids.length === 0 ? [] : await this.#rowsIn(database, file, ids.join(', '))
    const read = new Map(rows.map(({ question_id, ...its }) => [question_id, its]))
    for (const question of unread) {
      const { question_id } = question
      const its = read.get(question_id)
      if (!its) {
        throw new ServiceError(
          'corrupt',
          `${file.path} of the questions lacks ${question_id}, which was read from it before`,
        )
      }
      this.#cache.set(textKey(number, question_id), its)
      texts.set(question, its)
    }
    return texts as Map<WantedQuestion, QuestionTexts>
  }

  #rowsIn(
    database: Database,
    file: DataFile,
    ids: string,
  ): Promise<(QuestionTexts & { question_id: string })[]> {
    const { local } = this.#source
    return local.reading(async () => {
      const path = await localPath(local, 'questions', file)
      return database.rows(
        `SELECT question_id, resolution_criteria, background FROM (${currentRowsIn('questions', path, ids)})`,
      )
    })
  }
}

function textKey(file: number, questionId: string): string {
  return `${file}/${questionId}`
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
