// Lines of entities with their scores, for two kinds of files.
import { FACT_NAMES, type HeldFacts } from '../../../schemas/entity-facts.ts'
import { ENTITY_TYPES, type EntityType } from '../../../schemas/tables.ts'
import type { Listing } from '../../scoring/categories.ts'
import type { EntityScores } from '../../scoring/entity.ts'
import type { Methodology } from '../../scoring/methodology.ts'
import { type Boards, boardsOf } from '../../scoring/ranking.ts'
import { type RankedEntity, rankAmong } from '../payloads.ts'
import { type Fields, formatOf, jsonInField, wholeOf } from './lines.ts'
import { type FieldOfRelease, entityTypeOf } from './tally.ts'

const ENTITY_LINE_COLUMNS = [
  'unit',
  'entity',
  'entity_type',
  'entity_id',
  'facts',
  'pairs',
  'scores',
  'listing',
] as const
export const ENTITY_LINES = formatOf('an entity', ENTITY_LINE_COLUMNS, { entity: 'number' })
const ENTITY_AT = ENTITY_LINES.at

/** Returns a function that ranks the entity of a line. */
export function rankedIn(methodology: Methodology, { voiceRule, tallies }: FieldOfRelease) {
  const boards = Object.fromEntries(
    ENTITY_TYPES.map((entityType) => [entityType, boardsOf(tallies[entityType])]),
  ) as Record<EntityType, Boards>
  return (fields: Fields): RankedEntity => {
    const text = (name: keyof typeof ENTITY_AT) => fields[ENTITY_AT[name]]!
    const entityType = entityTypeOf(text('entity_type'))
    return rankAmong(methodology, voiceRule, boards[entityType], {
      entityType,
      entityId: text('entity_id'),
      facts: factsOf(jsonInField(text('facts')) as Partial<HeldFacts>),
      pairs: wholeOf(text('pairs')),
      scores: jsonInField(text('scores')) as EntityScores,
      listing: jsonInField(text('listing')) as Listing,
    })
  }
}

/** Returns all facts, given those that are not null. */
function factsOf(facts: Partial<HeldFacts>): HeldFacts {
  return Object.fromEntries(FACT_NAMES.map((name) => [name, facts[name] ?? null])) as HeldFacts
}
