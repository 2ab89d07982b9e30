// Finds the people whose forecasts were erased since the release before, and what that corrects.
import type { Erasure } from '../../schemas/manifests.ts'
import type { ScoredTable } from '../../schemas/tables.ts'
import type { TableVersion } from '../tables/delta.ts'
import { rowsOfPeople } from '../tables/left-out.ts'
import { attachTable } from '../tables/views.ts'
import { type Before, type MovedContext, createMoved, dropMoved } from './moved.ts'

/**
 * Lists whom the release leaves out and the previous one does not, by id; undefined if there is nobody. The
 * list follows from the previous manifest and the tables alone, so that an audit can derive it again.
 */
export async function erasuresSince(
  context: MovedContext,
  previous: Before,
  versions: Record<ScoredTable, TableVersion>,
  asOf: Date,
): Promise<Erasure[] | undefined> {
  const { database, local } = context
  const { erased = [], ...whole } = versions.forecasts
  const before = new Set(previous?.erased_people?.map(({ user_id }) => user_id))
  const fresh = erased.filter(({ user_id }) => !before.has(user_id))
  if (fresh.length === 0) return undefined
  await attachTable(database, local, whole, 0, 'whole_forecasts')
  await database.run(
    `CREATE OR REPLACE TEMP TABLE erased_forecast AS SELECT entity_id AS user_id, forecast_id, question_id
     FROM whole_forecasts WHERE ${rowsOfPeople('forecasts', fresh)}`,
  )
  await database.run(
    `CREATE OR REPLACE TEMP TABLE changed AS SELECT DISTINCT question_id FROM erased_forecast`,
  )
  await createMoved(context, previous, versions, asOf)
  const rows = await database.rows<{
    user_id: string
    forecasts: bigint
    questions: bigint
    pairs: bigint | null
  }>(
    `WITH asked AS (SELECT DISTINCT user_id, question_id FROM erased_forecast)
     SELECT user_id, forecasts, questions, pairs
     FROM (SELECT user_id, count(DISTINCT forecast_id) AS forecasts FROM erased_forecast GROUP BY user_id)
     JOIN (SELECT user_id, count(*) FILTER (question_id IN (SELECT question_id FROM scored_at_either)) AS questions,
         sum(pairs)::BIGINT AS pairs
       FROM asked LEFT JOIN moved USING (question_id) GROUP BY user_id) USING (user_id)`,
  )
  await dropMoved(context)
  await database.run('DROP TABLE erased_forecast')
  const moved = new Map(rows.map(({ user_id, ...counts }) => [user_id, counts]))
  return fresh.map((person) => {
    const { forecasts, questions, pairs } = moved.get(person.user_id) ?? NOTHING
    return {
      ...person,
      forecasts: Number(forecasts),
      questions: Number(questions),
      pairs: Number(pairs ?? 0n),
    }
  })
}

/** A person of whom the tables have no forecast. */
const NOTHING = { forecasts: 0n, questions: 0n, pairs: 0n }
