// The order of entities on boards.
import type { EntityMetrics } from '../../schemas/metrics.ts'
import { MICRO, roundHalfEven } from '../scoring/round.ts'
import { padded } from '../store/paths.ts'

export const ENTRIES_PER_PAGE = 100

/** The path of a page of a board, by its number from 0. */
export function boardPagePath(folder: string, page: number): string {
  return `${folder}${padded(page, 6)}.json`
}

/** The place of an entity on the board of its kind. */
export interface BoardPlace {
  /** Null for an entity without a rank, like `pool`. */
  pool_size: number | null
  pool: string | null
  /** The skill in whole 1e-6 if the entity has a rank, otherwise its number of contested questions. */
  value: number
}

/**
 * Returns the keys of the order. The largest pool comes first, pools of one size by their names, and entities
 * without a rank last. Inside each the greater value comes first, then the lesser id: the ranks of a pool
 * follow its skills.
 */
export function boardPlace({
  rank,
  skill,
  contested_questions,
  pool,
  pool_size,
}: Pick<EntityMetrics, 'rank' | 'skill' | 'contested_questions' | 'pool' | 'pool_size'>): BoardPlace {
  if (rank === null) return { pool_size: null, pool: null, value: contested_questions }
  return { pool_size, pool, value: roundHalfEven(skill! * MICRO) }
}

/** Compares places; 0 if only the ids can order the two. */
export function inOrderOfPlaces(one: BoardPlace, other: BoardPlace): number {
  if (one.pool_size !== other.pool_size) return (other.pool_size ?? 0) - (one.pool_size ?? 0)
  if (one.pool !== other.pool) return one.pool! < other.pool! ? -1 : 1
  return other.value - one.value
}

/** The order of lines with places, for stages. */
export const BY_PLACE = {
  pool_size: 'descending',
  pool: 'text',
  value: 'descending',
  entity_id: 'text',
} as const
