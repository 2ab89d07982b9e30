// The second step of an engine: one entity's pairs in order become its scores.
import type { Block } from '../../schemas/columns.ts'
import { type EntityScores, scoreEntity } from '../scoring/entity.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { SCORED_COLUMNS } from '../scoring/pairs.ts'
import { runsOf } from './rows.ts'

export interface EntityResult {
  /** The entity's number. */
  entity: number
  /** The questions that it is scored on. */
  pairs: number
  scores: EntityScores
}

/** Scores the entities as they come. The pairs are in the order (entity, resolved_at, question_id). */
export async function* scoreEntities(
  methodology: Methodology,
  pairs: AsyncIterable<Block<typeof SCORED_COLUMNS>>,
): AsyncIterable<EntityResult> {
  for await (const { key, rows } of runsOf(pairs, SCORED_COLUMNS, 'entity')) {
    yield { entity: key, pairs: rows.rowCount, scores: scoreEntity(methodology, rows) }
  }
}
