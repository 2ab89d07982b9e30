// The questions as this node knows them: read from the tables, kept in memory, followed as the tables grow.
import { type Database, withDatabase } from '../pipeline/duckdb.ts'
import { attachCurrent } from '../pipeline/tables/views.ts'
import type { LocalFiles } from '../pipeline/store/local-files.ts'
import type { Store } from '../pipeline/store/store.ts'
import { TableLog } from '../pipeline/tables/delta-log.ts'
import { ServiceError } from '../schemas/errors.ts'
import type { Question } from '../schemas/payloads.ts'
import { CURSOR, type QuestionStatus } from '../schemas/requests.ts'
import type { Outcome } from '../schemas/tables.ts'

export interface KnownQuestion {
  questionId: string
  title: string
  category: string | null
  url: string | null
  openedAt: Date
  closesAt: Date
  outcome: Outcome | null
  resolvedAt: Date | null
}

export interface QuestionBookComponents {
  store: Store
  local: LocalFiles
  openDatabase: () => Promise<Database>
}

/** Grain: one row per question, in the order of listings. */
const BOOK = `
  SELECT question_id, title, category, url, opened_at, closes_at, outcome, resolved_at
  FROM current_questions LEFT JOIN current_resolutions USING (question_id)
  ORDER BY closes_at, question_id`

interface BookRow extends Record<string, unknown> {
  question_id: string
  title: string
  category: string | null
  url: string | null
  opened_at: Date
  closes_at: Date
  outcome: Outcome | null
  resolved_at: Date | null
}

export class QuestionBook {
  readonly #components: QuestionBookComponents
  readonly #logs: { questions: TableLog; resolutions: TableLog }
  #byId = new Map<string, KnownQuestion>()
  #listed: KnownQuestion[] = []
  /** The versions of the tables that the book holds; a read that failed leaves them behind and is tried again. */
  #versions = '-1 -1'
  #refreshing: Promise<void> | undefined

  constructor(components: QuestionBookComponents) {
    this.#components = components
    this.#logs = {
      questions: new TableLog(components.store, 'questions'),
      resolutions: new TableLog(components.store, 'resolutions'),
    }
  }

  /** Follows the tables. Calls that come while one is under way share it. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#read().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  /** A question; one that this node has not met yet is looked for in the tables. */
  async find(questionId: string): Promise<KnownQuestion> {
    if (!this.#byId.has(questionId)) await this.refresh()
    const found = this.#byId.get(questionId)
    if (!found) throw new ServiceError('notFound', `there is no question ${questionId}`)
    return found
  }

  /**
   * A page of questions in the order (closes_at, question_id).
   *
   * @throws ServiceError `invalid` for a cursor that no page gave.
   */
  page(options: {
    status: QuestionStatus | undefined
    limit: number
    cursor: string | undefined
    now: Date
  }): {
    questions: Question[]
    nextCursor: string | null
  } {
    const start = options.cursor === undefined ? 0 : this.#indexAfter(decodeCursor(options.cursor))
    const questions: Question[] = []
    for (let index = start; index < this.#listed.length; index++) {
      const question = presented(this.#listed[index]!, options.now)
      if (options.status !== undefined && question.status !== options.status) continue
      if (questions.length === options.limit)
        return { questions, nextCursor: encodeCursor(questions.at(-1)!) }
      questions.push(question)
    }
    return { questions, nextCursor: null }
  }

  #indexAfter({ closesAtMs, questionId }: CursorPlace): number {
    let low = 0
    let high = this.#listed.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const { closesAt, questionId: id } = this.#listed[middle]!
      const after = closesAt.getTime() > closesAtMs || (closesAt.getTime() === closesAtMs && id > questionId)
      if (after) high = middle
      else low = middle + 1
    }
    return low
  }

  async #read(): Promise<void> {
    const { questions, resolutions } = this.#logs
    await Promise.all([questions.refresh(), resolutions.refresh()])
    const versions = `${questions.current.version} ${resolutions.current.version}`
    if (versions === this.#versions) return
    const { local, openDatabase } = this.#components
    const reading = withDatabase(openDatabase, async (database) => {
      await attachCurrent(database, local, { ...questions.current, table: 'questions' })
      await attachCurrent(database, local, { ...resolutions.current, table: 'resolutions' })
      return database.rows<BookRow>(BOOK)
    })
    const rows = await reading.catch((cause: unknown) => {
      // A data file that is not found is no answer to who asked for a question.
      if (!(cause instanceof ServiceError && cause.kind === 'notFound')) throw cause
      throw new ServiceError('corrupt', cause.message, { cause })
    })
    this.#listed = rows.map((row) => ({
      questionId: row.question_id,
      title: row.title,
      category: row.category,
      url: row.url,
      openedAt: row.opened_at,
      closesAt: row.closes_at,
      outcome: row.outcome,
      resolvedAt: row.resolved_at,
    }))
    this.#byId = new Map(this.#listed.map((question) => [question.questionId, question]))
    this.#versions = versions
  }
}

function statusOf({ openedAt, closesAt, outcome }: KnownQuestion, now: Date): QuestionStatus {
  if (outcome !== null) return 'resolved'
  if (now < openedAt) return 'upcoming'
  return now < closesAt ? 'open' : 'closed'
}

export function presented(question: KnownQuestion, now: Date): Question {
  return {
    question_id: question.questionId,
    title: question.title,
    category: question.category,
    url: question.url,
    opened_at: question.openedAt.toISOString(),
    closes_at: question.closesAt.toISOString(),
    status: statusOf(question, now),
    outcome: question.outcome,
    resolved_at: question.resolvedAt?.toISOString() ?? null,
  }
}

/** @throws ServiceError `conflict` for a question that takes no forecasts now. */
export function assertOpen(question: KnownQuestion, now: Date): void {
  const status = statusOf(question, now)
  if (status === 'open') return
  const why = {
    upcoming: `opens at ${question.openedAt.toISOString()}`,
    closed: `closed at ${question.closesAt.toISOString()}`,
    resolved: `was resolved at ${question.resolvedAt?.toISOString()}`,
  }[status]
  throw new ServiceError('conflict', `the question ${question.questionId} takes no forecast: it ${why}`)
}

interface CursorPlace {
  closesAtMs: number
  questionId: string
}

function encodeCursor({ closes_at, question_id }: Question): string {
  return `${Date.parse(closes_at)}_${question_id}`
}

function decodeCursor(cursor: string): CursorPlace {
  const match = CURSOR.exec(cursor)
  if (!match) {
    throw new ServiceError('invalid', 'the cursor is not one that a page of questions gave', {
      faults: [{ pointer: '/cursor', detail: 'must be a next_cursor' }],
    })
  }
  return { closesAtMs: Number(match[1]), questionId: match[2]! }
}
