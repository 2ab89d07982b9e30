// The second step of an engine: computes one entity's scores from its pairs in order.
import type { Block } from '../../schemas/columns.ts'
import { type Circumstances, type EntityScores, scoreEntity } from '../scoring/entity.ts'
import { type Listing, listingOf } from '../scoring/categories.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { SCORED_COLUMNS } from '../scoring/pairs.ts'
import { runsOf } from './rows.ts'

/**
 * Scores one entity after another. The pairs must be in the order
 * (entity, resolved_at, question_id). `circumstances` has those of each entity at its number.
 */
export async function* scoreEntities(
  methodology: Methodology,
  circumstances: readonly Circumstances[],
  pairs: AsyncIterable<Block<typeof SCORED_COLUMNS>>,
): AsyncIterable<{ entity: number; scores: EntityScores; listing: Listing }> {
  for await (const { number, rows } of runsOf(pairs, SCORED_COLUMNS, 'entity')) {
    const scores = scoreEntity(methodology, rows, circumstances[number]!)
    yield { entity: number, scores, listing: listingOf(methodology, rows) }
  }
}
