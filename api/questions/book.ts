// The questions as this node knows them: kept in memory, and read again whenever their tables have grown.
import type { Store } from '../../pipeline/store/store.ts'
import { TableLog } from '../../pipeline/tables/delta-log.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { type PageRequest, type QuestionPage, pageOf } from './page.ts'
import type { KnownQuestion } from './question.ts'
import { type QuestionSource, readQuestions } from './read.ts'

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
    const reading = readQuestions(this.#source, { questions, resolutions })
    this.#listed = await reading.catch((cause: unknown) => {
      // A missing data file is corruption, not a 404 for the question.
      if (!(cause instanceof ServiceError && cause.kind === 'notFound')) throw cause
      throw new ServiceError('corrupt', cause.message, { cause })
    })
    this.#byId = new Map(this.#listed.map((question) => [question.questionId, question]))
    this.#versions = versions
  }
}
