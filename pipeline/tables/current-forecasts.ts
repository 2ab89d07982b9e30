// Reads the current forecasts of agents from the tables, on questions that are not over.
import type { PipelineComponents } from '../components.ts'
import { literal, withDatabase } from '../duckdb.ts'
import type { TableVersion } from './delta.ts'
import { RESOLVED, attachCurrent, attachTable } from './views.ts'

/** The last forecast of an agent on a question. */
export interface CurrentForecastRow {
  forecast_id: string
  agent_id: string
  question_id: string
  /** Null for a withdrawal. */
  probability: number | null
  atMs: number
}

/** The components that read tables. */
export type CurrentForecastSource = Pick<PipelineComponents, 'local' | 'openDatabase'>

/** The versions of the tables that decide which forecasts stand. */
export interface CurrentForecastVersions {
  questions: TableVersion & { table: 'questions' }
  resolutions: TableVersion & { table: 'resolutions' }
  forecasts: TableVersion
}

/** The most by which the clocks of two nodes differ. */
const CLOCKS_MS = 120_000

/**
 * Reads the forecasts that stand at `now`, from the data files of forecasts from the number `from` on. Skips
 * files older than the oldest question that is not over, because they have no forecast on such a question.
 *
 * @param take called with some rows at a time, so that other work runs in between.
 * @throws ServiceError `corrupt` for a data file that is damaged or missing.
 */
export async function currentForecastRows(
  { local, openDatabase }: CurrentForecastSource,
  { questions, resolutions, forecasts }: CurrentForecastVersions,
  from: number,
  now: Date,
  take: (rows: CurrentForecastRow[]) => void,
): Promise<void> {
  await local.reading(() =>
    withDatabase(openDatabase, async (database) => {
      await attachCurrent(database, local, questions)
      await attachCurrent(database, local, resolutions)
      await database.run(
        `CREATE TEMP TABLE lasting AS SELECT question_id FROM current_questions
         ANTI JOIN ${RESOLVED} USING (question_id)
         WHERE closes_at > ${literal(now.toISOString())}::TIMESTAMPTZ`,
      )
      const [first] = await database.rows<{ ms: number | null }>(
        `SELECT epoch_ms(min(recorded_at))::DOUBLE AS ms FROM questions SEMI JOIN lasting USING (question_id)`,
      )
      if (typeof first?.ms !== 'number') return
      const earliest = new Date(first.ms - CLOCKS_MS).toISOString().slice(0, 10)
      const found = forecasts.files.findIndex(
        ({ recordedDate }, index) => index >= from && recordedDate >= earliest,
      )
      if (found < 0) return
      await attachTable(database, local, forecasts, found)
      for await (const rows of database.rowBlocks<CurrentForecastRow>(CURRENT)) take(rows)
    }),
  )
}

/**
 * Grain: one row per agent and question. Of forecasts made at the same instant the one with the greatest id
 * counts.
 */
const CURRENT = `
  SELECT latest.forecast_id, entity_id AS agent_id, question_id, latest.probability,
    epoch_ms(latest.forecast_at)::DOUBLE AS "atMs"
  FROM (
    SELECT entity_id, question_id, max(struct_pack(forecast_at, forecast_id, probability)) AS latest
    FROM forecasts SEMI JOIN lasting USING (question_id) WHERE entity_type = 'agent' GROUP BY ALL
  )`
