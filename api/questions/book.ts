// The questions as this node knows them: kept in memory, and read again whenever their tables have grown.
import { type Database, withDatabase } from '../../pipeline/duckdb.ts'
import type { LocalFiles } from '../../pipeline/store/local-files.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { TableLog } from '../../pipeline/tables/delta-log.ts'
import { attachCurrent } from '../../pipeline/tables/views.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { QuestionPage } from '../../schemas/payloads.ts'
import { type PageRequest, pageOf } from './page.ts'
import type { KnownQuestion } from './question.ts'

/** Grain: one row per question, in the order of pages. */
const QUESTIONS = `
  SELECT question_id, title, category, url, opened_at, closes_at, outcome, resolved_at
  FROM current_questions LEFT JOIN current_resolutions USING (question_id)
  ORDER BY closes_at, question_id`

interface QuestionSource {
  local: LocalFiles
  openDatabase: () => Promise<Database>
}

export class QuestionBook {
  readonly #source: QuestionSource
  readonly #logs: { questions: TableLog; resolutions: TableLog }
  #byId = new Map<string, KnownQuestion>()
  #listed: KnownQuestion[] = []
  /** The versions of the tables in memory. A read that fails leaves them as they are, so that it is tried again. */
  #versions = '-1 -1'
  #refreshing: Promise<void> | undefined

  constructor({ store, ...source }: QuestionSource & { store: Store }) {
    this.#source = source
    this.#logs = {
      questions: new TableLog(store, 'questions'),
      resolutions: new TableLog(store, 'resolutions'),
    }
  }

  /** Follows the tables. Calls made while one is under way share it. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#read().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  /**
   * A question; one that is not in memory yet is looked for in the tables.
   *
   * @throws ServiceError `notFound`.
   */
  async find(questionId: string): Promise<KnownQuestion> {
    if (!this.#byId.has(questionId)) await this.refresh()
    const found = this.#byId.get(questionId)
    if (!found) throw new ServiceError('notFound', `there is no question ${questionId}`)
    return found
  }

  /** @throws ServiceError `invalid` for a cursor that no page gave. */
  page(request: PageRequest): QuestionPage {
    return pageOf(this.#listed, request)
  }

  async #read(): Promise<void> {
    await Promise.all([this.#logs.questions.refresh(), this.#logs.resolutions.refresh()])
    const [questions, resolutions] = [this.#logs.questions.current, this.#logs.resolutions.current]
    const versions = `${questions.version} ${resolutions.version}`
    if (versions === this.#versions) return
    const { local, openDatabase } = this.#source
    const reading = withDatabase(openDatabase, async (database) => {
      await attachCurrent(database, local, { ...questions, table: 'questions' })
      await attachCurrent(database, local, { ...resolutions, table: 'resolutions' })
      return database.rows<KnownQuestion>(QUESTIONS)
    })
    this.#listed = await reading.catch((cause: unknown) => {
      // A missing data file is corruption, not a 404 for the question.
      if (!(cause instanceof ServiceError && cause.kind === 'notFound')) throw cause
      throw new ServiceError('corrupt', cause.message, { cause })
    })
    this.#byId = new Map(this.#listed.map((question) => [question.question_id, question]))
    this.#versions = versions
  }
}
