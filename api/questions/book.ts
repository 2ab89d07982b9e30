// The questions as this node knows them: kept in memory, and updated by each new commit of their tables.
import { setImmediate as othersHaveRun } from 'node:timers/promises'
import { type Database, withDatabase } from '../../pipeline/duckdb.ts'
import type { LocalFiles } from '../../pipeline/store/local-files.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { TableLog } from '../../pipeline/tables/delta-log.ts'
import {
  QUESTION_TABLES,
  type QuestionVersions,
  subjectsOfSeveralRows,
} from '../../pipeline/tables/compare.ts'
import type { TableVersion } from '../../pipeline/tables/delta.ts'
import { without } from '../../pipeline/tables/left-out.ts'
import { attachCurrent, attachTable, currentRows } from '../../pipeline/tables/views.ts'
import type { Event, ListedQuestion, QuestionPage, QuestionTexts } from '../../schemas/answers.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Change, UndoneImport } from '../../schemas/manifests.ts'
import type { Outcome } from '../../schemas/tables.ts'
import { Changes } from './changes.ts'
import { type DueQuestions, type Filters, Listing, type QuestionCounts } from './listing.ts'
import { byClose } from './order.ts'
import type { PageRequest } from './page.ts'
import { type KnownEvent, Events } from './events.ts'
import { type KnownQuestion, isOverAt, shownAt } from './question.ts'
import { Texts } from './texts.ts'
import { type Asker, SERVICE } from '../turns.ts'

/**
 * Grain: one row per question that the commits mention. Columns are null if the commits say nothing about the
 * question itself, or nothing about its outcome.
 */
const NEWS = `
  SELECT question_id, title, category, url, event_id, position::DOUBLE AS position, option, source, source_id, outcome,
    epoch_ms(opened_at)::DOUBLE AS "openedAtMs",
    epoch_ms(closes_at)::DOUBLE AS "closesAtMs", epoch_ms(resolved_at)::DOUBLE AS "resolvedAtMs",
    epoch_ms(known_at)::DOUBLE AS "knownAtMs",
    epoch_ms(current_questions.recorded_at)::DOUBLE AS "recordedAtMs",
    epoch_ms(greatest(current_questions.recorded_at, current_resolutions.recorded_at))::DOUBLE AS "updatedAtMs"
  FROM current_questions FULL JOIN current_resolutions USING (question_id)`
const IN_ORDER = 'ORDER BY closes_at, question_id'

type News = Pick<KnownQuestion, 'question_id'> & {
  [Column in Exclude<keyof KnownQuestion, 'file' | 'outcome'>]: KnownQuestion[Column] | null
} & { outcome: Outcome | null; recordedAtMs: number | null }

/** News about the question itself, not only about its outcome. */
type QuestionNews = Omit<KnownQuestion, 'file'> & { recordedAtMs: number }

/**
 * The rows that are taken in at once, while no call is served: some tens of milliseconds if a million
 * questions are known.
 */
const ROWS_AT_ONCE = 10_000

/** A page that is asked for. `ids` are those of the only questions that it may have. */
export interface QuestionsAsked extends PageRequest, Omit<Filters, 'among'> {
  ids?: readonly string[] | undefined
}

interface QuestionSource {
  store: Store
  local: LocalFiles
  openDatabase: () => Promise<Database>
  now: () => Date
  /** The imports that are undone by the current release; none if it is left out. */
  undone?: () => readonly UndoneImport[]
}

export class QuestionBook {
  readonly #source: QuestionSource
  readonly #logs: { questions: TableLog; resolutions: TableLog }
  readonly #byId = new Map<string, KnownQuestion>()
  /** Outcomes of questions that the store has not shown yet. */
  readonly #early = new Map<string, News>()
  readonly #listing = new Listing()
  readonly #events: Events
  readonly #texts: Texts
  /** Questions of which one table has several rows. */
  readonly #questionsOfSeveralRows = new Set<string>()
  readonly #changes: Changes
  /** Categories and sources, each stored once, however many questions have it. */
  readonly #shared = new Map<string, string>()
  /**
   * How many data files of each table are in memory. A failed read leaves the numbers as they are, so that
   * the next one tries again.
   */
  #read = { questions: 0, resolutions: 0 }
  /** The imports that were undone when the tables were last read. */
  #undone: readonly UndoneImport[] = []
  readonly #firstRead = Promise.withResolvers<void>()
  #isRead = false
  #refreshing: Promise<void> | undefined
  #reopened = 0

