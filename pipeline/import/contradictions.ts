// Forecasts that contradict each other: of one forecaster on one question at the same millisecond, with
// different probabilities. Only one of them could count, and nothing says which.
import type { Database } from '../duckdb.ts'
import type { IncomingRows } from './read-file.ts'
import { NONE_REJECTED, type Rejected, SHOWN } from './rejected.ts'
import { countOf } from './take-in.ts'

const INSTANT = 'entity_type, entity_id, question_id, forecast_at'

/**
 * Grain: one row per forecast of `fresh` that contradicts a known forecast or an earlier row of the file. No
 * forecast of `fresh` is known, so a known one of the same instant has another probability.
 */
const CONTRADICTIONS = `
  SELECT record, probability, known_id, known_probability, earlier_record, earlier_probability
  FROM (SELECT *, first_value(record) OVER same AS earlier_record, first_value(probability) OVER same AS earlier_probability
    FROM fresh WINDOW same AS (PARTITION BY ${INSTANT} ORDER BY record))
  LEFT JOIN (SELECT ${INSTANT}, min(forecast_id) AS known_id, first(probability ORDER BY forecast_id) AS known_probability
    FROM forecasts SEMI JOIN fresh USING (${INSTANT}) GROUP BY ALL) USING (${INSTANT})
  WHERE known_id IS NOT NULL OR earlier_record < record`

interface Contradiction {
  record: bigint
  probability: number | null
  known_id: string | null
  known_probability: number | null
  earlier_record: bigint
  earlier_probability: number | null
}

/**
 * Takes the contradicting forecasts out of `fresh`, and returns them as bad rows. Of several in the file the
 * first stays.
 */
export async function takeOutContradictions(database: Database, incoming: IncomingRows): Promise<Rejected> {
  // Most files have none, and counting is much faster than naming them.
  const [found] = await database.rows<{ any: boolean }>(
    `SELECT (SELECT count(DISTINCT hash(${INSTANT})) < count(*) FROM fresh)
       OR (SELECT count(*) FROM forecasts SEMI JOIN fresh USING (${INSTANT})) > 0 AS any`,
  )
  if (!found!.any) return NONE_REJECTED
  await database.run(`CREATE OR REPLACE TEMP TABLE contradiction AS ${CONTRADICTIONS}`)
  await database.run(
    'CREATE OR REPLACE TEMP TABLE fresh AS FROM fresh ANTI JOIN contradiction USING (record)',
  )
  const count = await countOf({ database }, 'contradiction')
  if (count === 0) return NONE_REJECTED
  const first = await database.rows<Contradiction>(`FROM contradiction ORDER BY record LIMIT ${SHOWN}`)
  const records = first.flatMap(({ record, earlier_record }) => [Number(record), Number(earlier_record)])
  const sorted = [...new Set(records)].toSorted((one, other) => one - other)
  const places = await incoming.placesOf(sorted)
  const placeOf = (record: bigint) => places[sorted.indexOf(Number(record))]!
  return {
    faults: first.map((row) => ({
      pointer: placeOf(row.record),
      detail: `probability is ${probabilityText(row.probability)}, but ${
        row.known_id === null
          ? `${placeOf(row.earlier_record)} has ${probabilityText(row.earlier_probability)}`
          : `the known forecast ${row.known_id} has ${probabilityText(row.known_probability)}`
      } for the same forecaster and question at the same millisecond`,
    })),
    count,
    byReason: [
      { reason: 'another forecast of the same forecaster and question at the same millisecond', count },
    ],
  }
}

const probabilityText = (probability: number | null) =>
  probability === null ? 'withdrawn' : String(probability)
