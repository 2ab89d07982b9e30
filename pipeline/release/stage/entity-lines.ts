// Lines of entities with their scores, which two kinds of files are made from.
import { ENTITY_TYPES, type EntityType } from '../../../schemas/tables.ts'
import type { Listing } from '../../scoring/categories.ts'
import type { EntityScores } from '../../scoring/entity.ts'
import type { Methodology } from '../../scoring/methodology.ts'
import { type Boards, boardsOf } from '../../scoring/ranking.ts'
import { type RankedEntity, rankAmong } from '../payloads.ts'
import { type Fields, formatOf, jsonOf, wholeOf, wholeOrNull } from './lines.ts'
import { type FieldOfRelease, entityTypeOf } from './tally.ts'

const COLUMNS = [
  'unit',
  'entity',
  'entity_type',
  'entity_id',
  'names',
  'registered_ms',
  'retired_ms',
  'last_forecast_ms',
  'open_forecasts',
  'next_close_ms',
  'overdue_forecasts',
  'pairs',
  'scores',
  'listing',
] as const
export const ENTITY_LINES = formatOf('an entity', COLUMNS, { entity: 'number' })
const AT = ENTITY_LINES.at

/** Returns a function that ranks the entity of a line. */
export function rankedIn(methodology: Methodology, { voiceRule, tallies }: FieldOfRelease) {
  const boards = Object.fromEntries(
    ENTITY_TYPES.map((entityType) => [entityType, boardsOf(tallies[entityType])]),
  ) as Record<EntityType, Boards>
  return (fields: Fields): RankedEntity => {
    const text = (name: keyof typeof AT) => fields[AT[name]]!
    const entityType = entityTypeOf(text('entity_type'))
    const { name, model_type, organization_name, owner_id } = jsonOf(text('names')) as Record<
      string,
      string | undefined
    >
    return rankAmong(methodology, voiceRule, boards[entityType], {
      entityType,
      entityId: text('entity_id'),
      name: name ?? null,
      modelType: model_type ?? null,
      organizationName: organization_name ?? null,
      ownerId: owner_id ?? null,
      registeredAtMs: wholeOrNull(text('registered_ms')) ?? 0,
      retiredAtMs: wholeOrNull(text('retired_ms')),
      lastForecastAtMs: wholeOrNull(text('last_forecast_ms')),
      openForecasts: wholeOf(text('open_forecasts')),
      nextCloseAtMs: wholeOrNull(text('next_close_ms')),
      overdueForecasts: wholeOf(text('overdue_forecasts')),
      pairs: wholeOf(text('pairs')),
      scores: jsonOf(text('scores')) as EntityScores,
      listing: jsonOf(text('listing')) as Listing,
    })
  }
}
