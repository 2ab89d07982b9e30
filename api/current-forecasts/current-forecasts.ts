// The current forecasts of each agent on open questions, as this node knows them. They are built from the
// table of forecasts, and kept up to date with the writes of this node and of others.
import pMap from 'p-map'
import { inboxPathAt, inboxPrefix, inboxTimeMs, isInboxPath } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { TableLog } from '../../pipeline/tables/delta-log.ts'
import { readInbox } from '../../pipeline/tables/inbox.ts'
import {
  type CurrentForecastSource as TableSource,
  type CurrentForecastRow,
  currentForecastRows,
} from '../../pipeline/tables/current-forecasts.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { CurrentForecasts as Page } from '../../schemas/answers.ts'
import type { ForecastRow, Row } from '../../schemas/tables.ts'
import type { QuestionBook } from '../questions/book.ts'
import { byClose, indexAfter } from '../questions/order.ts'
import { cursorOf, decodeCursor } from '../questions/page.ts'
import { type KnownQuestion, isOverAt, statusAt } from '../questions/question.ts'
import { type HeldForecast, HeldForecasts } from './held.ts'
import { ForecastInstants } from './instants.ts'
import { READS_AT_ONCE } from '../../pipeline/store/store.ts'

/** Only an import writes larger objects to the inbox, and it takes them into the table itself. */
const MOST_INBOX_BYTES = 4 * 1024 * 1024
/**
 * An object that turns up after the newest one may have been named this much earlier: each of two clocks may
 * differ from the store's by a minute, and a write may take a minute.
 */
const LATE_MS = 4 * 60_000
/** The pause between two looks for forecasts on questions that are over. */
const DROP_MS = 60_000

/** The columns of a forecast that memory holds. */
type WrittenForecast = Pick<
  ForecastRow,
  'entity_type' | 'entity_id' | 'question_id' | 'forecast_id' | 'probability' | 'forecast_at'
>

interface Source extends TableSource {
  store: Store
  questions: QuestionBook
  now: () => Date
}

export interface CurrentForecastsRequest {
  agentId: string
  questionId: string | undefined
  limit: number
  cursor: string | undefined
}

export class CurrentForecasts {
  readonly #source: Source
  readonly #log: TableLog
  readonly #held = new HeldForecasts()
  readonly #instants = new ForecastInstants()
  /**
   * How many data files of the table are in memory. A failed read leaves the number as it is, so that the
   * next look tries again.
   */
  #files = 0
  #reopened: number
  /** The objects of the inbox that are in memory and that a look may still list. */
  readonly #taken = new Set<string>()
  /** When the newest object in memory was named. */
  #newestMs = -Infinity
  /**
   * The value of `#newestMs` when the last look that read every undamaged object began. A look lists no older
   * objects except those that may be late.
   */
  #wholeMs = -Infinity
  #droppedMs: number
  /** Whether the last look has read every undamaged object. */
  #isCurrent = false
  #refreshing: Promise<void> | undefined

  constructor(source: Source) {
    this.#source = source
    this.#log = new TableLog(source.store, 'forecasts')
    this.#reopened = source.questions.reopened
    this.#droppedMs = source.now().getTime()
  }

  /** How many forecasts are held. */
  get size(): number {
    return this.#held.size
  }

  /** Whether an agent has a current forecast on a question. */
  has(agentId: string, questionId: string): boolean {
    return typeof this.#held.forecastsOf(agentId).get(questionId)?.probability === 'number'
  }

  /**
   * Returns the time of forecasts that an agent makes now. On one node no two on a question have the same.
   */
  instantOf(agentId: string, questionIds: readonly string[], now: Date): Date {
    const own = this.#held.forecastsOf(agentId)
    const isHeld = (id: string, atMs: number) => own.get(id)?.atMs === atMs
    return new Date(this.#instants.next(agentId, questionIds, now.getTime(), isHeld))
  }

  /** How many agents have a forecast on an open question; undefined while the node cannot tell. */
  agentsOn(questionId: string): number | undefined {
    return this.#isCurrent ? this.#held.agentsOn(questionId) : undefined
  }

  /**
   * Reads the forecasts that were written since the last call; the first call reads all that may be current.
   * Calls made during a refresh share it.
   */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#follow()
      .catch((error: unknown) => {
        // One damaged object must not keep all others from callers.
        if (!isCorrupt(error)) this.#isCurrent = false
        throw error
      })
      .finally(() => {
        this.#refreshing = undefined
      })
    return this.#refreshing
  }

