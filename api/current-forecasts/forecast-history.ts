// Everything that an agent has said, page by page, read from the tables on request.
import type { PipelineComponents } from '../../pipeline/components.ts'
import { type Database, literal } from '../../pipeline/duckdb.ts'
import { type TableVersion, statisticsOf } from '../../pipeline/tables/delta.ts'
import { TableLog } from '../../pipeline/tables/delta-log.ts'
import { attachTable } from '../../pipeline/tables/views.ts'
import type { CurrentForecast } from '../../schemas/answers.ts'
import { CALLS_OF_READ, DatabaseInTurn } from '../questions/database-in-turn.ts'
import type { Asker } from '../turns.ts'

/** The most rows of the table that a page looks through; a single data file may have more. */
const ROWS_AT_ONCE = 4_000_000

type HistorySource = Pick<PipelineComponents, 'store' | 'local' | 'openDatabase'>

type PastForecast = Omit<CurrentForecast, 'title' | 'closes_at'>

interface PastForecastRow extends Omit<PastForecast, 'forecast_at' | 'rationale'> {
  forecast_at: Date
  recorded_at: Date
}

interface HistoryRequest {
  agentId: string
  questionId: string | undefined
  limit: number
  /** The number of a data file, and how many rows of the agent from there on were given before. */
  cursor: { file: number; given: number }
}

export class ForecastHistory {
  readonly #source: HistorySource
  readonly #rowsAtOnce: number
  readonly #logs: Record<'forecasts' | 'rationales', TableLog>
  readonly #database: DatabaseInTurn

  constructor(source: HistorySource, rowsAtOnce = ROWS_AT_ONCE) {
    this.#source = source
    this.#rowsAtOnce = rowsAtOnce
    this.#logs = {
      forecasts: new TableLog(source.store, 'forecasts'),
      rationales: new TableLog(source.store, 'rationales'),
    }
    this.#database = new DatabaseInTurn(source.openDatabase)
  }

  /**
   * Returns the forecasts and withdrawals that the table has, in the order in which they were recorded, and
   * where the next page begins. A page may be short. Rows never move, so that a place stays good.
   *
   * @throws ServiceError `corrupt` for a data file that is damaged or missing.
   */
  async page(
    { cursor, ...request }: HistoryRequest,
    asker: Asker,
  ): Promise<{ pastForecasts: PastForecast[]; next: string | null }> {
    await Promise.all([this.#logs.forecasts.refresh(), this.#logs.rationales.refresh()])
    const { current } = this.#logs.forecasts
    const end = endOfFiles(current, cursor.file, this.#rowsAtOnce)
    if (cursor.file >= end) return { pastForecasts: [], next: null }
    await asker.countMore(CALLS_OF_READ)
    const files = current.files.slice(0, end)
    const rows = await this.#read({ ...current, files }, { cursor, ...request }, asker)
    const pastForecasts = rows.slice(0, request.limit)
    if (rows.length > pastForecasts.length)
      return { pastForecasts, next: `${cursor.file}_${cursor.given + pastForecasts.length}` }
    return { pastForecasts, next: end < current.files.length ? `${end}_0` : null }
  }

  /** Reads one row more than the page has, to know whether there are others. */
  #read(
    version: TableVersion,
    { cursor, limit, ...whose }: HistoryRequest,
    asker: Asker,
  ): Promise<PastForecast[]> {
    const { local } = this.#source
    return this.#database.run(asker, (database) =>
      local.reading(async () => {
        await attachTable(database, local, version, cursor.file)
        const rows = await database.rows<PastForecastRow>(
          `${saidByAgent(whose)} LIMIT ${limit + 1} OFFSET ${cursor.given}`,
        )
        const reasons = await this.#rationalesOf(database, rows)
        return rows.map(({ recorded_at: _recorded, ...row }) => ({
          ...row,
          forecast_at: row.forecast_at.toISOString(),
          rationale: reasons.get(row.forecast_id) ?? null,
        }))
      }),
    )
  }

  async #rationalesOf(database: Database, rows: readonly PastForecastRow[]): Promise<Map<string, string>> {
    const { current } = this.#logs.rationales
    const firstDay = rows[0]?.recorded_at.toISOString().slice(0, 10) ?? ''
    const from = current.files.findIndex(({ recordedDate }) => recordedDate >= firstDay)
    if (rows.length === 0 || from < 0) return new Map()
    await attachTable(database, this.#source.local, current, from)
    const ids = rows.map(({ forecast_id }) => literal(forecast_id)).join(', ')
    const found = await database.rows<{ forecast_id: string; rationale: string }>(
      `SELECT forecast_id, rationale FROM rationales WHERE forecast_id IN (${ids})`,
    )
    return new Map(found.map(({ forecast_id, rationale }) => [forecast_id, rationale]))
  }
}

/** Grain: one row per forecast and withdrawal of the agent. */
function saidByAgent({ agentId, questionId }: Pick<HistoryRequest, 'agentId' | 'questionId'>): string {
  const onQuestion = questionId === undefined ? '' : `AND question_id = ${literal(questionId)}`
  return `SELECT forecast_id, question_id, probability, forecast_at, recorded_at FROM forecasts
    WHERE entity_type = 'agent' AND entity_id = ${literal(agentId)} AND source = 'api' ${onQuestion}
    QUALIFY row_number() OVER (PARTITION BY forecast_id ORDER BY recorded_at) = 1
    ORDER BY recorded_at, forecast_at, forecast_id`
}

/** Returns the number of the data file after those that one page looks through. */
function endOfFiles({ files }: TableVersion, from: number, most: number): number {
  let rows = 0
  for (let number = from; number < files.length; number++) {
    rows += statisticsOf(files[number]!).numRecords
    if (rows > most) return Math.max(number, from + 1)
  }
  return files.length
}