  constructor(source: QuestionSource) {
    const { store } = source
    this.#source = source
    this.#texts = new Texts(source)
    this.#events = new Events(source)
    this.#changes = new Changes(source)
    this.#logs = {
      questions: new TableLog(store, 'questions'),
      resolutions: new TableLog(store, 'resolutions'),
    }
  }

  /**
   * Reads the tables at the first call, and only their new data files later. Calls made during a refresh
   * share it.
   */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#follow()
      .then(() => {
        this.#isRead = true
        this.#firstRead.resolve()
      })
      .finally(() => {
        this.#refreshing = undefined
      })
    return this.#refreshing
  }

  /** As `refresh`, but shares none that began before this call: it sees all that was written before. */
  async refreshAnew(): Promise<void> {
    await this.#refreshing?.catch(() => undefined)
    return this.refresh()
  }

  /**
   * Whether all questions that the tables had at some time are in memory. Until then, a missing question
   * proves nothing.
   */
  get isRead(): boolean {
    return this.#isRead
  }

  /** Resolves once the questions are in memory for the first time. */
  get firstRead(): Promise<void> {
    return this.#firstRead.promise
  }

  /** Grows with the table of questions, so that it changes whenever a title changes. */
  get version(): number {
    return this.#read.questions + this.#undone.length
  }

  /**
   * Returns a question. If it is not in memory yet, the tables are read first.
   *
   * @throws ServiceError `notFound`.
   */
  async find(questionId: string): Promise<KnownQuestion> {
    const found = this.known(questionId) ?? (await this.findAll([questionId]))[0]
    return found ?? noSuchQuestion(questionId)
  }

  /** Returns questions in the order of the ids; undefined for a question that is not in the tables either. */
  async findAll(questionIds: readonly string[]): Promise<(KnownQuestion | undefined)[]> {
    if (questionIds.some((id) => !this.#byId.has(id))) await this.refresh()
    return questionIds.map((id) => this.#byId.get(id))
  }

  /** Returns a question if it is in memory. */
  known(questionId: string): KnownQuestion | undefined {
    return this.#byId.get(questionId)
  }

  /** The versions up to which the node follows the tables, without what was undone. */
  get versions() {
    return this.#versions(this.#undone)
  }

  #versions(undone: readonly UndoneImport[]) {
    const { questions, resolutions } = this.#logs
    const leftOut = { undone_imports: undone }
    return {
      questions: without({ ...questions.current, table: 'questions' as const }, leftOut),
      resolutions: without({ ...resolutions.current, table: 'resolutions' as const }, leftOut),
    }
  }

  /** How often a question that was over was opened again: its close put off, or its resolution withdrawn. */
  get reopened(): number {
    return this.#reopened
  }

  /**
   * Returns the titles of questions in the order of the ids; null for a question that is not in the tables.
   */
  async titlesOf(questionIds: readonly string[]): Promise<(string | null)[]> {
    const found = await this.findAll(questionIds)
    return found.map((question) => question?.title ?? null)
  }

  /** @throws ServiceError `invalid` for a cursor that no page gave. */
  page({ ids, ...request }: QuestionsAsked): QuestionPage {
    const among = ids && [...new Set(ids)].flatMap((id) => this.#byId.get(id) ?? []).sort(byClose)
    const { questions, next_cursor } = this.#listing.page({ ...request, among })
    return { questions: questions.map((question) => this.shown(question, request.now)), next_cursor }
  }

  /** A question as it is shown at an instant, with its event. */
  shown(question: KnownQuestion, now: Date): ListedQuestion {
    const { position, option, ...shown } = shownAt(question, now)
    const { event_id } = shown
    if (event_id === null) return { ...shown, event: null }
    const { title, kind } = this.#events.find(event_id) ?? UNTOLD
    const questions = this.#listing.ofEvent(event_id).length
    return { ...shown, event: { event_id, title, kind, position, option, questions } }
  }

  /**
   * Returns an event with its questions, first those of lesser positions, then those that close earlier; of
   * an event with more than `MOST_OF_EVENT` the first that close. If it is not in memory yet, the tables are
   * read first.
   *
   * @throws ServiceError `notFound` for an event without a question.
   */
  async event(eventId: string): Promise<EventQuestions> {
    if (this.#listing.ofEvent(eventId).length === 0) await this.refresh()
    const all = this.#listing.ofEvent(eventId)
    if (all.length === 0) {
      throw new ServiceError('notFound', `no question has the event_id ${JSON.stringify(eventId)}`)
    }
    const place = ({ position }: KnownQuestion) => position ?? Number.MAX_SAFE_INTEGER
    const questions = all.slice(0, MOST_OF_EVENT).sort((a, b) => place(a) - place(b) || byClose(a, b))
    return { event: this.#events.find(eventId), questions, count: all.length }
  }

  /** An event as it is shown at an instant. @throws ServiceError as `event` does. */
  async shownEvent(event_id: string, now: Date): Promise<Event> {
    const { event, questions, count } = await this.event(event_id)
    return {
      event_id,
      ...(event ?? { ...UNTOLD, source: null, source_id: null, url: null }),
      question_count: count,
      questions: questions.map((question) => {
        const { event_id: _, ...shown } = shownAt(question, now)
        return shown
      }),
    }
  }

  /** Returns the first questions that need an operator at an instant, up to `limit` of each kind. */
  due(now: Date, limit: number): DueQuestions {
    return this.#listing.due(now, limit)
  }

  /** Counts all questions at an instant, and those of the largest categories, at most `most`. */
  counts(now: Date, most: number): QuestionCounts {
    return this.#listing.counts(now, most)
  }

  /**
   * Returns the texts of questions, in their order. `asker` counts further calls before texts are read
   * that are not in memory.
   *
   * @throws ServiceError `corrupt` for a data file that is damaged or missing.
   */
  textsOf(questions: readonly KnownQuestion[], asker: Asker = SERVICE): Promise<QuestionTexts[]> {
    return this.#texts.textsOf(questions, asker)
  }

  /**
   * Returns how a question and its outcome were changed, in the order in which it was said.
   *
   * @throws ServiceError `corrupt` for a data file that is damaged or missing.
   */
  async changesOf(
    { question_id }: Pick<KnownQuestion, 'question_id'>,
    asker: Asker = SERVICE,
  ): Promise<readonly Change[]> {
    if (!this.#questionsOfSeveralRows.has(question_id)) return []
    return this.#changes.changesOf(question_id, this.versions, asker)
  }

  async #follow(): Promise<void> {
    // Resolutions come first, so that the question of every outcome is read too, unless the store fails to
    // show it.
    await this.#logs.resolutions.refresh()
    await this.#logs.questions.refresh()
    const undone = this.#source.undone?.() ?? []
    const all = this.#versions([])
    this.#texts.follow(all.questions.files)
    const freshOf = <T extends TableVersion & { table: keyof QuestionVersions }>(version: T): T =>
      without(
        { ...version, files: version.files.slice(this.#read[version.table]) },
        { undone_imports: undone },
      )
    const fresh = { questions: freshOf(all.questions), resolutions: freshOf(all.resolutions) }
    await this.#events.follow(undone)
    if (fresh.questions.files.length + fresh.resolutions.files.length > 0) await this.#takeInNews(fresh)
    // Imports are undone one by one, and none comes back.
    if (undone.length > this.#undone.length) await this.#takeBack(undone)
    this.#undone = undone
    this.#read = { questions: all.questions.files.length, resolutions: all.resolutions.files.length }
  }

  async #takeInNews(fresh: QuestionVersions): Promise<void> {
    const { local, openDatabase } = this.#source
    const read = async (database: Database) => {
      for (const table of QUESTION_TABLES) await attachCurrent(database, local, { ...fresh[table], table })
      const again = await database.rows<Pick<News, 'question_id'>>(
        QUESTION_TABLES.map((table) => subjectsOfSeveralRows(table, table)).join(' UNION '),
      )
      for (const { question_id } of again) this.#questionsOfSeveralRows.add(question_id)
      return inBatches(database, `${NEWS} ${IN_ORDER}`)
    }
    await this.#takeInTurn(await local.reading(() => withDatabase(openDatabase, read)))
  }

  /** Reads the questions of undone imports again, as they are without those. */
  async #takeBack(undone: readonly UndoneImport[]): Promise<void> {
    const { local, openDatabase } = this.#source
    const versions = this.#versions(undone)
    const read = async (database: Database) => {
      for (const table of QUESTION_TABLES) {
        const { undone: files = [], ...version } = versions[table]
        await attachTable(database, local, { ...version, files }, 0, `undone_${table}`)
        await attachTable(database, local, version)
      }
      const ids = QUESTION_TABLES.map((table) => `SELECT question_id FROM undone_${table}`).join(' UNION ')
      for (const table of QUESTION_TABLES) {
        const rows = `(FROM ${table} SEMI JOIN (${ids}) USING (question_id))`
        await database.run(`CREATE OR REPLACE VIEW current_${table} AS ${currentRows(table, rows)}`)
      }
      return inBatches(database, `FROM (${ids}) LEFT JOIN (${NEWS}) USING (question_id)`)
    }
    await this.#takeInTurn(await local.reading(() => withDatabase(openDatabase, read)), true)
  }

  async #takeInTurn(batches: News[][], isWhole = false): Promise<void> {
    for (let batch = batches.shift(); batch; batch = batches.shift()) {
      this.#takeIn(batch, isWhole)
      await othersHaveRun()
    }
  }

  /** @param isWhole whether a row tells all of its question, and not only what is new. */
  #takeIn(news: readonly News[], isWhole = false): void {
    const now = this.#source.now()
    const gone: KnownQuestion[] = []
    const come: KnownQuestion[] = []
    for (const row of news) {
      const id = row.question_id
      const known = this.#byId.get(id)
      const question = isWhole
        ? this.#updated(undefined, row, undefined)
        : this.#updated(known, row, this.#early.get(id))
      if (known) gone.push(known)
      if (isWhole || (known && (row.title !== null || known.outcome !== null)))
        this.#questionsOfSeveralRows.add(id)
      if (!question) {
        this.#byId.delete(id)
        this.#early.set(id, row)
        continue
      }
      this.#early.delete(id)
      if (known && isOverAt(known, now.getTime()) && !isOverAt(question, now.getTime())) this.#reopened += 1
      come.push(question)
      this.#byId.set(id, question)
    }
    this.#listing.change(gone, come, now)
  }

  /**
   * Returns a question, updated by later commits and by an outcome that came early; undefined if the question
   * is not known yet.
   */
  #updated(known: KnownQuestion | undefined, news: News, early: News | undefined): KnownQuestion | undefined {
    const question = news.title === null ? known : this.#questionFrom(news as QuestionNews)
    const resolution = news.outcome === null ? (known ?? early) : news
    const outcome = resolution?.outcome === 'open' ? null : (resolution?.outcome ?? null)
    return (
      question && {
        question_id: question.question_id,
        title: question.title,
        category: question.category,
        url: question.url,
        event_id: question.event_id,
        position: question.position,
        option: question.option,
        source: question.source,
        source_id: question.source_id,
        openedAtMs: question.openedAtMs,
        closesAtMs: question.closesAtMs,
        outcome,
        resolvedAtMs: outcome === null ? null : (resolution?.resolvedAtMs ?? null),
        knownAtMs: outcome === null ? null : (resolution?.knownAtMs ?? null),
        updatedAtMs: Math.max(question.updatedAtMs, resolution?.updatedAtMs ?? -Infinity),
        file: question.file,
      }
    )
  }

  #questionFrom(news: QuestionNews): KnownQuestion {
    const file = this.#texts.fileOf(news.question_id, news.recordedAtMs)
    return { ...news, category: this.#once(news.category), source: this.#once(news.source), file }
  }

  #once(text: string | null): string | null {
    if (text === null) return null
    const first = this.#shared.get(text)
    if (first === undefined) this.#shared.set(text, text)
    return first ?? text
  }
}

/** The most questions of an event that are told or forecast together: a series may have any number. */
export const MOST_OF_EVENT = 1_000

interface EventQuestions {
  /** Undefined for an event without a row. */
  event: KnownEvent | undefined
  questions: KnownQuestion[]
  /** How many questions the event has. */
  count: number
}

/** The title and the kind of an event without a row. */
const UNTOLD = { title: null, kind: 'independent' } as const

async function inBatches(database: Database, query: string): Promise<News[][]> {
  const batches: News[][] = []
  for await (const rows of database.rowBlocks<News>(query)) {
    const batch = batches.at(-1)
    if (batch && batch.length < ROWS_AT_ONCE) batch.push(...rows)
    else batches.push(rows)
  }
  return batches
}

/** Returns the error of a node that has not read the questions yet. */
export function notRead(): ServiceError {
  return new ServiceError(
    'unavailable',
    'this node has not read the questions yet; try again, since another node may have',
    { expose: true, retryAfterS: 2 },
  )
}

/** @throws ServiceError `notFound`, always. */
export function noSuchQuestion(questionId: string): never {
  throw new ServiceError('notFound', `there is no question ${questionId}`)
}