  /**
   * Takes in the rows that this node has written to an object of the inbox, before they are
   * acknowledged. If this node does not know one of their questions yet, the next look reads the object.
   */
  wrote(path: string, rows: readonly WrittenForecast[]): void {
    if (this.#takeRows(rows)) this.#noteTaken(path)
  }

  /**
   * Returns a page of an agent’s current forecasts on open questions, in the order in which these close.
   *
   * @throws ServiceError `unavailable` until the node has read the table and while the store does not answer,
   *   `invalid` for a cursor that no page gave.
   */
  page({ agentId, questionId, limit, cursor }: CurrentForecastsRequest): Page {
    if (!this.#isCurrent) throw notCurrent()
    const after = cursor === undefined ? undefined : decodeCursor(cursor)
    const own = this.#held.forecastsOf(agentId)
    const nowMs = this.#source.now().getTime()
    // `first` keeps only the first questions in order, one more than the page has, because an agent may have
    // very many.
    const first: KnownQuestion[] = []
    for (const id of questionId === undefined ? own.keys() : [questionId]) {
      const question = this.#source.questions.known(id)
      if (!question || !this.has(agentId, id) || statusAt(question, nowMs) !== 'open') continue
      if (after && byClose(question, after) <= 0) continue
      if (first.length > limit && byClose(question, first.at(-1)!) > 0) continue
      first.splice(indexAfter(first, question), 0, question)
      if (first.length > limit + 1) first.pop()
    }
    const forecasts = first.slice(0, limit).map(({ question_id, title, closesAtMs }) => {
      const { forecast_id, probability, atMs } = own.get(question_id)!
      return {
        forecast_id,
        question_id,
        title,
        closes_at: new Date(closesAtMs).toISOString(),
        probability: probability!,
        forecast_at: new Date(atMs).toISOString(),
      }
    })
    const next_cursor = first.length > limit ? cursorOf(first[limit - 1]!) : null
    return { agent_id: agentId, forecasts, next_cursor }
  }

  async #follow(): Promise<void> {
    const { reopened } = this.#source.questions
    const isReopened = reopened !== this.#reopened
    if (isReopened) this.#lookAgain()
    const newestMs = this.#newestMs
    // The inbox is listed before the log is read, so that rows that move to the table in between are in one
    // of the two.
    const waiting = await this.#waiting()
    await this.#log.refresh()
    const { files } = this.#log.current
    const from = isReopened ? 0 : this.#files
    if (from < files.length) await this.#load(from)
    this.#files = files.length
    this.#reopened = reopened
    const failure = await this.#takeWaiting(waiting)
    if (!failure || isCorrupt(failure)) this.#wholeMs = newestMs
    this.#isCurrent = true
    await this.#dropOver()
    if (failure) throw failure
  }

  /**
   * Makes a look read the whole inbox, as it reads all files of the table: forecasts on a question that was
   * over are no longer in memory, and the question is open again.
   */
  #lookAgain(): void {
    this.#taken.clear()
    this.#wholeMs = -Infinity
  }

  /** Lists the objects of the inbox that are not in memory. */
  async #waiting(): Promise<string[]> {
    const { store, now } = this.#source
    const after = inboxPathAt('forecasts', Math.min(this.#wholeMs, now().getTime()) - LATE_MS)
    for (const path of this.#taken) if (path <= after) this.#taken.delete(path)
    // A node that writes hundreds of objects a second skips all of its own.
    const isNew = (path: string) => !this.#taken.has(path) && isInboxPath('forecasts', path)
    const waiting: string[] = []
    for await (const { path, sizeBytes } of store.list(inboxPrefix('forecasts'), after, isNew)) {
      if (sizeBytes <= MOST_INBOX_BYTES) waiting.push(path)
    }
    return waiting
  }

  /** Reads the data files of the table from the number `from` on. */
  async #load(from: number): Promise<void> {
    const { questions, now } = this.#source
    await questions.refresh()
    const take = (rows: CurrentForecastRow[]) => {
      const nowMs = now().getTime()
      for (const { agent_id, question_id, ...forecast } of rows) {
        const question = questions.known(question_id)
        if (question) this.#take(agent_id, question, nowMs, forecast)
      }
    }
    const versions = { ...questions.versions, forecasts: this.#log.current }
    await currentForecastRows(this.#source, versions, from, now(), take)
  }

  /**
   * Takes in every undamaged object, even if others are damaged. Returns a failure, if any: `corrupt` only if
   * there is no other.
   */
  async #takeWaiting(paths: readonly string[]): Promise<Error | undefined> {
    const failures: Error[] = []
    const read = async (path: string) => {
      try {
        const rows = await readInbox(this.#source.store, path)
        // An object that is gone is in the table.
        if (!rows) return
        const forecasts = rows as readonly Row[] as readonly ForecastRow[]
        if (!this.#takeRows(forecasts)) {
          await this.#source.questions.refresh()
          this.#takeRows(forecasts)
        }
        this.#noteTaken(path)
      } catch (error) {
        failures.push(error as Error)
      }
    }
    await pMap(paths, read, { concurrency: READS_AT_ONCE })
    return failures.find((failure) => !isCorrupt(failure)) ?? failures[0]
  }

  #noteTaken(path: string): void {
    this.#taken.add(path)
    const namedMs = inboxTimeMs(path)
    if (namedMs > this.#newestMs) this.#newestMs = namedMs
  }

  /**
   * Takes in the rows whose questions are known, and returns whether all are. Taking a row again changes
   * nothing.
   */
  #takeRows(rows: readonly WrittenForecast[]): boolean {
    const { questions, now } = this.#source
    const nowMs = now().getTime()
    let areKnown = true
    for (const { entity_type, entity_id, question_id, forecast_id, probability, forecast_at } of rows) {
      const question = questions.known(question_id)
      if (!question) areKnown = false
      else if (entity_type === 'agent') {
        this.#take(entity_id, question, nowMs, { forecast_id, probability, atMs: forecast_at.getTime() })
      }
    }
    return areKnown
  }

  #take(agentId: string, question: KnownQuestion, nowMs: number, forecast: HeldForecast): void {
    // The key is the question's own string, so that memory holds one however many agents forecast.
    if (!isOverAt(question, nowMs)) this.#held.take(agentId, question.question_id, forecast)
  }

  async #dropOver(): Promise<void> {
    const nowMs = this.#source.now().getTime()
    if (nowMs - this.#droppedMs < DROP_MS) return
    this.#droppedMs = nowMs
    await this.#held.drop((id) => {
      const question = this.#source.questions.known(id)
      return !question || isOverAt(question, nowMs)
    })
  }
}

function isCorrupt(error: unknown): boolean {
  return error instanceof ServiceError && error.kind === 'corrupt'
}

/** Returns the error of a node that cannot tell which forecasts are current. */
export function notCurrent(): ServiceError {
  return new ServiceError(
    'unavailable',
    'this node still reads which forecasts stand, or its store does not answer; try again, since another node may know it',
    { expose: true, retryAfterS: 2 },
  )
}
